//! The values of arguments.

use std::time::Duration;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Error, Expr, ExprLit, Lit, Path, Result};

use crate::classify::{self, Class};
use crate::expression;
use crate::keys::{Key, Kind, example};
use crate::private::Private;
use crate::span::{first_span, located};
use crate::suggest::nearest;
use crate::unit;

pub(crate) enum What {
    Off,
    /// The literal.
    Text(TokenStream),
    Count(u32),
    Number(f64),
    Time(Duration),
    Flag(bool),
    /// Left to the compiler, which evaluates it.
    Constant,
    Choice(&'static str),
    Classes(Vec<Class>),
    Predicate,
    Function,
    Path(Path),
    Expression,
}

pub(crate) struct Value {
    pub(crate) what: What,
    /// The tokens as they stand in the user's source.
    pub(crate) written: TokenStream,
}

impl Value {
    /// Where the value starts.
    pub(crate) fn span(&self) -> Span {
        first_span(&self.written)
    }

    /// The value as an expression of the type that the runtime's `Config` and checks take; `p` is
    /// the path of the runtime's private module.
    pub(crate) fn expr(&self, kind: Kind, p: &Private) -> TokenStream {
        let at = located(self.span());
        let literal = |mut literal: Literal| {
            literal.set_span(at);
            literal.into_token_stream()
        };
        match (&self.what, kind) {
            (What::Count(calls), Kind::Window) => {
                let calls = literal(Literal::u32_suffixed(*calls));
                quote!(#p::Window::Calls(#calls))
            }
            (What::Time(time), Kind::Window) => {
                let time = duration(*time);
                quote!(#p::Window::Time(#time))
            }
            (What::Count(count), _) => literal(Literal::u32_suffixed(*count)),
            (What::Number(number), _) => literal(Literal::f64_suffixed(*number)),
            (What::Time(time), _) => duration(*time),
            (What::Flag(flag), _) => {
                Ident::new(if *flag { "true" } else { "false" }, at).into_token_stream()
            }
            (What::Constant, kind) => {
                let written = &self.written;
                match kind {
                    Kind::Window => quote!(#p::Constant(#written).window()),
                    Kind::Percent | Kind::Factor => quote!(#p::Constant(#written).number()),
                    _ => quote!({ #written }),
                }
            }
            _ => self.written.clone(),
        }
    }
}

fn duration(time: Duration) -> TokenStream {
    let (seconds, nanos) = (time.as_secs(), time.subsec_nanos());
    quote!(::core::time::Duration::new(#seconds, #nanos))
}

/// Reads the tokens behind `key =`.
pub(crate) fn read(key: &Key, tokens: &[TokenTree]) -> Result<Value> {
    let written: TokenStream = tokens.iter().cloned().collect();
    let what = match key.kind {
        Kind::Classes => What::Classes(classify::parse(key.name, &written)?),
        Kind::Predicate => predicate(key, &written)?,
        Kind::Function => function(key, &written)?,
        Kind::Path => What::Path(
            Path::parse_mod_style
                .parse2(written.clone())
                .map_err(|_| wrong(key, &written, "a path"))?,
        ),
        Kind::Expression => {
            expression::read(&written).ok_or_else(|| wrong(key, &written, wanted(key.kind)))?;
            What::Expression
        }
        _ => simple(key, &written)?,
    };
    Ok(Value { what, written })
}

fn simple(key: &Key, written: &TokenStream) -> Result<What> {
    let expr = expression::read(written).ok_or_else(|| wrong(key, written, wanted(key.kind)))?;
    if matches!(&expr, Expr::Path(path) if path.path.is_ident("off")) {
        let instead = match key.name {
            _ if key.optional => return Ok(What::Off),
            "failure_rate" => "at 100 it opens only if all calls of the window fail",
            "slow_rate" => "leave `slow` out",
            _ => "leave it out for its default",
        };
        let message = format!("`{}` cannot be off; {instead}", key.name);
        return Err(Error::new_spanned(written, message));
    }
    let (negative, literal) = match &expr {
        Expr::Lit(ExprLit { lit, .. }) => (false, lit),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => match &*unary.expr {
            Expr::Lit(ExprLit { lit, .. }) => (true, lit),
            _ => return constant(key, &expr, written),
        },
        _ => return constant(key, &expr, written),
    };
    let refused = |message: String| Error::new_spanned(written, message);
    if let Some(message) = suffixed(key, literal) {
        return Err(refused(message));
    }
    if negative && !matches!(literal, Lit::Int(_) | Lit::Float(_)) {
        return Err(wrong(key, written, wanted(key.kind)));
    }
    match (key.kind, literal) {
        (Kind::Text, Lit::Str(text)) if text.value().trim().is_empty() => {
            Err(refused(format!("`{}` must not be empty", key.name)))
        }
        (Kind::Text, Lit::Str(text)) => Ok(What::Text(text.to_token_stream())),
        (Kind::Count | Kind::Window, Lit::Int(int)) if !negative => match int.base10_parse() {
            Ok(count) => Ok(What::Count(count)),
            Err(_) => Err(refused(format!(
                "`{}` can be at most {}",
                key.name,
                u32::MAX
            ))),
        },
        (Kind::Percent | Kind::Factor, Lit::Int(_) | Lit::Float(_)) => {
            let number = match literal {
                Lit::Int(int) => int.base10_parse::<f64>(),
                Lit::Float(float) => float.base10_parse::<f64>(),
                _ => return Err(wrong(key, written, wanted(key.kind))),
            };
            let number = number.ok().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| wrong(key, written, wanted(key.kind)))?;
            if key.kind == Kind::Percent && !negative && number > 0.0 && number <= 1.0 {
                return Err(refused(small_percent(key.name, number, literal)));
            }
            Ok(What::Number(if negative { -number } else { number }))
        }
        (Kind::Percent, Lit::Str(text)) => unit::percent(&text.value())
            .map(What::Number)
            .map_err(refused),
        (Kind::Duration, Lit::Str(text)) => unit::duration(&text.value())
            .map(What::Time)
            .map_err(refused),
        (Kind::Window, Lit::Str(text)) => match text.value().trim().parse::<u32>() {
            Ok(calls) => Err(refused(format!(
                "a `window` of calls is a number: `window = {calls}`; one of time has a unit: `window = \"{calls}s\"`"
            ))),
            Err(_) => unit::duration(&text.value())
                .map(What::Time)
                .map_err(refused),
        },
        (Kind::Duration, Lit::Int(_) | Lit::Float(_)) if !negative => Err(refused(format!(
            "`{0}` is a time and needs a unit: `{0} = \"{1}s\"` or `{0} = \"{1}ms\"`",
            key.name,
            digits(literal)
        ))),
        (Kind::Flag, Lit::Bool(flag)) => Ok(What::Flag(flag.value)),
        (Kind::Choice(words), Lit::Str(text)) => {
            let text = text.value();
            if let Some((_, variant)) = words.iter().find(|(word, _)| *word == text) {
                return Ok(What::Choice(variant));
            }
            let all = choices(words);
            Err(refused(
                match nearest(&text, words.iter().map(|(word, _)| *word)) {
                    Some(near) => format!(
                        "`{}` cannot be \"{text}\": did you mean \"{near}\"? It takes {all}",
                        key.name
                    ),
                    None => format!("`{}` cannot be \"{text}\": it takes {all}", key.name),
                },
            ))
        }
        (Kind::Count, Lit::Float(_)) => Err(wrong(key, written, "a whole number")),
        (kind, _) => Err(wrong(key, written, wanted(kind))),
    }
}

/// What to write instead of a literal with a suffix that is no type: `30s`.
fn suffixed(key: &Key, literal: &Lit) -> Option<String> {
    const TYPES: &[&str] = &[
        "", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f32", "f64",
    ];
    let (suffix, number) = match literal {
        Lit::Int(int) => (int.suffix(), true),
        Lit::Float(float) => (float.suffix(), true),
        Lit::Str(text) => (text.suffix(), false),
        _ => return None,
    };
    if suffix.is_empty() || (number && TYPES.contains(&suffix)) {
        return None;
    }
    let written = format!("{}{suffix}", digits(literal));
    let takes_time = matches!(key.kind, Kind::Duration | Kind::Window);
    Some(if takes_time && unit::duration(&written).is_ok() {
        format!(
            "a time stands in quotes: write `{} = \"{written}\"`",
            key.name
        )
    } else {
        format!(
            "`{suffix}` is no suffix that `{}` can have: leave it out",
            key.name
        )
    })
}

/// An expression that the compiler evaluates where a literal could stand.
fn constant(key: &Key, expr: &Expr, written: &TokenStream) -> Result<What> {
    let could_be = match expr {
        Expr::Path(_)
        | Expr::Call(_)
        | Expr::MethodCall(_)
        | Expr::Binary(_)
        | Expr::Block(_)
        | Expr::Macro(_)
        | Expr::Paren(_)
        | Expr::Cast(_)
        | Expr::Field(_)
        | Expr::If(_)
        | Expr::Match(_)
        | Expr::Unsafe(_) => true,
        Expr::Verbatim(any) => expression::may_be_value(any),
        _ => false,
    };
    match key.kind {
        Kind::Count | Kind::Percent | Kind::Factor | Kind::Duration | Kind::Window | Kind::Flag
            if could_be =>
        {
            if reads_environment(written.clone()) {
                return Err(Error::new_spanned(
                    written,
                    "the value is wanted when the program is compiled: name a constant, or set it in a \
                     configuration file that the program loads",
                ));
            }
            if let Some(place) = find_self(written.clone()) {
                return Err(Error::new(
                    place,
                    "the value is wanted before there is any `Self`: name the type",
                ));
            }
            Ok(What::Constant)
        }
        Kind::Choice(words) => {
            // `mode = disabled`: the right word without its quotes.
            let word = written.to_string();
            Err(Error::new_spanned(
                written,
                match nearest(&word, words.iter().map(|(word, _)| *word)) {
                    Some(near) => format!("`{0}` takes a string: `{0} = \"{near}\"`", key.name),
                    None => format!("`{}` takes {}", key.name, choices(words)),
                },
            ))
        }
        Kind::Text if matches!(expr, Expr::Macro(_)) => Err(Error::new_spanned(
            written,
            format!(
                "`{0}` takes a string literal; what differs from call to call is a `key`: \
                 `{0} = {1}, key = host`",
                key.name,
                example(key)
            ),
        )),
        kind => Err(wrong(key, written, wanted(kind))),
    }
}

/// Whether `env::var` or the like stands in it.
fn reads_environment(tokens: TokenStream) -> bool {
    let mut after_env = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => {
            let found = after_env && ["var", "var_os", "vars"].iter().any(|name| word == name);
            after_env = word == "env";
            found
        }
        TokenTree::Punct(punct) => {
            after_env &= punct.as_char() == ':';
            false
        }
        TokenTree::Group(group) => reads_environment(group.stream()),
        TokenTree::Literal(_) => false,
    })
}

fn find_self(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "Self" => Some(word.span()),
        TokenTree::Group(group) => find_self(group.stream()),
        _ => None,
    })
}

fn predicate(key: &Key, written: &TokenStream) -> Result<What> {
    if expression::is_closure(written.clone())
        || matches!(expression::read(written), Some(Expr::Path(_)))
    {
        return Ok(What::Predicate);
    }
    Err(wrong(
        key,
        written,
        "a function or closure over a reference to what is returned",
    ))
}

fn function(key: &Key, written: &TokenStream) -> Result<What> {
    if let Some(message) = function_meant(written) {
        return Err(Error::new_spanned(written, message));
    }
    match expression::read(written) {
        Some(Expr::Path(_)) => Ok(What::Function),
        Some(Expr::Call(_)) => Err(Error::new_spanned(
            written,
            "`fallback` takes the path of a function and calls it itself: leave out the parentheses",
        )),
        _ => Err(wrong(key, written, "the path of a function")),
    }
}

/// The path that was meant by a function in quotes, or by one behind `self`.
fn function_meant(written: &TokenStream) -> Option<String> {
    let (text, quotes) = match expression::read(written)? {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => (text.value(), ", without quotes"),
        Expr::Field(_) | Expr::MethodCall(_) => {
            (written.to_string().split_whitespace().collect(), "")
        }
        _ => return None,
    };
    let path = text.split('(').next()?;
    let path = match path.strip_prefix("self.") {
        Some(method) => format!("Self::{method}"),
        None => path.into(),
    };
    Path::parse_mod_style.parse_str(&path).ok()?;
    Some(format!("write `fallback = {path}`{quotes}"))
}

fn wrong(key: &Key, written: &TokenStream, wanted: &str) -> Error {
    let message = format!(
        "`{0}` takes {wanted}: for example `{0} = {1}`",
        key.name,
        example(key)
    );
    Error::new_spanned(written, message)
}

fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a string literal",
        Kind::Count => "a positive whole number",
        Kind::Percent => "a percentage",
        Kind::Factor => "a number",
        Kind::Duration => "a duration",
        Kind::Window => "a number of calls, or a duration such as \"30s\"",
        Kind::Flag => "`true` or `false`",
        Kind::Choice(_) => "one of its words, as a string",
        Kind::Classes => "a type, a variant, a pattern, a predicate, or a list of these",
        Kind::Predicate | Kind::Function => "a function",
        Kind::Path => "a path",
        Kind::Expression => "an expression over the function's parameters",
    }
}

fn choices(words: &[(&str, &str)]) -> String {
    let words: Vec<_> = words
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    words.join(", ")
}

fn small_percent(name: &str, number: f64, literal: &Lit) -> String {
    let written = digits(literal);
    format!(
        "`{name} = {written}` looks like a fraction, but percentages go up to 100: write `{}` for \
         {0}%, or \"{written}%\" if you mean {written}%",
        // What was written has a few digits; more come of the multiplication.
        (number * 100.0 * 1e9).round() / 1e9,
    )
}

fn digits(literal: &Lit) -> String {
    match literal {
        Lit::Int(int) => int.base10_digits().into(),
        Lit::Float(float) => float.base10_digits().into(),
        _ => String::new(),
    }
}
