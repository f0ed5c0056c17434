//! The rewritten function.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::args::Args;
use crate::call::Call;
use crate::errors::Errors;
use crate::fallback::Fallback;
use crate::function::{self, Function, Item};
use crate::limits::Limits;
use crate::output::{concrete, has_impl, without_impl};
use crate::param;
use crate::private::Private;
use crate::types::error_type;
use crate::{body, check, made, recover, site, veil};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if let Ok(parsed) = syn::parse2(item.clone()) {
        return expanded(&arguments, &item, Ok(parsed));
    }
    // What is no function even so may lack its body, and end in something to be hidden as well.
    let parsed =
        syn::parse2(veil::head(item.clone())).or_else(|_| syn::parse2(veil::veil(item.clone())));
    veil::lift(expanded(&arguments, &item, parsed))
}

fn expanded(arguments: &TokenStream, item: &TokenStream, parsed: syn::Result<Item>) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(arguments.clone(), &mut errors);
    let runtime = args.runtime();
    let parsed = match parsed {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            errors.push(no_function(item, error));
            None
        }
    };
    let parsed = match parsed {
        Some(Item::Function(function)) => match function.conditional() {
            Some(at) => return per_condition(*function, at, arguments, &runtime),
            None => Some(Item::Function(function)),
        },
        parsed => parsed,
    };
    check::arguments(&args, &mut errors);
    if let Some(item) = &parsed {
        check::item(&args, item, &mut errors);
    }
    let private = Private::of(&runtime);
    let limits = Limits::of(&args, &private);
    match parsed {
        Some(Item::Function(function)) if errors.is_empty() => {
            guarded(&args, &runtime, &private, &limits, *function)
        }
        parsed => recover::item(item, parsed.as_ref(), &limits, errors),
    }
}

fn no_function(item: &TokenStream, error: syn::Error) -> syn::Error {
    use proc_macro2::TokenTree;
    let tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let is_function = tokens
        .windows(2)
        .any(|pair| matches!(pair, [TokenTree::Ident(word), TokenTree::Ident(_)] if word == "fn"));
    if is_function {
        return error;
    }
    syn::Error::new_spanned(
        item,
        "a circuit breaker guards a function: put the attribute on the function or method that \
         makes the call",
    )
}

