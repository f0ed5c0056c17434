//! Everything that is wrong, collected so that all of it is reported at once.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Error;

#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// Reports `message` at all of `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}
