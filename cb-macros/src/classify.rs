//! `ignore` and `record`: what a class of errors is, told by the way it is written.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::{Error, ExprClosure, Pat, Path, PathArguments, PathSegment, Result, Token, Type};

use crate::pieces::pieces;
use crate::span::first_span;

pub(crate) enum Class {
    /// The error is of this type, holds it, or has it along its `source()` chain.
    Type(TokenStream),
    /// Likewise, and the value matches the pattern.
    Pattern {
        of: TokenStream,
        pattern: TokenStream,
    },
    /// A function of the error itself.
    Predicate(TokenStream),
}

const FORMS: &str = "a type (`BusinessError`), a variant (`ApiError::OutOfStock`), a pattern \
                     (`ApiError::Http(400..=499)`), a function or closure over the error, or a \
                     list of these in brackets";

/// One class, or several in brackets.
pub(crate) fn parse(key: &str, tokens: &TokenStream) -> Result<Vec<Class>> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let [TokenTree::Group(group)] = &trees[..] else {
        return one(key, &trees);
    };
    match group.delimiter() {
        Delimiter::None => parse(key, &group.stream()),
        Delimiter::Bracket => list(key, group.stream(), tokens),
        _ => one(key, &trees),
    }
}

fn list(key: &str, inside: TokenStream, written: &TokenStream) -> Result<Vec<Class>> {
    let mut classes = Vec::new();
    for piece in pieces(inside) {
        classes.extend(one(key, &piece)?);
    }
    if classes.is_empty() {
        return Err(Error::new_spanned(
            written,
            format!("this list is empty; leave `{key}` out"),
        ));
    }
    Ok(classes)
}

/// One class; the alternatives of a pattern count as several.
fn one(key: &str, trees: &[TokenTree]) -> Result<Vec<Class>> {
    let tokens: TokenStream = trees.iter().cloned().collect();
    let refused = || Error::new_spanned(&tokens, format!("`{key}` takes {FORMS}"));
    match trees {
        [] => {
            return Err(refused());
        }
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            return parse(key, &group.stream());
        }
        [TokenTree::Literal(literal)] if literal.to_string().starts_with('"') => {
            let bare = literal.to_string();
            let bare = bare.trim_matches('"');
            return Err(Error::new_spanned(
                literal,
                format!("write `{key} = {bare}`, without quotes"),
            ));
        }
        // `type(x)`: for types whose names do not look like one.
        [TokenTree::Ident(word), TokenTree::Group(group)] if *word == "type" => {
            let named: Type = syn::parse2(group.stream()).map_err(|_| refused())?;
            return Ok(vec![Class::Type(named.into_token_stream())]);
        }
        _ => {}
    }
    if syn::parse2::<ExprClosure>(tokens.clone()).is_ok() {
        return Ok(vec![Class::Predicate(tokens)]);
    }
    match syn::parse2(tokens.clone()) {
        Ok(Type::Path(path)) if path.qself.is_some() => return Ok(vec![Class::Type(tokens)]),
        Ok(Type::Path(path)) => return Ok(vec![path_class(&path.path, tokens)]),
        _ => {}
    }
    match Pat::parse_multi_with_leading_vert.parse2(tokens.clone()) {
        Ok(Pat::Or(or)) => or
            .cases
            .iter()
            .map(|case| pattern(case).ok_or_else(refused))
            .collect(),
        Ok(single) => Ok(vec![pattern(&single).ok_or_else(refused)?]),
        Err(_) => Err(refused()),
    }
}

fn pattern(pattern: &Pat) -> Option<Class> {
    let path = match pattern {
        Pat::TupleStruct(tuple) if tuple.qself.is_none() => &tuple.path,
        Pat::Struct(fields) if fields.qself.is_none() => &fields.path,
        Pat::Path(path) if path.qself.is_none() => {
            return Some(path_class(&path.path, path.to_token_stream()));
        }
        Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => {
            let path = Path::from(ident.ident.clone());
            return Some(path_class(&path, path.to_token_stream()));
        }
        Pat::Paren(paren) => return self::pattern(&paren.pat),
        _ => return None,
    };
    let of = if is_variant(path) {
        parent(path)
    } else {
        path.to_token_stream()
    };
    Some(Class::Pattern {
        of,
        pattern: pattern.to_token_stream(),
    })
}