/// A parameter under `#[cfg]` makes two functions of one, each with an attribute of its own.
fn per_condition(
    function: Function,
    at: usize,
    arguments: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let Function {
        before,
        mut signature,
        inner,
        body,
        braces,
        ..
    } = function;
    let mut block = Group::new(Delimiter::Brace, quote!(#inner #body));
    block.set_span(braces);
    let mut inputs: Vec<_> = signature.inputs.into_iter().collect();
    let mut input = inputs.remove(at);
    let mut conditions = Vec::new();
    input.attributes.retain(|attribute| {
        let condition = function::is_cfg(attribute);
        if condition {
            conditions.push(match &attribute.meta {
                syn::Meta::List(list) => list.tokens.clone(),
                meta => meta.to_token_stream(),
            });
        }
        !condition
    });
    signature.inputs = inputs.into_iter().collect();
    let without = signature.to_token_stream();
    signature.inputs.insert(at, input);
    quote! {
        #[cfg(all(#(#conditions),*))]
        #[#runtime::circuit_breaker(#arguments)]
        #before #signature #block
        #[cfg(not(all(#(#conditions),*)))]
        #[#runtime::circuit_breaker(#arguments)]
        #before #without #block
    }
}

fn guarded(
    args: &Args,
    runtime: &TokenStream,
    p: &Private,
    limits: &TokenStream,
    mut function: Function,
) -> TokenStream {
    let output = function
        .output()
        .map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let has_impl = has_impl(&output);
    let output = if has_impl {
        without_impl(output)
    } else {
        output
    };
    let output_span = function.output_span();
    let error = function
        .output()
        .and_then(error_type)
        .map(ToTokens::to_token_stream);
    let receiver = function.receiver().map(param::receiver);
    let has_fallback = args.get("fallback").is_some();
    let params = if function.made.is_some() && !has_fallback {
        Vec::new()
    } else {
        param::name_params(&mut function.signature, has_fallback)
    };
    let fallback = Fallback::new(args, &function, receiver, &params);
    let lends = fallback.as_ref().is_some_and(Fallback::lends);
    let keep = fallback.as_ref().map(|fallback| fallback.keep(p));
    let site = site::site(args, runtime, p, limits);
    let call = Call {
        args,
        p,
        output: &output,
        output_span,
        error: error.as_ref(),
        has_impl,
        fallback,
    };
    let visible = function.made.as_ref().is_none_or(|made| made.visible);
    let concrete = match function.output() {
        Some(ty) if visible && args.get("failure_if").is_none() => concrete(ty),
        _ => None,
    };
    let braces = function.braces;
    let enters = quote_spanned!(Span::mixed_site()=> let site = #site;);
    let call = match &function.made {
        // Here the parameters are still there when permission is asked.
        Some(made) if made.is_block() && (has_fallback || args.get("key").is_some()) => {
            let user = made.tail.work.block();
            let edge = call.edge();
            let body = body::future(&user, braces, &params, &output, lends, &edge, p);
            let call = call.asynchronous(&body);
            // Behind a call: a bare `async` block would be taken for one that the user could have
            // written as an `async fn`.
            let block = quote_spanned! {Span::mixed_site()=>
                ::core::convert::identity(async move { #enters #keep #call })
            };
            made::wrapped(made, &block)
        }
        Some(made) => {
            let future = made::body(&function, made, &params, &output, p);
            let future = made::wrapped(made, &call.made(&future, &site));
            quote!(#keep #future)
        }
        None if function.is_async() => {
            let edge = call.edge();
            let body = body::future(&function.body, braces, &params, &output, lends, &edge, p);
            let call = call.asynchronous(&body);
            quote!(#enters #keep #call)
        }
        None => {
            let body = body::closure(&function, &params, &output, lends, p);
            let call = call.sync(&body);
            quote!(#enters #keep #call)
        }
    };

    let Function {
        before,
        signature,
        inner,
        braces,
        ..
    } = &function;
    let mut block = Group::new(
        Delimiter::Brace,
        quote_spanned! {Span::mixed_site()=>
            #inner
            #concrete
            #call
        },
    );
    block.set_span(*braces);
    quote!(#before #signature #block)
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenTree;

    use super::*;

    const ARGUMENTS: &str = "name = \"a\", window = 100, slow = \"2s\", slow_rate = 50.5, \
        ignore = [B, C::D(1..=2) | e::F, |g| g.h(), type(i)], fallback = Self::j::<K, L>, \
        fallback_on = \"failure\", wait = m::N, crate = ::o";
    const ITEM: &str = "#[p] pub(crate) async unsafe fn q<'a, T: R>(&mut self, (s, mut t): (u, v), \
        #[w] _: impl X<Y>, z: &'a mut [u8]) -> Result<impl A + 'a, B<C>> where T: D { #![e] f }";

    const MADE: &str = "fn q<'a>(&'a self, (s, mut t): (u, v), w: String) \
        -> Pin<Box<dyn Future<Output = Result<x, y>> + Send + 'a>> { a(); Box::pin(async move { b.await }) }";

    const ODD_ARGUMENTS: &str = "name = \"a\", key = if b < c { d } else { j }, min_calls = 1 + match f { _ => 2 }, \
        ignore = A::<{ let b = 1; b }>::C(1) | D | E::F { g: 1, .. }, failure_if = move |h: &I<J, K>| h.l < 2, \
        retry_after = for<'a> |m: &'a u8| -> O { p }";
    const ODD_ITEM: &str = "extern \"C\" fn q(mut self: Box<Self>, A::<B, C>::D { e, .. }: F<{ if G { 1 } else { 2 } }>, \
        [h, .., i]: [u8; loop { break 3 }], _: u8, mut j: u8, #[k] l: &mut M) \
        -> impl Future<Output = Result<[u8; [1, 2][0]], O>> + use<P> where [(); unsafe { 1 }]: Sized { q() }";

    /// Drops, repeats, or swaps tokens, here and there and within groups.
    fn damage(tokens: TokenStream, dice: &mut impl FnMut(usize) -> usize) -> TokenStream {
        let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
        for _ in 0..dice(3) {
            let at = dice(trees.len().max(1));
            match (dice(4), trees.get(at).cloned()) {
                (0, Some(_)) => drop(trees.remove(at)),
                (1, Some(tree)) => trees.insert(dice(trees.len()), tree),
                (2, Some(_)) => trees.swap(at, 0),
                (_, Some(TokenTree::Group(group))) => {
                    let inside = damage(group.stream(), dice);
                    trees[at] = Group::new(group.delimiter(), inside).into();
                }
                _ => {}
            }
        }
        trees.into_iter().collect()
    }

    /// `CB_SEQUENCES` says how often.
    #[test]
    fn no_tokens_make_it_panic() {
        let rounds = std::env::var("CB_SEQUENCES").map_or(2_000, |n| n.parse().unwrap());
        let mut state = 1_usize;
        let mut dice = |sides: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % sides
        };
        let mut accepted = 0;
        for _ in 0..rounds {
            let arguments = [ARGUMENTS, ARGUMENTS, ODD_ARGUMENTS][dice(3)];
            let arguments = damage(arguments.parse().unwrap(), &mut dice);
            let item = [ITEM, MADE, ODD_ITEM][dice(3)];
            let item = damage(item.parse().unwrap(), &mut dice);
            let expansion = expand(arguments, item.clone()).to_string();
            assert!(!expansion.is_empty() || item.is_empty());
            assert!(
                !expansion.contains("__cb_") && !expansion.contains("syn's"),
                "{expansion}"
            );
            accepted += usize::from(!expansion.contains("compile_error"));
        }
        assert!(
            accepted > rounds / 20,
            "{accepted} were accepted: the damage is too great to tell"
        );
    }

    #[test]
    fn what_was_hidden_changes_nothing_else() {
        for item in [
            "fn f(a: u8) -> impl Future<Output = R> + use<> { let _ = 0; async move { a } }",
            "fn f(self: &A<{ 0; 1 }>, (a, _): (u8, u8)) -> R { [0; a] }",
            "async fn f<'a>(a: u8, #[b] c: &'a [u8; { 0; 1 }]) -> Result<R, A<{ 0; 1 }>> { a }",
        ] {
            let plain = item.replace(" + use<>", "").replace("{ 0; 1 }", "{ 1 }");
            let expanded = |item: &str| {
                let arguments = quote!(name = "a", ignore = B, fallback = c);
                let expansion = expand(arguments, item.parse().unwrap()).to_string();
                expansion.split_whitespace().collect::<String>()
            };
            let lifted = expanded(item).replace("+use<>", "").replace("{0;1}", "{1}");
            assert_eq!(lifted, expanded(&plain));
            assert!(!lifted.contains("compile_error"), "{lifted}");
        }
    }

    #[test]
    fn a_head_that_ends_too_early_is_reported_as_such() {
        let item = "fn f() -> A<{ if b { 1 } else { 2 } }";
        let expansion = expand(quote!(name = "a"), item.parse().unwrap()).to_string();
        assert!(expansion.contains("expected"), "{expansion}");
        assert!(!expansion.contains("syn's"), "{expansion}");
    }

    /// Else there would be little to damage.
    #[test]
    fn what_is_damaged_was_accepted() {
        for (arguments, item) in [
            (ARGUMENTS, ITEM),
            (ARGUMENTS, MADE),
            (ODD_ARGUMENTS, ODD_ITEM),
        ] {
            let expansion = expand(arguments.parse().unwrap(), item.parse().unwrap()).to_string();
            assert!(!expansion.contains("compile_error"), "{expansion}");
        }
    }

    /// As an editor sees it while the user types: what is there stays, so that names complete.
    #[test]
    fn a_body_that_does_not_parse_yet_is_kept() {
        for item in [
            "fn f(a: u8) -> Reply { let b = a. ; if a }",
            "async fn f(a: u8) -> Reply { self.client. ; match }",
            "fn f(a: u8) -> impl Future<Output = Reply> { let b = a. ; async move { b. } }",
            "fn f(a: u8) -> BoxFuture<'static, Reply> { Box::pin(async move { let b = a. ; }) }",
        ] {
            let arguments = quote!(name = "a");
            let expansion = expand(arguments, item.parse().unwrap()).to_string();
            assert!(!expansion.contains("compile_error"), "{expansion}");
            assert!(expansion.contains(". ;"), "{expansion}");
            let broken = expand(quote!(name = ), item.parse().unwrap()).to_string();
            assert!(
                broken.contains("compile_error") && broken.contains(". ;"),
                "{broken}"
            );
        }
    }
}
