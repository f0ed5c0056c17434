//! The head of a function. Read here rather than by syn, whose own takes a feature that costs every user build time.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Abi, Attribute, Error, Generics, ReturnType, Token, parenthesized, token};

use crate::input::{Input, InputKind, Receiver, pattern};

pub(crate) struct Signature {
    pub(crate) constness: Option<Token![const]>,
    pub(crate) asyncness: Option<Token![async]>,
    unsafety: Option<Token![unsafe]>,
    abi: Option<Abi>,
    fn_token: Token![fn],
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    paren: token::Paren,
    pub(crate) inputs: Punctuated<Input, Token![,]>,
    /// `args: ...` and what follows it.
    pub(crate) variadic: Option<TokenStream>,
    pub(crate) output: ReturnType,
}

impl Signature {
    pub(crate) fn receiver(&self) -> Option<&Receiver> {
        match &self.inputs.first()?.kind {
            InputKind::Receiver(receiver) => Some(receiver),
            InputKind::Typed(_) => None,
        }
    }
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let constness = input.parse()?;
        let asyncness = input.parse()?;
        let unsafety = input.parse()?;
        let abi = input.parse()?;
        let fn_token = input.parse()?;
        let ident = input.parse()?;
        let mut generics: Generics = input.parse()?;
        let content;
        let paren = parenthesized!(content in input);
        let (inputs, variadic) = inputs(&content)?;
        let output = input.parse()?;
        generics.where_clause = input.parse()?;
        Ok(Self {
            constness,
            asyncness,
            unsafety,
            abi,
            fn_token,
            ident,
            generics,
            paren,
            inputs,
            variadic,
            output,
        })
    }
}

type Inputs = (Punctuated<Input, Token![,]>, Option<TokenStream>);

fn inputs(content: ParseStream<'_>) -> syn::Result<Inputs> {
    let mut inputs = Punctuated::<Input, Token![,]>::new();
    while !content.is_empty() {
        if let Some(variadic) = variadic(content)? {
            return Ok((inputs, Some(variadic)));
        }
        let input: Input = content.parse()?;
        if let InputKind::Receiver(receiver) = &input.kind {
            if !inputs.is_empty() {
                let message = "the receiver comes first";
                return Err(Error::new(receiver.this.span, message));
            }
        }
        inputs.push_value(input);
        if content.is_empty() {
            break;
        }
        inputs.push_punct(content.parse()?);
    }
    Ok((inputs, None))
}

fn variadic(content: ParseStream<'_>) -> syn::Result<Option<TokenStream>> {
    let ahead = content.fork();
    ahead.call(Attribute::parse_outer)?;
    if !ahead.peek(Token![...]) {
        let named = pattern(&ahead).is_ok() && ahead.parse::<Token![:]>().is_ok();
        if !(named && ahead.peek(Token![...])) {
            return Ok(None);
        }
    }
    content.parse().map(Some)
}

impl ToTokens for Signature {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.constness.to_tokens(tokens);
        self.asyncness.to_tokens(tokens);
        self.unsafety.to_tokens(tokens);
        self.abi.to_tokens(tokens);
        self.fn_token.to_tokens(tokens);
        self.ident.to_tokens(tokens);
        self.generics.to_tokens(tokens);
        self.paren.surround(tokens, |tokens| {
            self.inputs.to_tokens(tokens);
            if let Some(variadic) = &self.variadic {
                let comma = (!self.inputs.empty_or_trailing()).then(|| quote!(,));
                tokens.extend(quote!(#comma #variadic));
            }
        });
        self.output.to_tokens(tokens);
        self.generics.where_clause.to_tokens(tokens);
    }
}

#[cfg(test)]
mod tests {
    use crate::veil::{lift, veil};

    use super::*;

    fn squeezed(tokens: &impl ToString) -> String {
        tokens.to_string().split_whitespace().collect()
    }

