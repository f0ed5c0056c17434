//! A parameter as it was written: its pattern stays tokens, of which the compiler makes sense later.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Lifetime, Token, Type};

pub(crate) struct Input {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) kind: InputKind,
}

pub(crate) enum InputKind {
    Receiver(Receiver),
    Typed(Typed),
}

pub(crate) struct Receiver {
    reference: Option<(Token![&], Option<Lifetime>)>,
    pub(crate) mutability: Option<Token![mut]>,
    pub(crate) this: Token![self],
    pub(crate) ty: Option<(Token![:], Type)>,
}

pub(crate) struct Typed {
    pub(crate) pattern: TokenStream,
    colon: Token![:],
    pub(crate) ty: Type,
}

/// What a pattern binds, as far as that matters.
pub(crate) enum Pattern {
    /// `name`, or `mut name`.
    Name {
        ident: Ident,
        mutable: bool,
    },
    Wild,
    Other,
}

impl Receiver {
    pub(crate) fn is_reference(&self) -> bool {
        self.reference.is_some()
    }
}

impl Typed {
    pub(crate) fn binds(&self) -> Pattern {
        let mut trees = Vec::new();
        flatten(self.pattern.clone(), &mut trees);
        let (mutable, ident) = match &trees[..] {
            [TokenTree::Ident(word)] if word == "_" => return Pattern::Wild,
            [TokenTree::Ident(ident)] => (false, ident),
            [TokenTree::Ident(word), TokenTree::Ident(ident)] if word == "mut" => (true, ident),
            _ => return Pattern::Other,
        };
        // `Unit` in a pattern is the unit struct, not a name.
        if ident.to_string().starts_with(char::is_uppercase) {
            return Pattern::Other;
        }
        Pattern::Name {
            ident: ident.clone(),
            mutable,
        }
    }
}

/// The tokens without the invisible groups that `macro_rules!` puts around what it captured.
fn flatten(tokens: TokenStream, trees: &mut Vec<TokenTree>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::None => {
                flatten(group.stream(), trees);
            }
            tree => trees.push(tree),
        }
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let kind = if input.fork().call(this).is_ok() {
            InputKind::Receiver(input.parse()?)
        } else {
            InputKind::Typed(Typed {
                pattern: pattern(input)?,
                colon: input.parse()?,
                ty: input.parse()?,
            })
        };
        Ok(Self { attributes, kind })
    }
}

impl Parse for Receiver {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut receiver = this(input)?;
        if !receiver.is_reference() && input.peek(Token![:]) {
            receiver.ty = Some((input.parse()?, input.parse()?));
        }
        Ok(receiver)
    }
}

/// A receiver up to its `self`, which is no receiver in `self::Unit`.
fn this(input: ParseStream<'_>) -> syn::Result<Receiver> {
    let reference = match input.parse::<Option<Token![&]>>()? {
        Some(and) => Some((and, input.parse()?)),
        None => None,
    };
    let receiver = Receiver {
        reference,
        mutability: input.parse()?,
        this: input.parse()?,
        ty: None,
    };
    if input.peek(Token![::]) {
        return Err(input.error("expected a receiver"));
    }
    Ok(receiver)
}

/// Everything before the `:` that the type follows.
pub(crate) fn pattern(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    // Between the angle brackets of a path there may be commas.
    let mut depth = 0;
    loop {
        if input.peek(Token![::]) {
            input.parse::<Token![::]>()?.to_tokens(&mut tokens);
        } else if input.peek(Token![:]) && !tokens.is_empty() {
            return Ok(tokens);
        } else if input.is_empty() || input.peek(Token![,]) && depth == 0 {
            return Err(input.error("expected `:`"));
        } else {
            let tree: TokenTree = input.parse()?;
            match &tree {
                TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
                TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
                _ => {}
            }
            tokens.append(tree);
        }
    }
}

impl ToTokens for Input {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attributes);
        match &self.kind {
            InputKind::Receiver(receiver) => {
                if let Some((and, lifetime)) = &receiver.reference {
                    and.to_tokens(tokens);
                    lifetime.to_tokens(tokens);
                }
                receiver.mutability.to_tokens(tokens);
                receiver.this.to_tokens(tokens);
                if let Some((colon, ty)) = &receiver.ty {
                    colon.to_tokens(tokens);
                    ty.to_tokens(tokens);
                }
            }
            InputKind::Typed(typed) => {
                typed.pattern.to_tokens(tokens);
                typed.colon.to_tokens(tokens);
                typed.ty.to_tokens(tokens);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group};
    use quote::quote;

    use super::*;

    fn captured(tokens: TokenStream) -> TokenStream {
        TokenTree::from(Group::new(Delimiter::None, tokens)).into()
    }

    /// `name`, `mut name`, `_` or `…`.
    fn binds(pattern: TokenStream) -> String {
        let ty = captured(quote!(&mut u8));
        let input: Input = syn::parse2(quote!(#pattern: #ty)).unwrap();
        let InputKind::Typed(typed) = input.kind else {
            panic!("{pattern} is a receiver")
        };
        match typed.binds() {
            Pattern::Name { ident, mutable } if mutable => format!("mut {ident}"),
            Pattern::Name { ident, .. } => ident.to_string(),
            Pattern::Wild => "_".into(),
            Pattern::Other => "…".into(),
        }
    }

    #[test]
    fn tells_names_from_patterns() {
        for name in ["a", "_a", "r#type", "mut a", "_"] {
            assert_eq!(binds(name.parse().unwrap()), name);
            let captured = captured(name.parse().unwrap());
            assert_eq!(binds(captured.clone()), name, "captured");
            assert_eq!(binds(self::captured(captured)), name, "captured twice");
        }
        let a = captured(quote!(a));
        assert_eq!(binds(quote!(mut #a)), "mut a");
        for pattern in [
            "ref a",
            "ref mut a",
            "a @ _",
            "Unit",
            "&a",
            "(a)",
            "(a, b)",
            "A::B",
            "[a]",
            "..",
            "m!(a)",
            "A { a }",
            "A::<B, C>::D(a)",
            "<A as B>::C",
        ] {
            assert_eq!(binds(pattern.parse().unwrap()), "…", "{pattern}");
        }
    }
}
