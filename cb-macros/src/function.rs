//! What kind of function this is.

use proc_macro2::{Delimiter, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, GenericParam, ReturnType, Token, Type, Visibility};

use crate::future::Made;
use crate::input::Receiver;
use crate::signature::Signature;
use crate::span::first_span;
use crate::types::{error_type, peel};

/// A function as it was written. The body stays as it is: it may not even parse yet.
pub(crate) struct Function {
    /// Attributes, visibility and `default`.
    pub(crate) before: TokenStream,
    pub(crate) signature: Signature,
    /// `#[track_caller]`, if it is there.
    pub(crate) track_caller: Option<TokenStream>,
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
            .map(ToTokens::to_token_stream);
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
            .position(|input| input.attributes.iter().any(is_cfg))
    }
}

pub(crate) fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}
