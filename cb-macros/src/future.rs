//! Functions that are not async but return a future: what the future is, and where the body makes
//! it.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{GenericArgument, Path, PathArguments, ReturnType, Token, Type, TypeParamBound};

use crate::signature::Signature;
use crate::span::first_span;
use crate::types::{argument, peel};

/// A future that a function makes and returns.
pub(crate) struct Made {
    /// `Pin<Box<…>>` rather than `impl Future`.
    pub(crate) boxed: bool,
    /// What it ends with.
    pub(crate) result: Type,
    /// Whether `result` is what was written, and not found behind an alias.
    pub(crate) visible: bool,
    pub(crate) tail: Tail,
}

impl Made {
    pub(crate) fn of(signature: &Signature, body: &TokenStream) -> Option<Self> {
        let ReturnType::Type(_, ty) = &signature.output else {
            return None;
        };
        if signature.asyncness.is_some() {
            return None;
        }
        let (boxed, result) = match peel(ty) {
            Type::ImplTrait(ty) => (false, Some(result(&ty.bounds)?)),
            Type::Path(ty) => (true, behind_path(&ty.path)?),
            _ => return None,
        };
        let visible = result.is_some();
        let result = match result {
            Some(result) => result,
            // An alias: the compiler knows.
            None => syn::parse2(quote_spanned! {first_span(&ty.to_token_stream())=>
                <#ty as ::core::future::Future>::Output
            })
            .ok()?,
        };
        Some(Self {
            boxed,
            result,
            visible,
            tail: Tail::of(body, boxed),
        })
    }

    /// Whether the whole body is one `async` block, so that it can be run as an async function's.
    pub(crate) fn is_block(&self) -> bool {
        self.tail.before.is_empty() && matches!(self.tail.work, Work::Block(_))
    }
}

/// The result of a boxed future; `None` within if it is behind an alias.
fn behind_path(path: &Path) -> Option<Option<Type>> {
    match path.segments.last()?.ident.to_string().as_str() {
        "BoxFuture" | "LocalBoxFuture" => Some(None),
        "Pin" => {
            let Type::Path(pointer) = peel(argument(path)?) else {
                return None;
            };
            if pointer.path.segments.last()?.ident != "Box" {
                return None;
            }
            match peel(argument(&pointer.path)?) {
                Type::TraitObject(ty) => Some(Some(result(&ty.bounds)?)),
                Type::ImplTrait(ty) => Some(Some(result(&ty.bounds)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The `Output` of a bound `Future<Output = …>`.
fn result(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Type> {
    let future = bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            (bound.path.segments.last()?.ident == "Future").then(|| bound.path.segments.last())?
        }
        _ => None,
    })?;
    let PathArguments::AngleBracketed(arguments) = &future.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => {
            syn::parse2(output.ty.to_token_stream()).ok()
        }
        _ => None,
    })
}

/// The expression at the end of a body, which makes the future.
pub(crate) struct Tail {
    /// The statements before it.
    pub(crate) before: TokenStream,
    pub(crate) work: Work,
}

pub(crate) enum Work {
    /// The inside of an `async` block, boxed or not as the return type wants it.
    Block(Group),
    /// What stands in `Box::pin(…)`.
    Pinned(TokenStream),
    /// Anything else, statements included: a future of the return type.
    Whole,
}

impl Tail {
    fn of(body: &TokenStream, boxed: bool) -> Self {
        let trees: Vec<TokenTree> = body.clone().into_iter().collect();
        Self::split(&trees, boxed).unwrap_or_else(|| Self {
            before: TokenStream::new(),
            work: Work::Whole,
        })
    }

    fn split(trees: &[TokenTree], boxed: bool) -> Option<Self> {
        let (start, work) = if boxed {
            let (start, inside) = pinned(trees)?;
            let inside: Vec<TokenTree> = inside.into_iter().collect();
            let inside = match inside.split_last() {
                Some((last, rest)) if is_punct(last, ',') => rest,
                _ => &inside[..],
            };
            match block(inside) {
                Some((0, group)) => (start, Work::Block(group)),
                _ => (start, Work::Pinned(inside.iter().cloned().collect())),
            }
        } else {
            let (start, group) = block(trees)?;
            (start, Work::Block(group))
        };
        let before = &trees[..start];
        // Else it may be the end of a longer expression.
        let whole = match before.last() {
            None => true,
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            Some(last) => is_punct(last, ';'),
        };
        let before: TokenStream = before.iter().cloned().collect();
        let returns = returns(&before) || matches!(&work, Work::Pinned(inside) if returns(inside));
        (whole && !returns).then_some(Self { before, work })
    }
}

impl Work {
    /// The inside of the `async` block, if it is one.
    pub(crate) fn block(&self) -> TokenStream {
        match self {
            Self::Block(group) => group.stream(),
            _ => TokenStream::new(),
        }
    }
}

/// `…Box::pin(…)` at the end: where it starts, and what is in it.
fn pinned(trees: &[TokenTree]) -> Option<(usize, TokenStream)> {
    let [.., name, a, b, pin, TokenTree::Group(group)] = trees else {
        return None;
    };
    let found = is_ident(name, "Box")
        && is_punct(a, ':')
        && is_punct(b, ':')
        && is_ident(pin, "pin")
        && group.delimiter() == Delimiter::Parenthesis;
    let mut start = trees.len() - 5;
    while start >= 2 && is_punct(&trees[start - 1], ':') && is_punct(&trees[start - 2], ':') {
        start -= 2;
        if start > 0 && matches!(&trees[start - 1], TokenTree::Ident(_)) {
            start -= 1;
        }
    }
    found.then(|| (start, group.stream()))
}

/// `async move {…}` at the end: where it starts, and its braces.
fn block(trees: &[TokenTree]) -> Option<(usize, Group)> {
    let (TokenTree::Group(group), rest) = trees.split_last()? else {
        return None;
    };
    let rest = match rest.split_last() {
        Some((last, rest)) if is_ident(last, "move") => rest,
        _ => rest,
    };
    let (last, rest) = rest.split_last()?;
    let found = is_ident(last, "async") && group.delimiter() == Delimiter::Brace;
    found.then(|| (rest.len(), group.clone()))
}

/// Whether a `return` may leave the function: one that is written, or hidden in a macro.
fn returns(tokens: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(word) => word == "return" || is_macro(&tokens[at..]),
        TokenTree::Group(group) => returns(&group.stream()),
        _ => false,
    })
}

/// Whether a macro's call starts here. `if !(…)` is none.
fn is_macro(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Ident(name), bang, TokenTree::Group(_), ..] = tokens else {
        return false;
    };
    is_punct(bang, '!')
        && !["if", "while", "match", "in"]
            .iter()
            .any(|word| name == word)
}

fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}
