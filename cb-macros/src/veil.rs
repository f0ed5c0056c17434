//! What syn cannot read in a type without its largest feature, put where it does not look: constants
//! that are any expression, and `use<…>`. Few functions have them, so they are hidden only from a
//! second reading, and come back as they were.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote_spanned;

use crate::span::{first_span, located};

/// The macro that has a constant as its argument.
const HIDDEN: &str = "__cb_hidden";
/// The name that `use` goes by.
const USE: &str = "__cb_use";

/// Hides it in `tokens`, of types and what stands between them.
pub(crate) fn veil(tokens: TokenStream) -> TokenStream {
    let mut attribute = false;
    let veiled = tokens.into_iter().map(|tree| {
        let within = std::mem::replace(&mut attribute, is_punct(&tree, '#'));
        match tree {
            TokenTree::Ident(word) if word == "use" => Ident::new(USE, word.span()).into(),
            TokenTree::Group(group) if !within => {
                let inside = group.stream();
                let inside = match group.delimiter() {
                    Delimiter::Brace => hide(inside),
                    Delimiter::Bracket => array(inside),
                    _ => veil(inside),
                };
                with(&group, inside)
            }
            tree => tree,
        }
    });
    veiled.collect()
}

/// Hides it in the head of a function: its body, which comes last, is not read.
pub(crate) fn head(function: TokenStream) -> TokenStream {
    let mut head: Vec<TokenTree> = function.into_iter().collect();
    let body = head.pop();
    let mut function = veil(head.into_iter().collect());
    function.extend(body);
    function
}

/// Brings back all that is hidden in `tokens`.
pub(crate) fn lift(tokens: TokenStream) -> TokenStream {
    let mut lifted = TokenStream::new();
    let mut trees = tokens.into_iter();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Ident(word) if word == USE => {
                lifted.extend([TokenTree::from(Ident::new("use", word.span()))]);
            }
            TokenTree::Ident(word) if word == HIDDEN => {
                // Behind the `!`.
                if let Some(TokenTree::Group(group)) = trees.nth(1) {
                    lifted.extend(group.stream());
                }
            }
            TokenTree::Group(group) if hides(group.stream()) => {
                lifted.extend([with(&group, lift(group.stream()))]);
            }
            tree => lifted.extend([tree]),
        }
    }
    lifted
}

fn hides(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(word) => word == HIDDEN || word == USE,
        TokenTree::Group(group) => hides(group.stream()),
        _ => false,
    })
}

fn hide(tokens: TokenStream) -> TokenStream {
    if tokens.is_empty() {
        return tokens;
    }
    let place = located(first_span(&tokens));
    let hidden = Ident::new(HIDDEN, place);
    quote_spanned!(place=> #hidden! { #tokens })
}

/// The inside of brackets, which have a length if they are an array's.
fn array(tokens: TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let end = trees.iter().position(|tree| is_punct(tree, ';'));
    let (ty, length) = trees.split_at(end.map_or(trees.len(), |end| end + 1));
    let mut inside = veil(ty.iter().cloned().collect());
    inside.extend(hide(length.iter().cloned().collect()));
    inside
}

fn with(group: &Group, inside: TokenStream) -> TokenTree {
    let mut new = Group::new(group.delimiter(), inside);
    new.set_span(group.span());
    new.into()
}

fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(found) if found.as_char() == punct)
}

#[cfg(test)]
mod tests {
    use syn::Type;

    use super::*;

    #[test]
    fn what_is_hidden_comes_back() {
        for ty in [
            "[u8; { let x = 1; x }]",
            "[[u8; match A { _ => 1 }]; 'a: { break 'a 2 }]",
            "Foo<{ if A { [1, 2][0] } else { 2 } }, B = { let x = 1; x }>",
            "impl Future<Output = Result<[u8; [1, 2][0]], E>> + use<'a, T> + Send",
            "(impl A + use<>, &'a dyn Fn([u8; if A { 1 } else { 2 }]) -> B<{ loop {} }>)",
            "for<'a> fn([u8; async {}], m! { x; y }) -> [u8]",
        ] {
            let written: TokenStream = ty.parse().unwrap();
            let veiled = veil(written.clone());
            assert!(syn::parse2::<Type>(veiled.clone()).is_ok(), "{veiled}");
            assert_eq!(lift(veiled).to_string(), written.to_string());
        }
    }

    #[test]
    fn attributes_and_bodies_stay() {
        let item = "#[a { b }] fn f(#[c = [d; e]] g: [u8; { h }]) { use i; [j; k] }";
        let veiled = head(item.parse().unwrap()).to_string();
        for stays in ["[a { b }]", "[d ; e]", "}]) { use i ; [j ; k] }"] {
            assert!(veiled.contains(stays), "{veiled}");
        }
        assert!(veiled.contains("__cb_hidden ! { { h } }"), "{veiled}");
    }
}
