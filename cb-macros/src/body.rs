//! The user's body, in place, so that `return` and `?` end the body and not the guard around it.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::signature::{Function, Param, Sharing};

/// A closure, or for an async function an `async` block. With `lends` it borrows what it uses, so
/// that a fallback can have it afterwards.
pub(crate) fn body(
    function: &Function,
    params: &[Param],
    output: &TokenStream,
    lends: bool,
) -> TokenStream {
    let mixed = Span::mixed_site();
    let bindings: TokenStream = params
        .iter()
        .filter_map(|param| binding(param, lends))
        .collect();
    let user = &function.body;
    // The braces keep the user's span: it says by which edition's rules temporaries are dropped.
    // The empty statement keeps them from being called unnecessary.
    let mut block = Group::new(Delimiter::Brace, quote_spanned!(mixed=> ; #user));
    block.set_span(function.braces);
    let capture = (!lends).then(|| quote!(move));

    if !function.is_async() {
        let inside = if bindings.is_empty() {
            user.clone()
        } else {
            bound(&bindings, output, &block)
        };
        let mut closure = Group::new(Delimiter::Brace, inside);
        closure.set_span(function.braces);
        return quote_spanned!(mixed=> #capture || -> #output #closure);
    }

    let inside = if bindings.is_empty() {
        quote!(#block)
    } else {
        bound(&bindings, output, &block)
    };
    // Never taken: tells the compiler the block's type before it reads the body. The body is a
    // block of its own, since items in it may have the names that the type uses.
    let mut whole = Group::new(
        Delimiter::Brace,
        quote_spanned! {mixed=>
            if let ::core::option::Option::Some(output) = ::core::option::Option::None::<#output> {
                return output;
            }
            #inside
        },
    );
    whole.set_span(function.braces);
    quote_spanned!(mixed=> async #capture #whole)
}

/// The result is bound first: before edition 2024 the temporaries of a tail expression outlive
/// the bindings.
fn bound(bindings: &TokenStream, output: &TokenStream, block: &Group) -> TokenStream {
    quote_spanned! {Span::mixed_site()=>
        #bindings
        let output: #output = #block;
        // The body may never come to its end.
        #[allow(unreachable_code)]
        return output;
    }
}

/// A parameter's pattern, bound within the body.
fn binding(param: &Param, lends: bool) -> Option<TokenStream> {
    let (pattern, name) = (param.pattern.as_ref()?, &param.name);
    let value = if lends && param.sharing == Sharing::Lent {
        quote_spanned!(Span::mixed_site()=> &mut *#name)
    } else {
        quote_spanned!(Span::mixed_site()=> { #name })
    };
    Some(quote_spanned! {Span::mixed_site()=>
        #[allow(clippy::shadow_same, clippy::toplevel_ref_arg, clippy::used_underscore_binding)]
        let #pattern = #value;
    })
}
