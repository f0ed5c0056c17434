//! Rules over arguments and signature, other than the ranges of values.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Expr, Lit};

use crate::args::Args;
use crate::errors::Errors;
use crate::expression;
use crate::function::{Function, Item};
use crate::input::{Input, InputKind, Pattern};
use crate::output;
use crate::param;
use crate::value::What;

/// The most parameters that a fallback can take.
const MAX_PARAMS: usize = 12;

pub(crate) fn arguments(args: &Args, errors: &mut Errors) {
    if !args.mentions("name") {
        errors.push(syn::Error::new(
            proc_macro2::Span::call_site(),
            "`name` is missing: it is the breaker's identity in the registry, \
             for example `name = \"inventory.query\"`",
        ));
    }
    if let Some(max) = args.get("max_keys").filter(|_| !args.mentions("key")) {
        errors.at(
            &max.ident,
            "`max_keys` bounds the breakers of a `key`: add `key = some_parameter`, or leave it out",
        );
    }
    if let Some(on) = args
        .get("fallback_on")
        .filter(|_| !args.mentions("fallback"))
    {
        errors.at(
            &on.ident,
            "`fallback_on` needs a `fallback = some_function` to call",
        );
    }
}

/// What the function is must agree with the arguments.
pub(crate) fn item(args: &Args, item: &Item, errors: &mut Errors) {
    let function = match item {
        Item::Function(function) => function,
        Item::Bodyless(signature) => {
            return errors.at(
                &signature.ident,
                "this function has no body to guard: put the attribute where the body is, for a \
                 trait's method on the implementations, or give it a default body",
            );
        }
    };
    if let Some(constant) = &function.signature.constness {
        errors.at(
            constant,
            "a circuit breaker keeps state, which a `const fn` cannot: remove `const`",
        );
    }
    if let Some(variadic) = &function.signature.variadic {
        errors.at(
            variadic,
            "a variadic function cannot be guarded: guard the function that calls it",
        );
    }
    let asyncness = &function.signature.asyncness;
    // On an `async fn` the compiler itself says that it does nothing.
    if let Some(track_caller) = function
        .track_caller
        .as_ref()
        .filter(|_| asyncness.is_none())
    {
        errors.at(
            track_caller,
            "the body of a guarded function is called by the breaker, so `#[track_caller]` would name a \
             place in here: remove it, and take the caller's `&'static Location<'static>` as a parameter \
             if you need it",
        );
    }
    sync(args, function, errors);
    output_type(args, function, errors);
    parameters(args, function, errors);
    key(args, function, errors);
}

/// The key is made before the parameters are taken apart.
fn key(args: &Args, function: &Function, errors: &mut Errors) {
    let Some(arg) = args.get("key") else { return };
    if expression::is_closure(arg.value.written.clone()) {
        return errors.at(
            &arg.value.written,
            "a key is an expression over the parameters, without a closure: `key = host`",
        );
    }
    if let Some(Expr::Lit(literal)) = expression::read(&arg.value.written) {
        return errors.at(&arg.value.written, constant_key(&literal.lit, function));
    }
    if let Some(leaves) = leaving(arg.value.written.clone()) {
        errors.at(
            leaves,
            "the key is made before the call is permitted, so it cannot leave or suspend the function: \
             give calls without a key one of their own, such as `unwrap_or(\"none\")`",
        );
    }
    let is_name = |token: &TokenTree| !token.to_string().starts_with(char::is_uppercase);
    let mut used = Vec::new();
    variables(arg.value.written.clone(), &mut used);
    for input in &function.signature.inputs {
        let InputKind::Typed(typed) = &input.kind else {
            continue;
        };
        if matches!(typed.binds(), Pattern::Name { .. }) {
            continue;
        }
        let mut bound = Vec::new();
        variables(typed.pattern.clone(), &mut bound);
        // `Unit` in a pattern is the unit struct, not a name.
        bound.retain(is_name);
        let both = used.iter().find_map(|used| {
            let name = bound.iter().find(|bound| uses(used, bound))?;
            Some((used, name))
        });
        if let Some((used, name)) = both {
            errors.at(
                used,
                format!(
                    "the key is made before this parameter is taken apart, so it cannot use \
                     `{name}`: give the parameter a name and say `name.field` here"
                ),
            );
        }
    }
}