    /// Those that are read at once.
    const PLAIN: &[&str] = &[
        "fn f()",
        "const async unsafe extern \"C\" fn f<'a, 'b: 'a, T: ?Sized + 'b, const N: usize>() -> [T; N]",
        "extern fn r#fn<r#T>(r#type: r#T,) -> r#T where for<'y> &'y r#T: A<B = C>, [u8; N]: Sized",
        "fn f(self)",
        "fn f(mut self, a: u8,)",
        "fn f(&self, self::U: U)",
        "fn f(&'a mut self)",
        "fn f(&'_ self)",
        "fn f(#[a] #[b(c)] self: &mut Self, #[cfg(d)] e: u8)",
        "fn f(mut self: std::pin::Pin<&mut Self>)",
        "fn f((a, mut b): (u8, u8), [c, .., d]: [u8; 4], &e: &u8, ref mut g: u8, h @ 1..=2: u8)",
        "fn f(Foo::<A, B>::C { a, b: d::E(..) }: Foo, <T as U<V>>::W: X, (a | b): u8, m!(c: d): u8, _: u8)",
        "fn f(a: impl Fn(&u8) -> bool + 'a, b: &dyn A, c: Box<dyn A + B>, d: for<'a> fn(&'a u8) -> &'a u8)",
        "fn f(a: [u8; N + 1], b: Foo<{ N }, -1, A = B, C: D>, c: <T as U>::V, d: (A,), e: *const u8, g: m!(x))",
        "fn f<F>(a: F) -> impl Future<Output = u8> + 'static where F: for<'a> Fn(&'a u8) -> &'a u8",
        "unsafe extern \"C\" fn f(a: u8, ...)",
        "unsafe extern \"C\" fn f(a: u8, #[b] args: ...,)",
    ];

    /// Those with something to hide.
    const VEILED: &[&str] = &[
        "fn f() -> impl Future<Output = u8> + use<'a, T> + Send",
        "fn f() -> Result<impl Iterator<Item = u8> + use<>, E>",
        "fn f(a: [u8; { let x = 1; x }], b: [[u8; match A { _ => 1 }]; 'a: { break 'a 2 }])",
        "fn f(Foo { a, b: [c, d] }: Foo<{ if A { 1 } else { 2 } }>) -> [u8; [1, 2][0]]",
        "fn f() where Assert<{ loop { break true } }>: True, [(); unsafe { g() }]: Sized",
    ];

    #[test]
    fn prints_what_it_read() {
        for head in PLAIN {
            let tokens: TokenStream = head.parse().unwrap();
            let read: Signature = syn::parse2(tokens.clone()).expect(head);
            assert_eq!(squeezed(&read.to_token_stream()), squeezed(&tokens));
        }
        for head in PLAIN.iter().chain(VEILED) {
            let tokens: TokenStream = head.parse().unwrap();
            let read: Signature = syn::parse2(veil(tokens.clone())).expect(head);
            assert_eq!(squeezed(&lift(read.to_token_stream())), squeezed(&tokens));
        }
    }

    #[test]
    fn knows_its_receiver() {
        for (head, given) in [
            ("fn f(self)", true),
            ("fn f(mut self)", true),
            ("fn f(&'a mut self)", true),
            ("fn f(#[a] self: Box<Self>)", true),
            ("fn f(self::U: U)", false),
            ("fn f(&self::U: &U)", false),
            ("fn f(a: u8)", false),
        ] {
            let read: Signature = syn::parse_str(head).unwrap();
            assert_eq!(read.receiver().is_some(), given, "{head}");
        }
    }

    #[test]
    fn refuses_what_is_no_head() {
        for head in [
            "fn f(a)",
            "fn f(a: )",
            "fn f(: u8)",
            "fn f(a: u8 b: u8)",
            "fn f(a, b: u8)",
            "fn f(a: u8, self)",
            "fn f(..., a: u8",
            "fn f<T(a: u8)",
            "fn (a: u8)",
            "safe fn f()",
        ] {
            assert!(syn::parse_str::<Signature>(head).is_err(), "{head}");
        }
    }
}
