//! Lists as they are written, split at their commas.

use proc_macro2::{Ident, TokenStream, TokenTree};

use crate::expression;
use crate::keys::KEYS;

/// Splits at the commas, but not at those within a generic type or a closure's parameters.
pub(crate) fn pieces(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut pieces = Vec::new();
    let mut piece: Vec<TokenTree> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let ends = is_punct(token, ',')
            && (is_complete(&piece) || is_closure(&piece) || starts_argument(&tokens[at + 1..]));
        if ends {
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(token.clone());
        }
    }
    pieces.push(piece);
    // A trailing comma leaves nothing behind it; a doubled one is harmless.
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}

/// Where in the value of an argument, which makes no sense as it is, another argument starts.
pub(crate) fn comma_missing(value: &[TokenTree]) -> Option<usize> {
    (1..value.len()).find(|&at| {
        let ends = !matches!(value[at - 1], TokenTree::Punct(_));
        ends && assigned(&value[at..]).is_some()
    })
}

/// Whether an argument follows: then a `<` before was no bracket.
fn starts_argument(tokens: &[TokenTree]) -> bool {
    assigned(tokens).is_some_and(|name| KEYS.iter().any(|key| name == key.name))
}

/// The name before a `=` that `tokens` start with.
fn assigned(tokens: &[TokenTree]) -> Option<&Ident> {
    let [TokenTree::Ident(name), equals, after @ ..] = tokens else {
        return None;
    };
    let comparison = after
        .first()
        .is_some_and(|after| is_punct(after, '=') || is_punct(after, '>'));
    (is_punct(equals, '=') && !comparison).then_some(name)
}

/// Whether `piece` is a whole closure, or one behind `key =`: likewise.
fn is_closure(piece: &[TokenTree]) -> bool {
    let value = match piece {
        [TokenTree::Ident(_), equals, value @ ..] if is_punct(equals, '=') => value,
        value => value,
    };
    expression::is_closure(value.iter().cloned().collect())
}

/// Whether all angle brackets and closure bars in `piece` are closed.
fn is_complete(piece: &[TokenTree]) -> bool {
    let mut depth = 0;
    let mut bars = 0;
    let mut previous = ' ';
    for token in piece {
        let punct = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match punct {
            '<' => depth += 1,
            '>' if previous != '-' && previous != '=' => depth -= 1,
            '|' => bars += 1,
            _ => {}
        }
        previous = punct;
    }
    let closure = piece.iter().enumerate().any(|(at, token)| {
        let bar = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '|');
        let starts = at == 0
            || matches!(&piece[at - 1], TokenTree::Punct(punct) if punct.as_char() == '=')
            || matches!(&piece[at - 1], TokenTree::Ident(ident) if *ident == "move");
        bar && starts
    });
    depth <= 0 && !(closure && bars < 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        pieces(text.parse().unwrap())
            .into_iter()
            .map(|piece| piece.into_iter().collect::<TokenStream>().to_string())
            .collect()
    }

    #[test]
    fn less_is_no_bracket_where_an_argument_follows() {
        for two in [
            "failure_if = |r| *r < 200, min_calls = 20",
            "ignore = |e| code(e) <= 200, min_calls = 20",
            "min_calls = 1 << 4, name = \"a\"",
            "key = a < b, min_calls = 5",
            "|e| code(e) < 3, Other",
            "|e| if a < b { c } else { d }, Other",
            "move |e: &A<B, C>| e.d < e.f, Other",
            "|a, b| a << b, Other",
            "failure_if = |r| match r { A if b < c => d, _ => e }, min_calls = 3",
            "failure_if = for<'a> |r: &'a u8| -> bool { a < b }, retry_after = |a, b| a",
        ] {
            assert_eq!(split(two).len(), 2, "{two}: {:?}", split(two));
        }
    }

    #[test]
    fn sees_where_a_comma_is_missing() {
        for (value, expected) in [
            ("\"a\" min_calls = 5", Some(1)),
            ("[A, B] c = d", Some(1)),
            ("a::b c = d", Some(4)),
            ("|e| e == f", None),
            ("|e| e => f", None),
            ("a b == c", None),
            ("a b", None),
            ("a = b", None),
        ] {
            let value: Vec<_> = value.parse::<TokenStream>().unwrap().into_iter().collect();
            assert_eq!(comma_missing(&value), expected, "{value:?}");
        }
    }

    #[test]
    fn commas_in_generics_and_closures_stay() {
        for one in [
            "ignore = Failed<A, B>",
            "fallback = Self::f::<K, L>",
            "ignore = Both<A, Item = B>",
            "failure_if = |a: &Pair<A, B>| a.x",
            "retry_after = |a, b| a",
            "failure_if = |r| r.all::<A, B>()",
            "|e| <A as B<C, D>>::f(e) < 3",
            "failure_if = |Pair { a, b }, c| a < b",
        ] {
            assert_eq!(split(one).len(), 1, "{one}: {:?}", split(one));
        }
    }
}