/// A bare path: `snake_case` is a function, `Camel::Case` a variant, `CamelCase` a type.
fn path_class(path: &Path, tokens: TokenStream) -> Class {
    let is_type = path
        .segments
        .last()
        .is_some_and(|last| is_camel(&last.ident.to_string()));
    if !is_type {
        Class::Predicate(tokens)
    } else if is_variant(path) {
        Class::Pattern {
            of: parent(path),
            pattern: quote!(#path { .. }),
        }
    } else {
        Class::Type(tokens)
    }
}

fn is_camel(name: &str) -> bool {
    name.trim_start_matches("r#")
        .starts_with(char::is_uppercase)
}

fn is_variant(path: &Path) -> bool {
    path.segments
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|parent| is_camel(&parent.ident.to_string()))
}

/// The path less its last segment: the enum of a variant.
fn parent(path: &Path) -> TokenStream {
    let mut parent = path.clone();
    parent.segments.pop();
    parent.segments.pop_punct();
    // The runtime's own error is generic, and mostly written without its argument: it is the error
    // itself then, or the compiler objects to the pattern.
    let generic = |last: &PathSegment| last.ident == "CallError" && last.arguments.is_none();
    if parent.segments.last().is_some_and(generic) {
        return quote!(_);
    }
    // `Enum::<T>::Variant` is `Enum<T>` as a type.
    for segment in &mut parent.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = None::<Token![::]>;
        }
    }
    parent.into_token_stream()
}

/// Statements that leave the block `'judged` with `outcome` if one of `classes` holds for `errors`.
pub(crate) fn each(classes: &[Class], outcome: &TokenStream) -> TokenStream {
    let mixed = Span::mixed_site();
    let tests = classes.iter().map(|class| match class {
        Class::Type(of) => {
            let found = Ident::new("found", located(of));
            quote_spanned!(mixed=> if errors.seek::<#of>().#found() { break 'judged #outcome; })
        }
        Class::Pattern { of, pattern } => {
            let found = Ident::new("all", located(of));
            // A loop: a closure in every function costs the compiler more. With a guard the last arm is
            // reachable whatever the pattern.
            quote_spanned! {mixed=>
                let mut all = errors.seek::<#of>().#found();
                loop {
                    match all.next() {
                        ::core::option::Option::None => break,
                        ::core::option::Option::Some(#pattern) if true => break 'judged #outcome,
                        _ => {}
                    }
                }
            }
        }
        Class::Predicate(function) => {
            let place = located(function);
            let holds = quote_spanned!(place=> errors.holds(#function));
            quote_spanned!(mixed=> if #holds { break 'judged #outcome; })
        }
    });
    tests.collect()
}

/// The same as arms of a match on the error, if all of `classes` are patterns of its own type, which
/// is written `error`: then there is nothing to look for.
pub(crate) fn arms(
    classes: &[Class],
    error: Option<&TokenStream>,
    outcome: &TokenStream,
) -> Option<TokenStream> {
    let own = error.map(ToString::to_string);
    let arms = classes.iter().map(|class| match class {
        Class::Pattern { of, pattern } => {
            let of = of.to_string();
            let same = of == "_" || own.as_ref() == Some(&of);
            same.then(|| {
                quote_spanned! {Span::mixed_site()=>
                    ::core::option::Option::Some(#pattern) if true => #outcome,
                }
            })
        }
        _ => None,
    });
    arms.collect()
}

fn located(tokens: &TokenStream) -> Span {
    Span::mixed_site().located_at(first_span(tokens))
}
