//! One call: permission, the body, the judgement of what it returned, the answer.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::args::{Arg, Args};
use crate::body;
use crate::classify;
use crate::fallback::Fallback;
use crate::private::Private;
use crate::span::{first_span, located};
use crate::value::What;

pub(crate) struct Call<'a> {
    pub(crate) args: &'a Args,
    pub(crate) p: &'a Private,
    pub(crate) output: &'a TokenStream,
    /// Where messages about the return type point.
    pub(crate) output_span: Span,
    /// The error type, if it can be seen.
    pub(crate) error: Option<&'a TokenStream>,
    /// Whether the return type has an `impl Trait` in it, and so is not known in full.
    pub(crate) has_impl: bool,
    pub(crate) fallback: Option<Fallback<'a>>,
}

/// Arguments that have a say in what becomes of a call, besides those of the breaker.
const SAYS: &[&str] = &[
    "key",
    "ignore",
    "record",
    "ignore_if",
    "failure_if",
    "retry_after",
    "fallback",
];

impl Call<'_> {
    /// Whether the runtime makes the whole call: there is nothing in it that only the user's code
    /// can say.
    fn is_simple(&self) -> bool {
        !self.has_impl
            && self.timeout().is_none()
            && !SAYS.iter().any(|name| self.args.get(name).is_some())
    }

    /// What is made of the return type by a simple call; its errors are about the return type.
    fn returns(&self, method: &str) -> TokenStream {
        let (p, output) = (self.p.at(self.output_span), self.output);
        let place = located(self.output_span);
        let method = Ident::new(method, place);
        quote_spanned!(place=> #p::Returns::<#output>::NEW.#method)
    }

    /// An expression that never runs, of the type that the body of an async call ends with.
    pub(crate) fn edge(&self) -> TokenStream {
        if self.is_simple() {
            let never = self.returns("never");
            let place = located(self.output_span);
            return quote_spanned!(place=> #never());
        }
        body::never(self.output, self.p)
    }

    pub(crate) fn sync(&self, body: &TokenStream) -> TokenStream {
        if self.is_simple() {
            let call = self.returns("call");
            let place = located(self.output_span);
            return quote_spanned!(place=> #call(site, #body));
        }
        let enter = self.enter("enter");
        let p = self.p;
        let value = quote_spanned!(Span::mixed_site()=> let value = #p::call_once(#body););
        self.around(&quote!(#enter #value), false)
    }

    pub(crate) fn asynchronous(&self, body: &TokenStream) -> TokenStream {
        let p = self.p;
        let mixed = Span::mixed_site();
        if self.is_simple() {
            // Where `edge` stands, so that what is wrong with the return type is reported once.
            let (p, place) = (p.at(self.output_span), located(self.output_span));
            return quote_spanned! {place=>
                #p::Simple { site, body: #body, guard: ::core::option::Option::None }.await
            };
        }
        if let (Some(fallback), None) = (&self.fallback, self.timeout()) {
            if !fallback.on_failure {
                return self.asynchronous_or(fallback, body);
            }
        }
        let enter = self.enter("enter_async");
        let Some(timeout) = self.timeout() else {
            let run = quote_spanned! {mixed=>
                #enter
                let value = #p::Run { guard: &mut guard, body: #body }.await;
            };
            return self.around(&run, true);
        };
        let timed_out = self.refuse(
            &quote_spanned!(mixed=> timeout),
            "timed_out",
            "timed_out_because",
        );
        let feature = self.needs_timer(timeout);
        let run = quote_spanned! {mixed=>
            #feature
            #enter
            // With the statement the body is dropped, before the guard records the timeout.
            let ended = #p::run_timed(&mut guard, #body).await;
            let value = match ended {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => {
                    let timeout = guard.timed_out();
                    #timed_out
                }
            };
        };
        self.around(&run, true)
    }

    /// The body, or the answer of a fallback for rejections.
    fn asynchronous_or(&self, fallback: &Fallback<'_>, body: &TokenStream) -> TokenStream {
        let p = self.p;
        let mixed = Span::mixed_site();
        let (keyed, entered) = self.entered("enter_async");
        let rejection = quote_spanned!(mixed=> rejection);
        let answer = fallback.answer(self.output, &rejection, p);
        let done = self.done(&self.judgement());
        quote_spanned! {mixed=>
            #keyed
            let mut attempted = ::core::option::Option::None;
            let attempt = match #entered {
                ::core::result::Result::Ok(guard) => #p::attempt(&mut attempted, guard, #body),
                ::core::result::Result::Err(rejection) => #p::Attempt::Answer { answer: #answer },
            };
            let value = attempt.await;
            match &mut attempted {
                ::core::option::Option::Some(guard) => #done,
                ::core::option::Option::None => value,
            }
        }
    }

    /// Has the compiler see that there is a timer; reported at the argument.
    pub(crate) fn needs_timer(&self, timeout: &Arg) -> TokenStream {
        let place = timeout.value.span();
        let p = self.p.at(place);
        let timer = quote_spanned!(located(place)=> timer());
        quote!(const _: () = #p::#timer;)
    }

    /// The argument that gives some of the calls a timeout.
    pub(crate) fn timeout(&self) -> Option<&Arg> {
        let given = |name| {
            let arg = self.args.get(name);
            arg.filter(|arg| !matches!(arg.value.what, What::Off))
        };
        given("timeout").or_else(|| given("half_open_timeout"))
    }

    /// Tells the guard how the call ended, and gives back `value`, which it returned.
    pub(crate) fn done(&self, outcome: &TokenStream) -> TokenStream {
        let mixed = Span::mixed_site();
        let Some(wait) = self.args.get("retry_after").map(|arg| &arg.value.written) else {
            return quote_spanned!(mixed=> guard.done(#outcome, value));
        };
        let place = first_span(wait);
        let (p, ask) = (self.p.at(place), Ident::new("ask", located(place)));
        let asked = quote_spanned!(located(place)=> #p::#ask(&value, #wait));
        // Asked only of the outcome that opened the breaker.
        quote_spanned! {mixed=> {
            if let ::core::option::Option::Some(opened) = guard.finish_and_tell(#outcome) {
                opened.wait_for(#asked);
            }
            value
        }}
    }

    fn enter(&self, method: &str) -> TokenStream {
        let rejected = match &self.fallback {
            Some(fallback) if !fallback.on_failure && method == "enter_async" => {
                quote_spanned!(Span::mixed_site()=> break 'attempt rejection)
            }
            Some(fallback) if !fallback.on_failure => {
                let rejection = quote_spanned!(Span::mixed_site()=> rejection);
                let answer = fallback.call(self.output, &rejection, self.p);
                quote_spanned!(Span::mixed_site()=> return #answer)
            }
            _ => self.refuse(
                &quote_spanned!(Span::mixed_site()=> rejection),
                "rejected",
                "rejected_because",
            ),
        };
        let mixed = Span::mixed_site();
        let (keyed, entered) = self.entered(method);
        quote_spanned! {mixed=>
            #keyed
            let mut guard = match #entered {
                ::core::result::Result::Ok(guard) => guard,
                ::core::result::Result::Err(rejection) => #rejected
            };
        }
    }

    /// Asks for permission: a statement that has to come before, and the expression.
    fn entered(&self, method: &str) -> (Option<TokenStream>, TokenStream) {
        let mixed = Span::mixed_site();
        let Some(key) = self.args.get("key").map(|arg| &arg.value.written) else {
            let method = Ident::new(method, mixed);
            return (None, quote_spanned!(mixed=> site.#method()));
        };
        // All of it stands at the key, which the message is about if it is not text.
        let place = located(first_span(key));
        let method = Ident::new(&method.replace("enter", "enter_key"), place);
        // A statement of its own: what the key's expression holds on to is let go before the
        // fallback runs.
        let mut key = Group::new(Delimiter::Parenthesis, key.clone());
        key.set_span(place);
        let keyed = quote_spanned!(place=> let entered = site.#method(&#key););
        (Some(keyed), quote_spanned!(place=> entered))
    }

    /// Ends the attempt with `what`, as an error or as the reason for a failure fallback.
    fn refuse(&self, what: &TokenStream, as_error: &str, as_reason: &str) -> TokenStream {
        let mixed = Span::mixed_site();
        let answer = self.otherwise(what, as_error, as_reason);
        match self.fallback_on_failure() {
            Some(_) => quote_spanned!(mixed=> break 'attempt #answer),
            None => quote_spanned!(mixed=> return #answer),
        }
    }

    /// `what` as the reason for a failure fallback, or else as an error.
    pub(crate) fn otherwise(
        &self,
        what: &TokenStream,
        as_error: &str,
        as_reason: &str,
    ) -> TokenStream {
        let (p, output) = (self.p, self.output);
        let mixed = Span::mixed_site();
        if self.fallback_on_failure().is_some() {
            let (reply, method) = (self.reply(), Ident::new(as_reason, mixed));
            return quote_spanned!(mixed=> #reply.#method(#what));
        }
        // All of it stands at the type that the message is about.
        let place = located(self.output_span);
        let (p, method) = (p.at(self.output_span), Ident::new(as_error, place));
        quote_spanned!(place=> #p::Reply::<#output>::new().#method(#what))
    }

    /// What can be said instead of the body.
    fn reply(&self) -> TokenStream {
        let (p, output) = (self.p, self.output);
        // `impl Trait`, which is no `Result` and cannot be named.
        if output.to_string() == "_" {
            return quote_spanned!(Span::mixed_site()=> #p::PlainReply::<()>::new());
        }
        quote_spanned!(Span::mixed_site()=> #p::Reply::<#output>::new())
    }

    fn fallback_on_failure(&self) -> Option<&Fallback<'_>> {
        self.fallback
            .as_ref()
            .filter(|fallback| fallback.on_failure)
    }

    /// Puts the judgement behind `run`, which leaves `guard` and `value`.
    fn around(&self, run: &TokenStream, asynchronous: bool) -> TokenStream {
        let (p, output) = (self.p, self.output);
        let mixed = Span::mixed_site();
        let judgement = self.judgement();
        let Some(fallback) = self.fallback_on_failure() else {
            let done = self.done(&judgement);
            let Some(fallback) = self.fallback.as_ref().filter(|_| asynchronous) else {
                return quote_spanned! {mixed=>
                    #run
                    #done
                };
            };
            // The fallback waits outside of the block, so that its future takes the place of the
            // attempt and not one beside it.
            let rejection = quote_spanned!(mixed=> rejection);
            let answer = fallback.call(output, &rejection, p);
            return quote_spanned! {mixed=>
                let rejection = 'attempt: {
                    #run
                    return #done;
                };
                #answer
            };
        };
        let answer = fallback.call(self.output, &reason(), p);
        let (reply, reason) = (self.reply(), reason());
        let done = self.done(&quote_spanned!(mixed=> outcome));
        quote_spanned! {mixed=>
            let #reason = 'attempt: {
                #run
                let outcome = #judgement;
                let value = #done;
                match outcome {
                    #p::Outcome::Failure => #reply.failed(value),
                    _ => return value,
                }
            };
            #answer
        }
    }

    /// The outcome that `value` stands for.
    pub(crate) fn judgement(&self) -> TokenStream {
        let p = self.p;
        let mixed = Span::mixed_site();
        let (ignore, record) = (self.args.classes("ignore"), self.args.classes("record"));
        let predicate = |name| self.args.get(name).map(|arg| &arg.value.written);
        let predicates = [
            (predicate("ignore_if"), "Ignored"),
            (predicate("failure_if"), "Failure"),
        ];
        let first = self.args.get("ignore").or_else(|| self.args.get("record"));
        let judges_values = predicates.iter().any(|(predicate, _)| predicate.is_some());
        if first.is_none() && !judges_values {
            let outcome = Ident::new("outcome", located(self.output_span));
            return quote_spanned!(mixed=> #p::Returned::new(&value).#outcome());
        }
        let errors = first.map(|first| {
            // Exists only where there is an error; else the message is about this argument.
            let method = Ident::new("errors", located(first.ident.span()));
            let arms =
                |classes, outcome: &TokenStream| classify::arms(classes, self.error, outcome);
            if let (Some(ignored), Some(recorded)) = (
                arms(ignore, &quote!(#p::Outcome::Ignored)),
                arms(record, &quote!(#p::Outcome::Failure)),
            ) {
                let rest = Ident::new(
                    if record.is_empty() {
                        "Failure"
                    } else {
                        "Success"
                    },
                    mixed,
                );
                return quote_spanned! {mixed=>
                    match #p::Returned::new(&value).#method().0 {
                        ::core::option::Option::None => #p::Outcome::Success,
                        #ignored
                        #recorded
                        ::core::option::Option::Some(_) => #p::Outcome::#rest,
                    }
                };
            }
            let ignored = classify::each(ignore, &quote!(#p::Outcome::Ignored));
            let recorded = classify::each(record, &quote!(#p::Outcome::Failure));
            let rest = if record.is_empty() {
                quote_spanned!(mixed=> errors.rest())
            } else {
                quote!(#p::Outcome::Success)
            };
            quote_spanned! {mixed=> 'judged: {
                let errors = #p::Returned::new(&value).#method();
                #ignored
                #recorded
                #rest
            }}
        });
        if let Some(errors) = errors.as_ref().filter(|_| !judges_values) {
            return errors.clone();
        }
        let mut judged_value = quote!(#p::Outcome::Success);
        for (predicate, outcome) in predicates.into_iter().rev() {
            let Some(predicate) = predicate else { continue };
            let place = located(first_span(predicate));
            let (holds, outcome) = (Ident::new("holds", place), Ident::new(outcome, mixed));
            judged_value = quote_spanned! {mixed=>
                if #p::#holds(returned, #predicate) { #p::Outcome::#outcome } else { #judged_value }
            };
        }
        let judged_error = errors.unwrap_or_else(|| quote!(#p::Outcome::Failure));
        let parts = Ident::new("parts", located(self.output_span));
        quote_spanned! {mixed=>
            match #p::Returned::new(&value).#parts() {
                ::core::result::Result::Ok(returned) => #judged_value,
                ::core::result::Result::Err(_) => #judged_error,
            }
        }
    }
}

pub(crate) fn reason() -> TokenStream {
    quote_spanned!(Span::mixed_site()=> reason)
}