/// What to say of a key that is a literal: perhaps a parameter was meant.
fn constant_key(literal: &Lit, function: &Function) -> String {
    let text = match literal {
        Lit::Str(text) => text.value(),
        _ => String::new(),
    };
    let meant = text.trim_matches(['{', '}']);
    let first = meant.split('.').next().unwrap_or_default();
    let mut inputs = function.signature.inputs.iter();
    let is_param = inputs.any(|input| match &input.kind {
        InputKind::Typed(typed) => {
            matches!(typed.binds(), Pattern::Name { ident, .. } if ident == first)
        }
        InputKind::Receiver(_) => first == "self",
    });
    if is_param {
        format!("this key is the same for all calls: write `key = {meant}`, without quotes")
    } else if text.contains('{') {
        format!("this key is the same for all calls: write `key = format!({text:?})`")
    } else {
        "one key for all calls keeps nothing apart: leave `key` out, or make it of the parameters"
            .into()
    }
}

/// What ends or suspends the function around an expression.
fn leaving(tokens: TokenStream) -> Option<TokenTree> {
    tokens.into_iter().find_map(|token| match &token {
        TokenTree::Group(group) => leaving(group.stream()),
        TokenTree::Punct(punct) => (punct.as_char() == '?').then_some(token),
        TokenTree::Ident(word) => (word == "return" || word == "await").then_some(token),
        TokenTree::Literal(_) => None,
    })
}

/// The names of variables in `tokens`, and the text of literals, which may be format strings. Not
/// those of fields, paths, functions and macros.
fn variables(tokens: TokenStream, found: &mut Vec<TokenTree>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |token: Option<&TokenTree>, any: &str| matches!(token, Some(TokenTree::Punct(punct)) if any.contains(punct.as_char()));
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(_) => {
                let next = tokens.get(at + 1);
                let within = at > 0 && punct(tokens.get(at - 1), ".:");
                let called = matches!(next, Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::Bracket);
                if !within && !called && !punct(next, ":!") {
                    found.push(token.clone());
                }
            }
            TokenTree::Group(group) => variables(group.stream(), found),
            TokenTree::Literal(_) => found.push(token.clone()),
            TokenTree::Punct(_) => {}
        }
    }
}

/// Whether `used` is the variable `bound`, or a format string with it.
fn uses(used: &TokenTree, bound: &TokenTree) -> bool {
    let (used, bound) = match (used, bound) {
        (TokenTree::Literal(used), TokenTree::Ident(bound)) => (used.to_string(), bound),
        (TokenTree::Ident(used), TokenTree::Ident(bound)) => {
            return used == bound && used != "mut" && used != "ref";
        }
        _ => return false,
    };
    let named = format!("{{{bound}");
    used.match_indices(&named)
        .any(|(at, _)| used[at + named.len()..].starts_with([':', '}']))
}

/// What only an async function can have.
fn sync(args: &Args, function: &Function, errors: &mut Errors) {
    if function.is_async() {
        return;
    }
    for name in ["timeout", "half_open_timeout"] {
        let arg = args.get(name);
        if let Some(timeout) = arg.filter(|arg| !matches!(arg.value.what, What::Off)) {
            errors.at(
                &timeout.ident,
                format!(
                    "`{name}` needs an `async fn`: a blocking call cannot be interrupted, \
                     so set the client's own timeout instead"
                ),
            );
        }
    }
    if let Some(on_cancel) = args.get("on_cancel") {
        errors.at(
            &on_cancel.ident,
            "`on_cancel` needs an `async fn`: a blocking call cannot be cancelled",
        );
    }
}

