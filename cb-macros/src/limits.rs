//! Has the compiler check values by the runtime's own rules, at the place where they are written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::args::{Arg, Args};
use crate::keys::Kind;
use crate::private::Private;
use crate::span::located;
use crate::value::What;

pub(crate) struct Limits<'a> {
    args: &'a Args,
    p: &'a Private,
    out: TokenStream,
}

impl<'a> Limits<'a> {
    /// Items that fail to compile where a value is out of range or contradicts another one.
    pub(crate) fn of(args: &'a Args, p: &'a Private) -> TokenStream {
        let mut limits = Self {
            args,
            p,
            out: TokenStream::new(),
        };
        limits.ranges();
        limits.contradictions();
        limits.out
    }

    /// Every number and every time has a check by its own name.
    fn ranges(&mut self) {
        for arg in self.args.iter() {
            let ranged = matches!(
                arg.key.kind,
                Kind::Count | Kind::Percent | Kind::Factor | Kind::Duration | Kind::Window
            );
            if let Some((arg, value)) = self.value(arg.key.name).filter(|_| ranged) {
                self.require(arg, arg.key.name, &value);
            }
        }
    }

    fn contradictions(&mut self) {
        let window = self.value("window");
        if let Some((window, value)) = &window {
            if let Some((buckets, count)) = self.value("buckets") {
                if !matches!(window.value.what, What::Time(_)) {
                    self.require(buckets, "buckets_need_time", value);
                }
                if !matches!(window.value.what, What::Count(_)) {
                    self.in_window(
                        buckets,
                        value,
                        "Time",
                        "bucket_length",
                        |time| quote!(#time, #count),
                    );
                }
            }
            for (name, check) in [
                ("min_calls", "min_calls_in_window"),
                ("failure_count", "failure_count_in_window"),
            ] {
                let time = matches!(window.value.what, What::Time(_));
                if let Some((arg, count)) = self.value(name).filter(|_| !time) {
                    self.in_window(arg, value, "Calls", check, |calls| quote!(#count, #calls));
                }
            }
        }
        self.pair("slow", "timeout", "slow_below_timeout");
        self.pair("timeout", "half_open_max_wait", "timeout_below_max_wait");
        self.half_open();
        if let Some((max, limit)) = self.value("wait_max") {
            match self.value("wait") {
                Some((_, wait)) => self.require(max, "wait_within_max", &quote!(#wait, #limit)),
                None if self.lacks("wait") => self.require(max, "wait_default_within_max", &limit),
                None => {}
            }
        }
        let none = quote!(::core::option::Option::None);
        self.pair(
            "half_open_slow",
            "half_open_timeout",
            "half_open_slow_below_timeout",
        );
        self.pair(
            "half_open_timeout",
            "timeout",
            "half_open_timeout_within_timeout",
        );
        if self.lacks("slow") {
            if let Some((running, value)) = self.value("count_running") {
                let p = self.located(running);
                let check = self.call(running, "count_running_needs_slow", &none);
                self.out
                    .extend(quote!(const _: () = if #value { #p::require(#check) };));
            }
            if let Some((rate, _)) = self.value("slow_rate") {
                self.require(rate, "slow_rate_needs_slow", &none);
            }
        }
        if self.lacks("wait_max") {
            if let Some((multiplier, value)) = self.value("wait_multiplier") {
                let p = self.located(multiplier);
                let check = self.call(multiplier, "wait_multiplier_needs_max", &none);
                self.out
                    .extend(quote!(const _: () = if #value > 1.0 { #p::require(#check) };));
            }
            if let Some((stays, _)) = self.value("half_open_attempts") {
                self.require(stays, "half_open_attempts_needs_max", &none);
            }
            if let Some((by_rate, value)) = self.value("wait_by_failure_rate") {
                let p = self.located(by_rate);
                let check = self.call(by_rate, "wait_by_failure_rate_needs_max", &none);
                self.out
                    .extend(quote!(const _: () = if #value { #p::require(#check) };));
            }
        }
    }

    fn half_open(&mut self) {
        self.below_max_wait("half_open_delay");
        self.below_max_wait("half_open_timeout");
        self.pair("half_open_slow", "slow", "half_open_slow_within_slow");
        let p = self.p;
        let calls = match self.value("half_open_calls") {
            Some((_, calls)) => Some(calls),
            None => {
                (!self.args.mentions("base")).then(|| quote!(#p::check::DEFAULT_HALF_OPEN_CALLS))
            }
        };
        for name in [
            "half_open_concurrency",
            "half_open_successes",
            "half_open_failures",
        ] {
            if let (Some((arg, probes)), Some(calls)) = (self.value(name), &calls) {
                self.require(arg, &format!("{name}_in_calls"), &quote!(#probes, #calls));
            }
        }
        let none = quote!(::core::option::Option::None);
        let some = |value: Option<(&Arg, TokenStream)>| match value {
            Some((_, value)) => quote!(::core::option::Option::Some(#value)),
            None => none.clone(),
        };
        let successes = some(self.value("half_open_successes"));
        let success_rate = some(self.value("half_open_success_rate"));
        let failures = some(self.value("half_open_failures"));
        if let Some((rate, _)) = self.value("half_open_success_rate") {
            self.require(rate, "half_open_success_rate_alone", &successes);
        }
        if let Some((rate, _)) = self.value("half_open_failure_rate") {
            let others = quote!(#failures, #success_rate);
            self.require(rate, "half_open_failure_rate_alone", &others);
        }
        if self.lacks("half_open_failures") {
            if let Some((window, _)) = self.value("half_open_failure_window") {
                self.require(window, "half_open_failure_window_needs_failures", &none);
            }
        }
        if self.lacks("slow") {
            if let Some((limit, _)) = self.value("half_open_slow") {
                self.require(limit, "half_open_slow_needs_slow", &none);
            }
        }
    }

    /// Whether nothing gives `name` a value: neither the attribute nor, perhaps, a template.
    fn lacks(&self, name: &str) -> bool {
        match self.args.get(name) {
            Some(arg) => matches!(arg.value.what, What::Off),
            None => !self.args.mentions(name) && !self.args.mentions("base"),
        }
    }

    /// `first` must be below `second`; reported at `first`.
    fn pair(&mut self, first: &str, second: &str, check: &str) {
        if let (Some((arg, a)), Some((_, b))) = (self.value(first), self.value(second)) {
            self.require(arg, check, &quote!(#a, #b));
        }
    }

    /// `name` must be below the longest stay in HALF_OPEN, or below its default.
    fn below_max_wait(&mut self, name: &str) {
        let check = format!("{name}_below_max_wait");
        if !self.lacks("half_open_max_wait") {
            return self.pair(name, "half_open_max_wait", &check);
        }
        let Some((arg, value)) = self.value(name) else {
            return;
        };
        if self.args.mentions("half_open_max_wait") {
            return; // off
        }
        let p = self.p;
        let timeout = match self.value("timeout") {
            Some((_, timeout)) => quote!(::core::option::Option::Some(#timeout)),
            None => quote!(::core::option::Option::None),
        };
        let default = quote!(#p::check::default_half_open_max_wait(#timeout));
        self.require(arg, &check, &quote!(#value, #default));
    }

    /// A check that applies to one kind of window.
    fn in_window(
        &mut self,
        arg: &Arg,
        window: &TokenStream,
        kind: &str,
        check: &str,
        arguments: impl FnOnce(TokenStream) -> TokenStream,
    ) {
        let (p, located) = (self.p, self.located(arg));
        let kind = Ident::new(kind, Span::mixed_site());
        let check = self.call(arg, check, &arguments(quote!(window)));
        self.out.extend(quote! {
            const _: () = if let #p::Window::#kind(window) = #window { #located::require(#check) };
        });
    }

    fn require(&mut self, arg: &Arg, check: &str, arguments: &TokenStream) {
        let p = self.located(arg);
        let check = self.call(arg, check, arguments);
        let require = quote_spanned!(span(arg)=> require(#check));
        self.out.extend(quote!(const _: () = #p::#require;));
    }

    fn call(&self, arg: &Arg, check: &str, arguments: &TokenStream) -> TokenStream {
        let p = self.located(arg);
        let check = Ident::new(check, span(arg));
        quote_spanned!(span(arg)=> #p::check::#check(#arguments))
    }

    /// The runtime's path, reported at the value's place.
    fn located(&self, arg: &Arg) -> Private {
        self.p.at(arg.value.span())
    }

    fn value(&self, name: &str) -> Option<(&'a Arg, TokenStream)> {
        let arg = self.args.get(name)?;
        let given = !matches!(arg.value.what, What::Off);
        given.then(|| (arg, arg.value.expr(arg.key.kind, self.p)))
    }
}

fn span(arg: &Arg) -> Span {
    located(arg.value.span())
}
