//! Lists as they are written, split at their commas.

use proc_macro2::{TokenStream, TokenTree};

/// Splits at the commas, but not at those within a generic type or a closure's parameters.
pub(crate) fn pieces(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        if comma && is_complete(&piece) {
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(token);
        }
    }
    pieces.push(piece);
    // A trailing comma leaves nothing behind it; a doubled one is harmless.
    pieces.retain(|piece| !piece.is_empty());
    pieces
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
