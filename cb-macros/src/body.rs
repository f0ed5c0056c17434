//! The user's body, in place, so that `return` and `?` end the body and not the guard around it.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::function::Function;
use crate::param::{Param, Sharing};
use crate::private::Private;

/// A closure around the body. With `lends` it borrows what it uses, so that a fallback can have it
/// afterwards.
pub(crate) fn closure(
    function: &Function,
    params: &[Param],
    output: &TokenStream,
    lends: bool,
    p: &Private,
) -> TokenStream {
    let bindings = bindings(params, lends);
    let inside = if bindings.is_empty() {
        function.body.clone()
    } else {
        bound(
            &bindings,
            output,
            &block(&function.body, function.braces),
            p,
        )
    };
    let inside = braced(inside, function.braces);
    let capture = (!lends).then(|| quote!(move));
    quote_spanned!(Span::mixed_site()=> #capture || -> #output #inside)
}

/// An `async` block around `user`, the inside of braces at `braces`; `lends` as for a closure. `edge`
/// is an expression of its type.
pub(crate) fn future(
    user: &TokenStream,
    braces: Span,
    params: &[Param],
    output: &TokenStream,
    lends: bool,
    edge: &TokenStream,
    p: &Private,
) -> TokenStream {
    let mixed = Span::mixed_site();
    let bindings = bindings(params, lends);
    let block = block(user, braces);
    let inside = if bindings.is_empty() {
        quote!(#block)
    } else {
        bound(&bindings, output, &block, p)
    };
    // Never taken: tells the compiler the block's type before it reads the body. The body is a
    // block of its own, since items in it may have the names that the type uses.
    let whole = quote_spanned! {mixed=>
        if false {
            return #edge;
        }
        #inside
    };
    let whole = braced(whole, braces);
    let capture = (!lends).then(|| quote!(move));
    quote_spanned!(mixed=> async #capture #whole)
}

/// An expression of the type `output` that never runs.
pub(crate) fn never(output: &TokenStream, p: &Private) -> TokenStream {
    quote_spanned!(Span::mixed_site()=> #p::never::<#output>())
}

/// The braces keep the user's span: it says by which edition's rules temporaries are dropped. The
/// empty statement keeps them from being called unnecessary.
fn block(user: &TokenStream, braces: Span) -> Group {
    braced(quote_spanned!(Span::mixed_site()=> ; #user), braces)
}

pub(crate) fn braced(inside: TokenStream, span: Span) -> Group {
    let mut group = Group::new(Delimiter::Brace, inside);
    group.set_span(span);
    group
}

/// The result is bound first: before edition 2024 the temporaries of a tail expression outlive
/// the bindings. The body may never come to its end, so that what follows would be called
/// unreachable: hence the other branch, which is never taken.
fn bound(bindings: &TokenStream, output: &TokenStream, block: &Group, p: &Private) -> TokenStream {
    let never = never(output, p);
    quote_spanned! {Span::mixed_site()=>
        #bindings
        let output: #output = if true #block else { #never };
        output
    }
}

/// The parameters' patterns, bound within the body.
pub(crate) fn bindings(params: &[Param], lends: bool) -> TokenStream {
    params
        .iter()
        .filter_map(|param| binding(param, lends))
        .collect()
}

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
