//! On error: the function unchanged beside the compile errors, so that none follow from them.

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;

use crate::errors::Errors;
use crate::function::{Function, Item};

/// `item` followed by the errors, with `checks` at the start of its body: wrong values are still
/// reported together with wrong words.
pub(crate) fn item(
    item: &TokenStream,
    parsed: Option<&Item>,
    checks: &TokenStream,
    errors: Errors,
) -> TokenStream {
    let errors = errors.into_tokens();
    match parsed {
        Some(Item::Function(function)) => {
            let Function {
                before,
                signature,
                inner,
                body,
                braces,
                ..
            } = &**function;
            let mut block = Group::new(Delimiter::Brace, quote!(#inner #checks #body));
            block.set_span(*braces);
            quote!(#before #signature #block #errors)
        }
        _ => quote!(#item #errors),
    }
}
