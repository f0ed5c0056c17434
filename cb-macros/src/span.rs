//! Where messages point.

use proc_macro2::{Span, TokenStream, TokenTree};

/// Where `tokens` start.
pub(crate) fn first_span(tokens: &TokenStream) -> Span {
    tokens
        .clone()
        .into_iter()
        .next()
        .map_or_else(Span::call_site, |token| token.span())
}

/// At `place` for messages, out of the user's sight for names.
pub(crate) fn located(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// A path whose errors show up at `place`.
pub(crate) fn relocated(path: &TokenStream, place: Span) -> TokenStream {
    path.clone()
        .into_iter()
        .map(|mut token: TokenTree| {
            token.set_span(token.span().located_at(place));
            token
        })
        .collect()
}
