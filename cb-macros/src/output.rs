//! Return types that a breaker cannot judge, as far as their tokens tell. The rest is left to the
//! runtime's traits, which see through aliases.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::{Type, TypeParamBound};

use crate::function::Function;
use crate::types::{argument, peel};

/// Whether `ty` is written as a future, or perhaps one: `impl Future`, `Box<dyn Future>`,
/// `Option<BoxFuture>`.
pub(crate) fn is_future(ty: &Type) -> bool {
    match peel(ty) {
        Type::ImplTrait(ty) => ty.bounds.iter().any(names_future),
        Type::TraitObject(ty) => ty.bounds.iter().any(names_future),
        Type::Path(ty) => {
            let Some(last) = ty.path.segments.last() else {
                return false;
            };
            match last.ident.to_string().as_str() {
                "BoxFuture" | "LocalBoxFuture" => true,
                "Pin" | "Box" | "Option" => argument(&ty.path).is_some_and(is_future),
                _ => false,
            }
        }
        _ => false,
    }
}

fn names_future(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Future"),
        _ => false,
    }
}

/// Whether the type may turn out to be a `Result` that nobody can see here: a type parameter, or
/// an associated type.
pub(crate) fn is_opaque(ty: &Type, function: &Function) -> bool {
    let Type::Path(ty) = peel(ty) else {
        return false;
    };
    if ty.qself.is_some() {
        return true;
    }
    let first = match ty.path.segments.first() {
        Some(first) if first.arguments.is_none() => &first.ident,
        _ => return false,
    };
    // The generics of an `impl` around the function cannot be seen: they are left to `concrete`.
    let parameter = function.declares(first);
    match ty.path.segments.len() {
        1 => parameter,
        _ => parameter || first == "Self",
    }
}

/// Whether it is named as a future by a trait, as `Self::Future` is in tower's `Service`.
pub(crate) fn is_associated_future(ty: &Type) -> bool {
    let Type::Path(ty) = peel(ty) else {
        return false;
    };
    let mut names = ty.path.segments.iter().map(|segment| &segment.ident);
    let first = ty.path.segments.first();
    let of_trait = ty.qself.is_some() || first.is_some_and(|first| first.ident == "Self");
    of_trait && names.next_back().is_some_and(|last| last == "Future")
}

/// An item that names `ty`, which an item cannot do with a type parameter of the `impl` around it.
/// None where the tokens show that it is none.
pub(crate) fn concrete(ty: &Type) -> Option<TokenStream> {
    let Type::Path(path) = peel(ty) else {
        return None;
    };
    let first = path.path.segments.first()?;
    let name = first.ident.to_string();
    let perhaps = path.qself.is_none()
        && path.path.leading_colon.is_none()
        && path.path.segments.last()?.arguments.is_none()
        && name.starts_with(char::is_uppercase)
        && !matches!(name.as_str(), "Self" | "String");
    // As a parameter its lifetimes may stay unwritten.
    perhaps.then(|| {
        quote_spanned! {Span::mixed_site()=>
            const _: ::core::option::Option<fn(#ty)> = ::core::option::Option::None;
        }
    })
}

/// Whether `tokens` has an `impl Trait` in it.
pub(crate) fn has_impl(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => has_impl(&group.stream()),
        _ => false,
    })
}

/// The type with every `impl Trait` in it left to inference: it can be named nowhere else.
pub(crate) fn without_impl(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut skipping = false;
    let (mut depth, mut previous) = (0_i32, ' ');
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        if skipping {
            let arrow = punct == '>' && (previous == '-' || previous == '=');
            previous = punct;
            match punct {
                '<' => depth += 1,
                '>' if depth > 0 && !arrow => depth -= 1,
                ',' | '>' if depth == 0 && !arrow => skipping = false,
                _ => {}
            }
            if skipping {
                continue;
            }
        }
        match token {
            TokenTree::Ident(ident) if ident == "impl" => {
                let infer = syn::Token![_](ident.span());
                quote::ToTokens::to_tokens(&infer, &mut out);
                (skipping, depth, previous) = (true, 0, ' ');
            }
            TokenTree::Group(group) => {
                let mut new =
                    proc_macro2::Group::new(group.delimiter(), without_impl(group.stream()));
                new.set_span(group.span());
                out.extend([TokenTree::Group(new)]);
            }
            token => out.extend([token]),
        }
    }
    out
}