fn output_type(args: &Args, function: &Function, errors: &mut Errors) {
    for name in ["ignore", "record"] {
        if let Some(arg) = args.get(name).filter(|_| function.returns_unit()) {
            errors.at(
                &arg.ident,
                format!("`{name}` tells errors apart, but this function returns none"),
            );
        }
    }
    let plain = |ty: &syn::Type| matches!(ty, syn::Type::ImplTrait(_)) && !output::is_future(ty);
    let no_result = function.returns_unit() || function.output().is_some_and(plain);
    if no_result && !args.mentions("fallback") {
        errors.push(syn::Error::new(
            function.output_span(),
            "this function returns no `Result`, so a rejected call has nothing to return: \
             add `fallback = some_function`, or return a `Result`",
        ));
    }
    let Some(ty) = function.output() else { return };
    let visible = function.made.as_ref().is_none_or(|made| made.visible);
    if matches!(ty, syn::Type::Never(_)) {
        errors.at(
            ty,
            "a function that never returns has no outcome for a circuit breaker",
        );
    } else if output::is_future(ty) {
        errors.at(
            ty,
            "only the making of this future would be guarded, not its work: write `async fn` and \
             return what the future ends with, or return `impl Future<Output = …>` or \
             `Pin<Box<dyn Future<Output = …>>>`",
        );
    } else if visible && output::is_associated_future(ty) {
        errors.at(
            ty,
            "only the making of this future would be guarded, not its work: write its type out, \
             `Pin<Box<dyn Future<Output = …> + Send>>`, here and where it is defined",
        );
    } else if visible && output::is_opaque(ty, function) && !args.mentions("failure_if") {
        errors.at(
            ty,
            "it cannot be told whether this type is a `Result`, whose errors would go unnoticed: \
             return `Result<_, _>`, or say with `failure_if` which values are failures",
        );
    }
}

fn parameters(args: &Args, function: &Function, errors: &mut Errors) {
    if !args.mentions("fallback") {
        return;
    }
    let typed = |input: &&Input| matches!(input.kind, InputKind::Typed(_));
    if let Some(extra) = function
        .signature
        .inputs
        .iter()
        .filter(typed)
        .nth(MAX_PARAMS)
    {
        errors.at(
            extra,
            format!("a function with a fallback can have at most {MAX_PARAMS} parameters"),
        );
    }
    lent(function, errors);
    let Some(fallback) = args.get("fallback") else {
        return;
    };
    let own = &function.signature.ident;
    if let Some(Expr::Path(path)) = expression::read(&fallback.value.written) {
        let names: Vec<_> = path.path.segments.iter().map(|part| &part.ident).collect();
        let itself = match names[..] {
            [name] => name == own && function.receiver().is_none(),
            [first, name] => first == "Self" && name == own,
            _ => false,
        };
        if itself {
            errors.at(
                path,
                "this function cannot be its own fallback: it would be rejected again",
            );
        }
    }
}

/// A future that has been made holds its `&mut` parameters, so a fallback cannot be lent them. One
/// that is a single block takes them when it is polled, as an async function's does.
fn lent(function: &Function, errors: &mut Errors) {
    if !function.is_early() {
        return;
    }
    for input in &function.signature.inputs {
        if param::is_lent(input) {
            errors.at(
                input,
                "the returned future holds this `&mut`, so the fallback cannot be given it too: write \
                 an `async fn`, or let the whole body be one `async move` block",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    #[test]
    fn a_key_may_use_what_no_pattern_binds() {
        let refused = |key: &str| {
            let mut errors = Errors::default();
            let key: TokenStream = key.parse().unwrap();
            let args = Args::parse(quote!(name = "a", key = #key), &mut errors);
            let function = quote! {
                fn f(a: u8, mut b: u8, Unit: Unit, (None, c): D, E { f, g: [h, ..] }: E) -> R {}
            };
            item(&args, &syn::parse2(function).unwrap(), &mut errors);
            !errors.is_empty()
        };
        for free in [
            "a",
            "a + b",
            "Unit",
            "x.c",
            "f::c(a)",
            "None::<u8>",
            "g",
            "format!(\"{{c\")",
        ] {
            assert!(!refused(free), "{free}");
        }
        for bound in ["c", "a + f", "h.g", "\"{c}\"", "format!(\"{c}\")"] {
            assert!(refused(bound), "{bound}");
        }
    }
}
