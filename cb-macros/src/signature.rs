//! What kind of function this is.

use proc_macro2::{Delimiter, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, FnArg, GenericParam, Pat, Receiver, ReceiverKind, ReturnType, Signature, Token,
    Type, Visibility,
};

use crate::future::Made;
use crate::span::first_span;
use crate::types::{error_type, peel};

/// A function as it was written. The body stays as it is: it may not even parse yet.
pub(crate) struct Function {
    /// Attributes, visibility and `default`.
    pub(crate) before: TokenStream,
    pub(crate) signature: Signature,
    /// `#[track_caller]`, if it is there.
    pub(crate) track_caller: Option<Attribute>,
    /// `#![…]` at the start of the body, which must stay first.
    pub(crate) inner: TokenStream,
    pub(crate) body: TokenStream,
    pub(crate) braces: Span,
    /// The future that it returns, if it is not async itself.
    pub(crate) made: Option<Made>,
}

pub(crate) enum Item {
    Function(Box<Function>),
    /// A method without a body.
    Bodyless(Box<Signature>),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility: Visibility = input.parse()?;
        let default: Option<Token![default]> = input.parse()?;
        let signature: Signature = input.parse()?;
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            return Ok(Self::Bodyless(Box::new(signature)));
        }
        // Also sees through the invisible group around a `$body:block`.
        let (content, braces) = input.step(|cursor| match cursor.group(Delimiter::Brace) {
            Some((inside, span, rest)) => Ok(((inside.token_stream(), span.join()), rest)),
            None => Err(cursor.error("expected the function's body")),
        })?;
        let (inner, body) = split_inner(content);
        let track_caller = attributes
            .iter()
            .find(|attribute| attribute.path().is_ident("track_caller"))
            .cloned();
        let before = quote!(#(#attributes)* #visibility #default);
        let made = Made::of(&signature, &body);
        Ok(Self::Function(Box::new(Function {
            before,
            signature,
            track_caller,
            inner,
            body,
            braces,
            made,
        })))
    }
}

/// Parts the `#![…]` from what follows, which is not parsed.
fn split_inner(content: TokenStream) -> (TokenStream, TokenStream) {
    let split = |input: ParseStream<'_>| {
        let inner = input.call(Attribute::parse_inner)?;
        Ok((quote!(#(#inner)*), input.parse::<TokenStream>()?))
    };
    syn::parse::Parser::parse2(split, content.clone())
        .unwrap_or_else(|_| (TokenStream::new(), content))
}

impl Function {
    /// Whether its work is a future's.
    pub(crate) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some() || self.made.is_some()
    }

    /// Whether a future takes the parameters before it asks for permission. One whose body is a
    /// single `async` block can take them after that.
    pub(crate) fn is_early(&self) -> bool {
        self.made.as_ref().is_some_and(|made| !made.is_block())
    }

    pub(crate) fn receiver(&self) -> Option<&Receiver> {
        self.signature.receiver()
    }

    /// What the work ends with: the written return type, or that of the future.
    pub(crate) fn output(&self) -> Option<&Type> {
        if let Some(made) = &self.made {
            return Some(peel(&made.result));
        }
        match &self.signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(peel(ty)),
        }
    }

    /// Whether nothing, or `()`, is returned.
    pub(crate) fn returns_unit(&self) -> bool {
        match self.output() {
            None => true,
            Some(Type::Tuple(tuple)) => tuple.elems.is_empty(),
            Some(_) => false,
        }
    }

    /// Where messages about the return type point: at the error type, if one can be seen.
    pub(crate) fn output_span(&self) -> Span {
        let Some(ty) = self.output() else {
            return self.signature.ident.span();
        };
        first_span(&error_type(ty).unwrap_or(ty).to_token_stream())
    }

    /// Whether the function's own generics declare the type `name`.
    pub(crate) fn declares(&self, name: &syn::Ident) -> bool {
        self.signature
            .generics
            .params
            .iter()
            .any(|param| matches!(param, GenericParam::Type(param) if param.ident == *name))
    }

    /// The first parameter under a `#[cfg]`.
    pub(crate) fn conditional(&self) -> Option<usize> {
        self.signature
            .inputs
            .iter()
            .position(|input| attributes(input).iter().any(is_cfg))
    }
}

pub(crate) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

pub(crate) fn attributes(input: &FnArg) -> &[Attribute] {
    match input {
        FnArg::Receiver(receiver) => &receiver.attrs,
        FnArg::Typed(typed) => &typed.attrs,
    }
}

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
    let this = receiver.self_token;
    let (sharing, ty) = match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(_)) => (Sharing::Lent, this.to_token_stream()),
        ReceiverKind::Reference(..) => (Sharing::Copied, this.to_token_stream()),
        ReceiverKind::Typed(_, ty) => (sharing(ty), ty.to_token_stream()),
        _ => (Sharing::Cloned, this.to_token_stream()),
    };
    Param {
        name: this.to_token_stream(),
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
        let FnArg::Typed(typed) = input else { continue };
        let mut param = Param {
            name: TokenStream::new(),
            ty: typed.ty.to_token_stream(),
            sharing: sharing(&typed.ty),
            pattern: None,
        };
        let fresh = || syn::Ident::new(&format!("__parameter{at}"), Span::mixed_site());
        match &*typed.pat {
            Pat::Ident(pat)
                if pat.by_ref.is_none() && pat.subpat.is_none() && is_binding(&pat.ident) =>
            {
                param.name = pat.ident.to_token_stream();
                if pat.mutability.is_some() {
                    param.pattern = Some(pat.to_token_stream());
                    let plain = &pat.ident;
                    *typed.pat = Pat::Verbatim(quote!(#plain));
                }
            }
            Pat::Wild(_) if !all => continue,
            Pat::Wild(_) => {
                let name = fresh();
                param.name = quote!(#name);
                *typed.pat = Pat::Verbatim(quote!(#name));
            }
            pattern => {
                let name = fresh();
                param.name = quote!(#name);
                param.pattern = Some(pattern.to_token_stream());
                *typed.pat = Pat::Verbatim(quote!(#name));
            }
        }
        params.push(param);
    }
    params
}

/// `Unit` in a pattern is the unit struct, not a name.
fn is_binding(ident: &syn::Ident) -> bool {
    !ident.to_string().starts_with(char::is_uppercase)
}

fn sharing(ty: &Type) -> Sharing {
    match peel(ty) {
        Type::Reference(reference) if reference.mutability.is_some() => Sharing::Lent,
        Type::Reference(_) => Sharing::Copied,
        _ => Sharing::Cloned,
    }
}

/// Whether it is a `&mut` parameter.
pub(crate) fn is_lent(input: &FnArg) -> bool {
    let sharing = match input {
        FnArg::Receiver(input) => receiver(input).sharing,
        FnArg::Typed(typed) => sharing(&typed.ty),
    };
    sharing == Sharing::Lent
}
