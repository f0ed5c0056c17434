//! Expressions, as far as it matters of which kind they are.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Expr, Variant};

/// The expression; `Expr::Verbatim` for one of which syn does not say what it is. None if it is none.
pub(crate) fn read(tokens: &TokenStream) -> Option<Expr> {
    let tokens = ungroup(tokens.clone());
    // What stands within brackets has no say in the kind.
    syn::parse2(tokens.clone())
        .or_else(|_| syn::parse2(hollow(tokens.clone())))
        .ok()
        .or_else(|| is_any(&tokens).then_some(Expr::Verbatim(tokens)))
}

/// Whether `tokens` is a whole closure.
pub(crate) fn is_closure(tokens: TokenStream) -> bool {
    let tokens = ungroup(tokens);
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    begins_closure(&trees) && is_any(&tokens)
}

/// Whether `tokens`, an expression of unknown kind, may be a number or a time: it is no closure, list, range or
/// assignment, and leaves nothing.
pub(crate) fn may_be_value(tokens: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_list =
        matches!(&trees[..], [TokenTree::Group(group)] if group.delimiter() != Delimiter::Brace);
    let leaves = trees.last().is_some_and(|last| {
        is_punct(last, '?') || matches!(last, TokenTree::Ident(word) if word == "await")
    });
    let mut joint = false;
    let other = trees.windows(2).any(|pair| {
        let continued = std::mem::replace(&mut joint, is_joint(&pair[0]));
        let range = is_punct(&pair[0], '.') && is_punct(&pair[1], '.');
        range || is_punct(&pair[0], '=') && !continued && !joint
    });
    !(begins_closure(&trees) || is_list || leaves || other)
}

fn is_joint(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
}

/// `|`, behind `for<…>` and words.
fn begins_closure(trees: &[TokenTree]) -> bool {
    const WORDS: &[&str] = &["const", "static", "async", "move"];
    let trees = match trees {
        [TokenTree::Ident(word), less, ..] if word == "for" && is_punct(less, '<') => {
            let end = trees.iter().position(|tree| is_punct(tree, '>'));
            &trees[end.map_or(trees.len(), |end| end + 1)..]
        }
        trees => trees,
    };
    let bar = trees.iter().find(
        |tree| !matches!(tree, TokenTree::Ident(word) if WORDS.iter().any(|known| word == known)),
    );
    bar.is_some_and(|bar| is_punct(bar, '|'))
}

