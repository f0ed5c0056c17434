//! What can be seen of a type by its tokens.

use proc_macro2::Span;
use quote::ToTokens;
use syn::{GenericArgument, Path, PathArguments, Type};

use crate::span::first_span;

/// The last type argument of `…Result<T, E>`.
pub(crate) fn error_type(ty: &Type) -> Option<Span> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let types = || {
        arguments
            .args
            .iter()
            .filter(|arg| matches!(arg, GenericArgument::Type(_)))
    };
    (last.ident == "Result" && types().count() == 2)
        .then(|| types().last().map(|ty| first_span(&ty.to_token_stream())))
        .flatten()
}

/// Looks through parentheses and invisible groups.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        ty => ty,
    }
}

/// The first type among a path's arguments.
pub(crate) fn argument(path: &Path) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
