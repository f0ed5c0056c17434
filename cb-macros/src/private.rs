//! The path of the runtime's hidden module, of which expansions are full.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote_spanned};

pub(crate) struct Private(Vec<TokenTree>);

impl Private {
    pub(crate) fn of(runtime: &TokenStream) -> Self {
        let path = quote_spanned!(Span::mixed_site()=> #runtime::__private);
        Self(path.into_iter().collect())
    }

    /// The same, with its errors at `place`.
    pub(crate) fn at(&self, place: Span) -> Self {
        let moved = self.0.iter().map(|token| {
            let mut token = token.clone();
            token.set_span(token.span().located_at(place));
            token
        });
        Self(moved.collect())
    }
}

impl ToTokens for Private {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        // Token by token: a stream put into a stream is an exchange with the compiler.
        tokens.append_all(&self.0);
    }
}
