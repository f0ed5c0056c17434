//! The answers that do not come from the body: the fallback's, or the rejection as an error.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};

use crate::args::Args;
use crate::function::Function;
use crate::param::{Param, Sharing};
use crate::private::Private;
use crate::span::{first_span, located, relocated};

pub(crate) struct Fallback<'a> {
    path: &'a TokenStream,
    /// Whether it also answers timeouts and recorded failures.
    pub(crate) on_failure: bool,
    receiver: Option<Param>,
    params: &'a [Param],
    is_async: bool,
    /// Whether the body takes its parameters before it is known whether it may run.
    early: bool,
}

impl<'a> Fallback<'a> {
    pub(crate) fn new(
        args: &'a Args,
        function: &Function,
        receiver: Option<Param>,
        params: &'a [Param],
    ) -> Option<Self> {
        Some(Self {
            path: &args.get("fallback")?.value.written,
            on_failure: args.choice("fallback_on") == Some("Failure"),
            receiver,
            params,
            is_async: function.is_async(),
            early: function.is_early(),
        })
    }

    /// Whether the body must only borrow what it is given, since the fallback may follow it.
    pub(crate) fn lends(&self) -> bool {
        self.on_failure && self.all().any(|param| param.sharing == Sharing::Lent)
    }

    /// Whether the fallback gets copies.
    fn keeps(&self) -> bool {
        self.on_failure || self.early
    }

    /// Copies, made before the body runs, of what it may consume.
    pub(crate) fn keep(&self, p: &Private) -> TokenStream {
        if !self.keeps() {
            return TokenStream::new();
        }
        let cloned = |(at, param): (usize, &Param)| {
            (param.sharing == Sharing::Cloned).then(|| {
                let place = first_span(&param.ty);
                let (p, name) = (p.at(place), relocated(&param.name, place));
                let keep = if self.early { "keep_early" } else { "keep" };
                let (kept, keep) = (kept(at), Ident::new(keep, located(place)));
                let argument = quote_spanned!(located(place)=> &#name);
                quote_spanned! {Span::mixed_site()=>
                    #[allow(clippy::used_underscore_binding)]
                    let #kept = #p::#keep(#argument);
                }
            })
        };
        self.all().enumerate().filter_map(cloned).collect()
    }

    /// Calls the fallback with the parameters and `reason`, and waits for it; not if it is early.
    pub(crate) fn call(
        &self,
        output: &TokenStream,
        reason: &TokenStream,
        p: &Private,
    ) -> TokenStream {
        let answer = self.answer(output, reason, p);
        if self.is_async && !self.early {
            quote_spanned!(Span::mixed_site()=> #answer.await)
        } else {
            answer
        }
    }

    /// The same without waiting.
    pub(crate) fn answer(
        &self,
        output: &TokenStream,
        reason: &TokenStream,
        p: &Private,
    ) -> TokenStream {
        let path = self.path;
        let offset = usize::from(self.receiver.is_some());
        let given = |(at, param): (usize, &Param)| match param.sharing {
            Sharing::Cloned if self.keeps() => kept(at).into_token_stream(),
            _ => param.name.clone(),
        };
        let params: Vec<_> = self
            .params
            .iter()
            .enumerate()
            .map(|(at, param)| given((at + offset, param)))
            .collect();
        let receiver = self.receiver.iter().map(|param| given((0, param)));
        // The whole call stands where the path is, since a misfit is reported at the call.
        let place = located(first_span(path));
        let p = p.at(first_span(path));
        let kind = match (&self.receiver, self.is_async) {
            (None, false) => "Fallback",
            (None, true) => "AsyncFallback",
            (Some(_), false) => "MethodFallback",
            (Some(_), true) => "AsyncMethodFallback",
        };
        let kind = Ident::new(kind, place);
        let receiver_type = self.receiver.iter().map(|_| quote!(_));
        let call = |arguments: &TokenStream| {
            quote_spanned! {place=>
                #p::#kind::<#(#receiver_type,)* _, _, #output, _>::answer(
                    #(#receiver,)* #arguments, #reason, #path
                )
            }
        };
        let mixed = Span::mixed_site();
        // Not where nothing needs it: each attribute is another thing to compile.
        if !params.iter().any(|name| name.to_string().starts_with('_')) {
            return call(&quote_spanned!(mixed=> (#(#params,)*)));
        }
        let call = call(&quote_spanned!(mixed=> arguments));
        quote_spanned! {mixed=> {
            #[allow(clippy::used_underscore_binding)]
            let arguments = (#(#params,)*);
            #call
        }}
    }

    fn all(&self) -> impl Iterator<Item = &Param> {
        self.receiver.iter().chain(self.params)
    }
}

fn kept(at: usize) -> Ident {
    format_ident!("__kept{at}", span = Span::mixed_site())
}
