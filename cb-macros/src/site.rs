//! The static that every guarded function owns.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::args::Args;
use crate::keys::Kind;
use crate::private::Private;
use crate::value::What;

/// A block with the static and the checks of its values in it, out of the body's sight; its value
/// is a reference to the static.
pub(crate) fn site(
    args: &Args,
    runtime: &TokenStream,
    p: &Private,
    limits: &TokenStream,
) -> TokenStream {
    let text = |name| match args.get(name).map(|arg| &arg.value.what) {
        Some(What::Text(text)) => Some(text),
        _ => None,
    };
    let name = text("name");
    let base = text("base").map(|base| quote!(.base(#base)));
    let config = config(args, p);
    let config_static = config
        .as_ref()
        .map(|config| quote_spanned!(Span::mixed_site()=> static __CONFIG: #p::Config = #config;));
    let config = config.map(|_| quote_spanned!(Span::mixed_site()=> .config(&__CONFIG)));
    let fallback = args.get("fallback").is_some();
    let function = function(args, p);
    let function_static = function.as_ref().map(|function| {
        let fallback = fallback.then(|| {
            let on = word(args.choice("fallback_on").unwrap_or("Rejected"));
            quote!(.fallback(#p::FallbackOn::#on))
        });
        quote_spanned! {Span::mixed_site()=>
            static __FUNCTION: #p::FunctionSettings = #function #fallback;
        }
    });
    // With the usual settings of functions it refers to a static of the runtime.
    let (new, function) = match function {
        Some(_) => (
            word("new"),
            Some(quote_spanned!(Span::mixed_site()=> .function(&__FUNCTION))),
        ),
        None => (word(if fallback { "answered" } else { "new" }), None),
    };
    quote_spanned! {Span::mixed_site()=> {
        #config_static
        #function_static
        static __SITE: #p::Site = #p::Site::#new(#name, ::core::module_path!())
            #base #config #function;
        #runtime::__announce!(__SITE);
        #limits
        &__SITE
    }}
}

/// What belongs to the function rather than to its breaker, as calls of the builder; `None` if that
/// is at most a fallback for rejections.
fn function(args: &Args, p: &Private) -> Option<TokenStream> {
    let limit = |name: &str| {
        let given = args
            .get(name)
            .filter(|arg| !matches!(arg.value.what, What::Off))?;
        let (setter, limit) = (word(name), given.value.expr(given.key.kind, p));
        Some(quote!(.#setter(#limit)))
    };
    let (timeout, half_open_timeout) = (limit("timeout"), limit("half_open_timeout"));
    let on_cancel = args.choice("on_cancel").map(|variant| {
        let variant = word(variant);
        quote!(.on_cancel(#p::OnCancel::#variant))
    });
    let keyed = args.get("key").map(|_| match args.get("max_keys") {
        Some(max) => {
            let max = max.value.expr(max.key.kind, p);
            quote!(.max_keys(#max))
        }
        None => quote!(.max_keys(#p::check::DEFAULT_MAX_KEYS)),
    });
    let setters = quote!(#timeout #half_open_timeout #on_cancel #keyed);
    let plain = setters.is_empty() && args.choice("fallback_on") != Some("Failure");
    (!plain).then(|| quote!(#p::FunctionSettings::new()#setters))
}

/// What belongs to the breaker rather than to this function, as calls of the builder.
fn config(args: &Args, p: &Private) -> Option<TokenStream> {
    let setters = args.iter().filter_map(|arg| {
        let name = arg.key.name;
        let choices = match name {
            "half_open_max_wait_state" => Some(word("MaxWaitState")),
            "mode" => Some(word("Mode")),
            _ => None,
        };
        let value = match (&arg.value.what, arg.key.kind) {
            // Of the function, not of the breaker.
            _ if matches!(name, "timeout" | "half_open_timeout" | "max_keys") => return None,
            (What::Off, _) => {
                let off = word(&format!("{name}_off"));
                return Some(quote!(.#off()));
            }
            (What::Choice(variant), _) => {
                let (choices, variant) = (choices?, word(variant));
                quote!(#p::#choices::#variant)
            }
            (
                _,
                Kind::Count
                | Kind::Percent
                | Kind::Factor
                | Kind::Duration
                | Kind::Window
                | Kind::Flag,
            ) => arg.value.expr(arg.key.kind, p),
            _ => return None,
        };
        let setter = word(name);
        Some(quote!(.#setter(#value)))
    });
    let setters: TokenStream = setters.collect();
    (!setters.is_empty()).then(|| quote!(#p::Config::new()#setters))
}

fn word(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
