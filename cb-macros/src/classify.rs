//! `ignore` and `record`: what a class of errors is, told by the way it is written.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{
    Error, ExprPath, Path, PathArguments, PathSegment, Result, Token, Type, parenthesized, token,
};

use crate::expression;
use crate::pieces::pieces;
use crate::span::{first_span, located};
use crate::veil::{lift, veil};

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

impl Class {
    fn lifted(self) -> Self {
        match self {
            Self::Type(of) => Self::Type(lift(of)),
            Self::Pattern { of, pattern } => Self::Pattern {
                of: lift(of),
                pattern: lift(pattern),
            },
            Self::Predicate(function) => Self::Predicate(lift(function)),
        }
    }
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
            syn::parse2::<Type>(veil(group.stream())).map_err(|_| refused())?;
            return Ok(vec![Class::Type(group.stream())]);
        }
        _ => {}
    }
    if expression::is_closure(tokens.clone()) {
        return Ok(vec![Class::Predicate(tokens)]);
    }
    if let Ok(classes) = paths(tokens.clone()) {
        return Ok(classes);
    }
    let classes = paths(veil(tokens.clone())).map_err(|_| refused())?;
    Ok(classes.into_iter().map(Class::lifted).collect())
}

/// A type, or the alternatives of a pattern.
fn paths(tokens: TokenStream) -> Result<Vec<Class>> {
    match syn::parse2(tokens.clone()) {
        Ok(Type::Path(path)) if path.qself.is_some() => Ok(vec![Class::Type(tokens)]),
        Ok(Type::Path(path)) => Ok(vec![path_class(path.path, tokens)]),
        _ => alternatives.parse2(tokens),
    }
}

fn alternatives(input: ParseStream<'_>) -> Result<Vec<Class>> {
    input.parse::<Option<Token![|]>>()?;
    let mut classes = vec![pattern(input)?];
    while input.parse::<Option<Token![|]>>()?.is_some() {
        classes.push(pattern(input)?);
    }
    Ok(classes)
}

/// A path, alone or with fields, whose patterns the compiler reads.
fn pattern(input: ParseStream<'_>) -> Result<Class> {
    if input.peek(token::Paren) {
        let inside;
        parenthesized!(inside in input);
        return pattern(&inside);
    }
    let ExprPath { attrs, qself, path } = input.parse()?;
    if qself.is_some() || !attrs.is_empty() {
        return Err(input.error("expected a path"));
    }
    if !input.peek(token::Paren) && !input.peek(token::Brace) {
        let tokens = path.to_token_stream();
        return Ok(path_class(path, tokens));
    }
    let fields: TokenTree = input.parse()?;
    let pattern = quote!(#path #fields);
    let of = if is_variant(&path) {
        parent(path)
    } else {
        path.to_token_stream()
    };
    Ok(Class::Pattern { of, pattern })
}

/// A bare path: `snake_case` is a function, `Camel::Case` a variant, `CamelCase` a type.
fn path_class(path: Path, tokens: TokenStream) -> Class {
    let is_type = path
        .segments
        .last()
        .is_some_and(|last| is_camel(&last.ident.to_string()));
    if !is_type {
        Class::Predicate(tokens)
    } else if is_variant(&path) {
        let pattern = quote!(#path { .. });
        Class::Pattern {
            of: parent(path),
            pattern,
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
fn parent(mut parent: Path) -> TokenStream {
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
            let found = Ident::new("found", located(first_span(of)));
            quote_spanned!(mixed=> if errors.seek::<#of>().#found() { break 'judged #outcome; })
        }
        Class::Pattern { of, pattern } => {
            let found = Ident::new("all", located(first_span(of)));
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
            let place = located(first_span(function));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(text: &str) -> TokenTree {
        proc_macro2::Group::new(Delimiter::None, text.parse().unwrap()).into()
    }

    /// `Type`, `predicate()`, or `Type as pattern`.
    fn classes(tokens: TokenStream) -> Option<Vec<String>> {
        let classes = parse("ignore", &tokens).ok()?;
        let shown = classes.iter().map(|class| match class {
            Class::Type(of) => of.to_string(),
            Class::Pattern { of, pattern } => format!("{of} as {pattern}"),
            Class::Predicate(function) => format!("{function}()"),
        });
        let squeezed = |shown: String| shown.replace(' ', "");
        Some(shown.map(squeezed).collect())
    }

    #[test]
    fn tells_classes_by_their_tokens() {
        for (written, expected) in [
            ("A", &["A"] as &[_]),
            ("a::b", &["a::b()"]),
            ("A::B", &["AasA::B{..}"]),
            ("A::B(400..=499)", &["AasA::B(400..=499)"]),
            ("a::A { b: 1 | 2, .. }", &["a::Aasa::A{b:1|2,..}"]),
            ("A::<B, C>::D(_)", &["A<B,C>asA::<B,C>::D(_)"]),
            ("CallError::Failed(A::B)", &["_asCallError::Failed(A::B)"]),
            (
                "A::B(1) | C | d | (E::F)",
                &["AasA::B(1)", "C", "d()", "EasE::F{..}"],
            ),
            ("| A::B(1)", &["AasA::B(1)"]),
            (
                "[A, B::C(1) | D, |e| e.f < 3, type(g)]",
                &["A", "BasB::C(1)", "D", "|e|e.f<3()", "g"],
            ),
            ("<A as B>::C", &["<AasB>::C"]),
            ("A<{ let b = 1; b }>", &["A<{letb=1;b}>"]),
            (
                "A::<{ let b = 1; b }>::C(1)",
                &["A<{letb=1;b}>asA::<{letb=1;b}>::C(1)"],
            ),
            ("type([u8; if A { 1 } else { 2 }])", &["[u8;ifA{1}else{2}]"]),
        ] {
            let found = classes(written.parse().unwrap());
            assert_eq!(
                found.as_deref(),
                Some(&expected.iter().map(|s| s.to_string()).collect::<Vec<_>>()[..]),
                "{written}"
            );
        }
    }

    #[test]
    fn looks_into_what_a_macro_captured() {
        let (variant, other) = (captured("A::B"), captured("A::C | D"));
        let one = |tokens| classes(tokens).unwrap_or_default().join(" ");
        assert_eq!(one(quote!(#variant)), "AasA::B{..}");
        assert_eq!(
            one(quote!(#variant(1) | #other)),
            "AasA::B(1) AasA::C{..} D"
        );
        assert_eq!(
            one(quote!([#other, #variant { x: 1 }])),
            "AasA::C{..} D AasA::B{x:1}"
        );
    }

    #[test]
    fn refuses_what_names_no_class() {
        for written in [
            "1",
            "1..=2",
            "A..=B",
            "a @ A::B(1)",
            "ref a",
            "mut a",
            "&A",
            "_",
            "m!(A)",
            "A || B",
            "A |",
            "A::",
            "A B",
            "A::B(1) if c",
            "A::B(1)(2)",
            "(A::B(1) | C)",
            "(A, B)",
            "()",
            "[]",
            "<A as B>::C(1)",
            "#[a] A::B(1)",
            "-1",
            "|a|",
            "|a| b c",
            "type()",
            "type(a b)",
        ] {
            assert_eq!(classes(written.parse().unwrap()), None, "{written}");
        }
    }
}
