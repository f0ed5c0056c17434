//! The rewritten function.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use crate::args::Args;
use crate::call::Call;
use crate::errors::Errors;
use crate::fallback::Fallback;
use crate::limits::Limits;
use crate::output::{concrete, has_impl, without_impl};
use crate::private::Private;
use crate::signature::{self, Function, Item};
use crate::types::error_type;
use crate::{body, check, made, recover, site};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(arguments.clone(), &mut errors);
    let runtime = args.runtime();
    let parsed = match syn::parse2::<Item>(item.clone()) {
        Ok(parsed) => Some(parsed),
        Err(error) => {
            errors.push(no_function(&item, error));
            None
        }
    };
    if let Some(Item::Function(function)) = &parsed {
        if let Some(at) = function.conditional() {
            return per_condition(function, at, &arguments, &runtime);
        }
    }
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
        parsed => recover::item(&item, parsed.as_ref(), &limits, errors),
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
    function: &Function,
    at: usize,
    arguments: &TokenStream,
    runtime: &TokenStream,
) -> TokenStream {
    let Function {
        before,
        signature,
        inner,
        body,
        braces,
        ..
    } = function;
    let mut block = Group::new(Delimiter::Brace, quote!(#inner #body));
    block.set_span(*braces);
    let (mut with, mut without) = (signature.clone(), signature.clone());
    let mut conditions = Vec::new();
    if let Some(input) = with.inputs.iter_mut().nth(at) {
        let attributes = match input {
            syn::FnArg::Receiver(receiver) => &mut receiver.attrs,
            syn::FnArg::Typed(typed) => &mut typed.attrs,
        };
        attributes.retain(|attribute| {
            let condition = signature::is_cfg(attribute);
            if condition {
                conditions.push(match &attribute.meta {
                    syn::Meta::List(list) => list.tokens.clone(),
                    meta => meta.to_token_stream(),
                });
            }
            !condition
        });
    }
    without.inputs = signature
        .inputs
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != at)
        .map(|(_, input)| input.clone())
        .collect();
    quote! {
        #[cfg(all(#(#conditions),*))]
        #[#runtime::circuit_breaker(#arguments)]
        #before #with #block
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
    let receiver = function.receiver().map(signature::receiver);
    let has_fallback = args.get("fallback").is_some();
    let params = if function.made.is_some() && !has_fallback {
        Vec::new()
    } else {
        signature::name_params(&mut function.signature, has_fallback)
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

    #[test]
    fn no_tokens_make_it_panic() {
        let mut state = 1_usize;
        let mut dice = |sides: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % sides
        };
        let mut accepted = 0;
        for _ in 0..2_000 {
            let arguments = damage(ARGUMENTS.parse().unwrap(), &mut dice);
            let item = [ITEM, MADE][dice(2)];
            let item = damage(item.parse().unwrap(), &mut dice);
            let expansion = expand(arguments, item.clone()).to_string();
            assert!(!expansion.is_empty() || item.is_empty());
            accepted += usize::from(!expansion.contains("compile_error"));
        }
        assert!(
            accepted > 100,
            "{accepted} were accepted: the damage is too great to tell"
        );
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
