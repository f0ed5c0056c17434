//! The static that every guarded function owns.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::args::{Args, Kind};
use crate::value::What;

/// A block with the static and the checks of its values in it, out of the body's sight; its value
/// is a reference to the static.
pub(crate) fn site(
    args: &Args,
    runtime: &TokenStream,
    p: &TokenStream,
    limits: &TokenStream,
) -> TokenStream {
    let text = |name| match args.get(name).map(|arg| &arg.value.what) {
        Some(What::Text(text)) => Some(text),
        _ => None,
    };
    let name = text("name");
    let base = match text("base") {
        Some(base) => quote!(::core::option::Option::Some(#base)),
        None => quote!(::core::option::Option::None),
    };
    let config = config(args, p);
    let limit = |name| {
        let arg = args.get(name);
        match arg.filter(|arg| !matches!(arg.value.what, What::Off)) {
            Some(arg) => {
                let limit = arg.value.expr(arg.key.kind, p);
                quote!(::core::option::Option::Some(#limit))
            }
            None => quote!(::core::option::Option::None),
        }
    };
    let (timeout, half_open_timeout) = (limit("timeout"), limit("half_open_timeout"));
    let on_cancel = match args.choice("on_cancel") {
        Some(variant) => {
            let variant = word(variant);
            quote!(::core::option::Option::Some(#p::OnCancel::#variant))
        }
        None => quote!(::core::option::Option::None),
    };
    let max_keys = match (args.get("key"), args.get("max_keys")) {
        (Some(_), Some(max)) => {
            let max = max.value.expr(max.key.kind, p);
            quote!(::core::option::Option::Some(#max))
        }
        (Some(_), None) => quote!(::core::option::Option::Some(#p::check::DEFAULT_MAX_KEYS)),
        (None, _) => quote!(::core::option::Option::None),
    };
    quote_spanned! {Span::mixed_site()=> {
        static SITE: #p::Site = #p::Site::new(
            #name,
            #base,
            #config,
            #p::Place {
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: ::core::line!(),
            },
            #p::FunctionSettings {
                timeout: #timeout,
                half_open_timeout: #half_open_timeout,
                on_cancel: #on_cancel,
                max_keys: #max_keys,
            },
        );
        #runtime::__announce!(SITE);
        #limits
        &SITE
    }}
}

/// What belongs to the breaker rather than to this function, as calls of the builder.
fn config(args: &Args, p: &TokenStream) -> TokenStream {
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
    quote!(#p::Config::new()#(#setters)*)
}

fn word(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