/// Whether `tokens` is any expression at all. As an enum's discriminant syn accepts every kind of them, by
/// finding its end. With the attribute it does so at once, rather than after the kinds that it reads in full: of
/// `a..b` it would read `a`.
fn is_any(tokens: &TokenStream) -> bool {
    syn::parse2::<Variant>(quote!(v = #[v] #tokens)).is_ok()
}

/// Looks through the invisible groups that `macro_rules!` puts around what it captured.
fn ungroup(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => {
            ungroup(group.stream())
        }
        _ => tokens,
    }
}

/// The same with a name for all that stands within brackets: it can be a type as well as a value.
fn hollow(tokens: TokenStream) -> TokenStream {
    let hollowed = tokens.into_iter().map(|tree| match tree {
        TokenTree::Group(group) if !group.stream().is_empty() => {
            let inside = match group.delimiter() {
                Delimiter::None => hollow(group.stream()),
                _ => TokenTree::from(Ident::new("x", Span::mixed_site())).into(),
            };
            Group::new(group.delimiter(), inside).into()
        }
        tree => tree,
    });
    hollowed.collect()
}

fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(found) if found.as_char() == punct)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().unwrap()
    }

    /// In an invisible group.
    fn captured(text: &str) -> TokenStream {
        TokenTree::from(Group::new(Delimiter::None, tokens(text))).into()
    }

    #[test]
    fn reads_every_expression() {
        for any in [
            "a",
            "\"a\"",
            "a::b::<C>(d)",
            "<A as B<C>>::d",
            "a.b.0.1.c::<D, E>(f)",
            "&a[1..]",
            "*a as u8 as char",
            "!a && -b < c || d << e == f",
            "A { a, b: 1 }",
            "m!(a b)",
            "a?",
            "a.await?",
            "a..b",
            "..",
            "..=b",
            "a = b",
            "a += b",
            "match a { B { c } => d, _ => e }",
            "match a { _ => b }.c() + if d { e } else { f }",
            "if let Some(x) = a { x } else if b < c { d } else { e }",
            "{ let x = a; x }",
            "unsafe { a }",
            "'a: loop { break 'a b }",
            "for a in b { c }",
            "while a < b {}",
            "async move { a }",
            "const { a }",
            "|a| b",
            "move |a: &B<C, D>| -> E { f }",
            "(|| a)()",
            "[a, b]",
            "[a; 3]",
            "(a, b)",
            "()",
            "break",
            "return a",
            "&raw const a",
            "&mut a",
            "#[a] b",
            "a::<[u8; { let b = 1; b }]>",
        ] {
            assert!(read(&tokens(any)).is_some(), "{any}");
            assert!(read(&captured(any)).is_some(), "captured: {any}");
        }
        for none in [
            "",
            "a b",
            "= a",
            "a +",
            "a, b",
            "a;",
            "fn",
            "let",
            "a @ b",
            "if a { b } else",
            "|a|",
            "|a",
            "a::",
            "match { }",
        ] {
            assert!(read(&tokens(none)).is_none(), "{none}");
        }
    }

    #[test]
    fn says_of_which_kind_it_is() {
        for path in ["a", "Self::a", "<A as B>::c", "a::<[u8; { let b = 1; b }]>"] {
            for written in [tokens(path), captured(path)] {
                assert!(matches!(read(&written), Some(Expr::Path(_))), "{path}");
            }
        }
        for call in ["a()", "a(|b| c)", "a::b(if c { d } else { e }, f)"] {
            assert!(matches!(read(&tokens(call)), Some(Expr::Call(_))), "{call}");
        }
        assert!(matches!(read(&captured("3")), Some(Expr::Lit(_))));
    }

    #[test]
    fn knows_a_closure() {
        for closure in [
            "|| a",
            "|a| b",
            "|a, b| c",
            "move |A { b, c }| d",
            "async |a| b",
            "async move |a| b.await",
            "for<'a, 'b> |a: &'a u8| -> bool { true }",
            "|a| if b < c { d } else { e }",
            "|a| |b| c",
            "|(a | b)| c",
            "|a| b.c::<D, E>() < 3",
            "|a| match b { _ => c }",
            "|a| return",
            "|a| b < c",
        ] {
            assert!(is_closure(tokens(closure)), "{closure}");
            assert!(is_closure(captured(closure)), "captured: {closure}");
        }
        for other in [
            "a",
            "a | b",
            "|a|",
            "|a",
            "|a| b c",
            "|a| b.c::<D",
            "|a| -> B",
            "for a in b | c {}",
            "move",
            "async {}",
            "",
        ] {
            assert!(!is_closure(tokens(other)), "{other}");
        }
    }

    #[test]
    fn tells_values_from_what_cannot_be_one() {
        for value in [
            "if a < b { 1 } else { 2 }",
            "match a { _ => 1 }",
            "1 + match a { _ => 2 }",
            "[1, 2][0]",
            "[1, 2].len()",
            "{ let a = 1; a }",
            "unsafe { a }",
            "a <= b && c == match d { _ => e }",
        ] {
            assert!(may_be_value(&tokens(value)), "{value}");
        }
        for other in [
            "|a| b",
            "[1, 2]",
            "1..2",
            "1..=2",
            "a?",
            "a.await",
            "100 = a",
            "a = b = c",
        ] {
            assert!(!may_be_value(&tokens(other)), "{other}");
        }
    }
}
