//! The parameters as the body and a fallback are given them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Type;

use crate::input::{Input, InputKind, Pattern, Receiver};
use crate::signature::Signature;
use crate::types::peel;

/// How the body and a fallback for failures can both have a parameter.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sharing {
    /// `&T` is `Copy`.
    Copied,
    /// `&mut T` is lent to the body and then to the fallback.
    Lent,
    /// Anything else is cloned.
    Cloned,
}

/// A parameter that the fallback is given.
pub(crate) struct Param {
    pub(crate) name: TokenStream,
    pub(crate) ty: TokenStream,
    pub(crate) sharing: Sharing,
    /// The pattern, to be bound within the body.
    pub(crate) pattern: Option<TokenStream>,
}

/// The receiver as a parameter.
pub(crate) fn receiver(receiver: &Receiver) -> Param {
    let this = receiver.this.to_token_stream();
    let (sharing, ty) = match &receiver.ty {
        Some((_, ty)) => (sharing(ty), ty.to_token_stream()),
        None if !receiver.is_reference() => (Sharing::Cloned, this.clone()),
        None if receiver.mutability.is_some() => (Sharing::Lent, this.clone()),
        None => (Sharing::Copied, this.clone()),
    };
    Param {
        name: this,
        ty,
        sharing,
        pattern: None,
    }
}

/// Gives every parameter a plain name and moves its pattern into the body. `_` is named only if
/// `all` are needed: otherwise it stays, to be dropped when the function returns.
pub(crate) fn name_params(signature: &mut Signature, all: bool) -> Vec<Param> {
    let mut params = Vec::new();
    for (at, input) in signature.inputs.iter_mut().enumerate() {
        let InputKind::Typed(typed) = &mut input.kind else {
            continue;
        };
        let fresh = || Ident::new(&format!("__parameter{at}"), Span::mixed_site());
        let (name, bound) = match typed.binds() {
            Pattern::Name { ident, mutable } => (ident, mutable),
            Pattern::Wild if !all => continue,
            Pattern::Wild => (fresh(), false),
            Pattern::Other => (fresh(), true),
        };
        let name = quote!(#name);
        let pattern = std::mem::replace(&mut typed.pattern, name.clone());
        params.push(Param {
            name,
            ty: typed.ty.to_token_stream(),
            sharing: sharing(&typed.ty),
            pattern: bound.then_some(pattern),
        });
    }
    params
}

fn sharing(ty: &Type) -> Sharing {
    match peel(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Sharing::Lent,
        Type::Reference(_) => Sharing::Copied,
        _ => Sharing::Cloned,
    }
}

/// Whether it is a `&mut` parameter.
pub(crate) fn is_lent(input: &Input) -> bool {
    let sharing = match &input.kind {
        InputKind::Receiver(input) => receiver(input).sharing,
        InputKind::Typed(typed) => sharing(&typed.ty),
    };
    sharing == Sharing::Lent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_how_a_receiver_is_shared() {
        for (given, expected) in [
            ("self", Sharing::Cloned),
            ("mut self", Sharing::Cloned),
            ("&self", Sharing::Copied),
            ("&'a self", Sharing::Copied),
            ("&mut self", Sharing::Lent),
            ("&'a mut self", Sharing::Lent),
            ("self: &Self", Sharing::Copied),
            ("self: &mut Self", Sharing::Lent),
            ("mut self: &Self", Sharing::Copied),
            ("mut self: Box<Self>", Sharing::Cloned),
            ("self: Pin<&mut Self>", Sharing::Cloned),
        ] {
            let signature: Signature = syn::parse_str(&format!("fn f({given})")).unwrap();
            let shared = receiver(signature.receiver().unwrap()).sharing;
            assert!(shared == expected, "{given}");
        }
    }

    #[test]
    fn moves_patterns_into_the_body() {
        let named = |all| {
            let head = "fn f(&self, a: u8, mut b: u8, (c, d): E, _: u8, Unit: Unit)";
            let mut signature: Signature = syn::parse_str(head).unwrap();
            let params = name_params(&mut signature, all);
            let moved = params.iter().map(|param| match &param.pattern {
                Some(pattern) => format!("{} = {pattern}", param.name),
                None => param.name.to_string(),
            });
            let inputs = signature.inputs.to_token_stream().to_string();
            (inputs, moved.collect::<Vec<_>>())
        };
        let (inputs, mut moved) = named(true);
        let expected =
            "& self , a : u8 , b : u8 , __parameter3 : E , __parameter4 : u8 , __parameter5 : Unit";
        assert_eq!(inputs, expected);
        let expected = [
            "a",
            "b = mut b",
            "__parameter3 = (c , d)",
            "__parameter4",
            "__parameter5 = Unit",
        ];
        assert_eq!(moved, expected);
        let (inputs, rest) = named(false);
        assert!(inputs.contains("_ : u8"), "{inputs}");
        moved.remove(3);
        assert_eq!(rest, moved);
    }
}
