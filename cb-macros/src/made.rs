//! The guard around a future that the function makes and returns.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ReturnType;

use crate::body;
use crate::call::{Call, reason};
use crate::function::Function;
use crate::future::{Made, Work};
use crate::output::without_impl;
use crate::param::Param;
use crate::private::Private;
use crate::span::{first_span, located};

/// Makes the body's future, when and as the function did.
pub(crate) fn body(
    function: &Function,
    made: &Made,
    params: &[Param],
    output: &TokenStream,
    p: &Private,
) -> TokenStream {
    let before = &made.tail.before;
    let future = match &made.tail.work {
        Work::Block(group) => {
            let edge = body::never(output, p);
            body::future(&group.stream(), group.span(), &[], output, false, &edge, p)
        }
        Work::Pinned(inside) => inside.clone(),
        Work::Whole => {
            let returned = match &function.signature.output {
                ReturnType::Type(_, ty) => without_impl(quote!(#ty)),
                ReturnType::Default => quote!(()),
            };
            let closure = body::closure(function, params, &returned, false, p);
            return quote_spanned!(Span::mixed_site()=> #p::call_once(#closure));
        }
    };
    let bindings = body::bindings(params, false);
    if made.is_block() && bindings.is_empty() {
        return future;
    }
    let inside = body::braced(quote!(#bindings #before #future), function.braces);
    quote_spanned!(Span::mixed_site()=> #p::call_once(move || #inside))
}

impl Call<'_> {
    /// Puts the guard around `future`, an expression.
    pub(crate) fn made(&self, future: &TokenStream, site: &TokenStream) -> TokenStream {
        let (p, output) = (self.p, self.output);
        let mixed = Span::mixed_site();
        let rejected = quote_spanned!(mixed=> rejection);
        let late = quote_spanned!(mixed=> timeout);
        let judgement = self.judgement();
        let (limit, feature, timed_out) = match self.timeout() {
            None => (
                quote!(#p::Unlimited),
                None,
                quote_spanned!(mixed=> match timeout {}),
            ),
            Some(timeout) => (
                quote!(::core::option::Option::None::<#p::Sleep>),
                Some(self.needs_timer(timeout)),
                self.otherwise(&late, "timed_out", "timed_out_because"),
            ),
        };
        let answer = match &self.fallback {
            Some(_) => quote!(_),
            None => quote!(#p::Never<#output>),
        };
        let end = match &self.fallback {
            Some(fallback) if fallback.on_failure => {
                let rejected = self.otherwise(&rejected, "rejected", "rejected_because");
                let (reason, call) = (reason(), fallback.call(output, &reason(), p));
                let done = self.done(&quote_spanned!(mixed=> outcome));
                quote_spanned! {mixed=>
                    let #reason = match ended {
                        #p::Ended::Rejected(rejection) => #rejected,
                        #p::Ended::TimedOut(timeout) => #timed_out,
                        #p::Ended::Returned(mut guard, value) => {
                            let outcome = #judgement;
                            let value = #done;
                            match outcome {
                                #p::Outcome::Failure => #p::Reply::<#output>::new().failed(value),
                                _ => return #p::Step::Done(value),
                            }
                        }
                    };
                    #p::Step::Answer(#call)
                }
            }
            fallback => {
                let rejected = match fallback {
                    Some(fallback) => {
                        let (reason, call) = (reason(), fallback.call(output, &reason(), p));
                        quote_spanned!(mixed=> { let #reason = rejection; #p::Step::Answer(#call) })
                    }
                    None => {
                        let reply = self.otherwise(&rejected, "rejected", "rejected_because");
                        quote!(#p::Step::Done(#reply))
                    }
                };
                let timed_out = match self.timeout() {
                    Some(_) => quote!(#p::Step::Done(#timed_out)),
                    None => timed_out,
                };
                let done = self.done(&judgement);
                quote_spanned! {mixed=>
                    match ended {
                        #p::Ended::Rejected(rejection) => #rejected,
                        #p::Ended::TimedOut(timeout) => #timed_out,
                        #p::Ended::Returned(mut guard, value) => #p::Step::Done(#done),
                    }
                }
            }
        };
        // By the time permission is asked the body has the parameters.
        let (key, enter) = match self.args.get("key").map(|arg| &arg.value.written) {
            Some(key) => {
                let place = located(first_span(key));
                let (p, of) = (p.at(place), Ident::new("key_of", place));
                let key = Group::new(Delimiter::Parenthesis, key.clone());
                (
                    Some(quote_spanned!(place=> let key = #p::#of(&#key);)),
                    quote_spanned!(mixed=> move || { let site = #site; site.enter_key_async(&key) }),
                )
            }
            None => (
                None,
                quote_spanned!(mixed=> || { let site = #site; site.enter_async() }),
            ),
        };
        quote_spanned! {mixed=> {
            #feature
            #key
            #p::guarded::<#output, _, _, _, _, _>(
                #future,
                #limit,
                #enter,
                move |ended| -> #p::Step<#output, #answer> { #end },
            )
        }}
    }
}

/// Boxes `future` if the function returns it boxed.
pub(crate) fn wrapped(made: &Made, future: &TokenStream) -> TokenStream {
    if made.boxed {
        quote_spanned!(Span::mixed_site()=> ::std::boxed::Box::pin(#future))
    } else {
        future.clone()
    }
}
