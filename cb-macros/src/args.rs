//! What was written: one table of keys, every value with its span.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::classify::Class;
use crate::errors::Errors;
use crate::suggest::nearest;
use crate::value::{self, Value, What};

/// What a key takes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Text,
    Count,
    Percent,
    Factor,
    Duration,
    Window,
    Flag,
    Choice(&'static [(&'static str, &'static str)]),
    Classes,
    Predicate,
    Function,
    Path,
    /// Over the parameters.
    Expression,
}

pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether `off` is a value.
    pub(crate) optional: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        optional: false,
    }
}

const fn optional(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        optional: true,
    }
}

const ON_CANCEL: &[(&str, &str)] = &[
    ("slow", "Slow"),
    ("ignore", "Ignore"),
    ("failure", "Failure"),
];
const MAX_WAIT_STATE: &[(&str, &str)] =
    &[("decide", "Decide"), ("open", "Open"), ("closed", "Closed")];
const FALLBACK_ON: &[(&str, &str)] = &[("rejected", "Rejected"), ("failure", "Failure")];
const MODE: &[(&str, &str)] = &[
    ("enabled", "Enabled"),
    ("metrics_only", "MetricsOnly"),
    ("disabled", "Disabled"),
    ("forced_open", "ForcedOpen"),
];

/// Every key, in the order of the documentation.
pub(crate) static KEYS: &[Key] = &[
    key("name", Kind::Text),
    key("key", Kind::Expression),
    key("max_keys", Kind::Count),
    key("base", Kind::Text),
    key("window", Kind::Window),
    key("buckets", Kind::Count),
    key("min_calls", Kind::Count),
    key("failure_rate", Kind::Percent),
    optional("slow", Kind::Duration),
    key("slow_rate", Kind::Percent),
    optional("failure_count", Kind::Count),
    optional("consecutive_failures", Kind::Count),
    key("count_running", Kind::Flag),
    optional("warmup", Kind::Duration),
    key("ignore", Kind::Classes),
    key("record", Kind::Classes),
    key("ignore_if", Kind::Predicate),
    key("failure_if", Kind::Predicate),
    key("on_cancel", Kind::Choice(ON_CANCEL)),
    optional("timeout", Kind::Duration),
    key("wait", Kind::Duration),
    key("wait_multiplier", Kind::Factor),
    optional("wait_max", Kind::Duration),
    optional("wait_jitter", Kind::Percent),
    key("wait_by_failure_rate", Kind::Flag),
    optional("wait_recover", Kind::Duration),
    key("retry_after", Kind::Predicate),
    key("auto_half_open", Kind::Flag),
    key("half_open_calls", Kind::Count),
    key("half_open_concurrency", Kind::Count),
    optional("half_open_delay", Kind::Duration),
    optional("half_open_timeout", Kind::Duration),
    optional("half_open_successes", Kind::Count),
    optional("half_open_success_rate", Kind::Percent),
    optional("half_open_failures", Kind::Count),
    key("half_open_failure_rate", Kind::Percent),
    optional("half_open_failure_window", Kind::Duration),
    key("half_open_slow", Kind::Duration),
    optional("half_open_attempts", Kind::Count),
    optional("half_open_max_wait", Kind::Duration),
    key("half_open_max_wait_state", Kind::Choice(MAX_WAIT_STATE)),
    optional("ramp", Kind::Duration),
    key("fallback", Kind::Function),
    key("fallback_on", Kind::Choice(FALLBACK_ON)),
    key("mode", Kind::Choice(MODE)),
    key("crate", Kind::Path),
];

/// One `key = value`.
pub(crate) struct Arg {
    pub(crate) key: &'static Key,
    pub(crate) ident: Ident,
    pub(crate) value: Value,
}

/// The arguments that could be read.
#[derive(Default)]
pub(crate) struct Args {
    list: Vec<Arg>,
    /// Keys whose value could not be read: reported already, so not missing.
    unreadable: Vec<&'static str>,
}

impl Args {
    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        for piece in pieces(tokens) {
            args.argument(&piece, errors);
        }
        args
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arg> {
        self.list.iter().find(|arg| arg.key.name == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arg> {
        self.list.iter()
    }

    /// Whether the key was written, with whatever value.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.get(name).is_some() || self.unreadable.contains(&name)
    }

    /// What was chosen from a list of words.
    pub(crate) fn choice(&self, name: &str) -> Option<&'static str> {
        match self.get(name)?.value.what {
            What::Choice(variant) => Some(variant),
            _ => None,
        }
    }

    pub(crate) fn classes(&self, name: &str) -> &[Class] {
        match self.get(name).map(|arg| &arg.value.what) {
            Some(What::Classes(classes)) => classes,
            _ => &[],
        }
    }

    /// The path under which the expansion finds the runtime.
    pub(crate) fn runtime(&self) -> TokenStream {
        match self.get("crate").map(|arg| &arg.value.what) {
            Some(What::Path(path)) => quote!(#path),
            _ => quote_spanned!(Span::mixed_site()=> ::cb_runtime),
        }
    }

    fn argument(&mut self, piece: &[TokenTree], errors: &mut Errors) {
        let whole = || piece.iter().cloned().collect::<TokenStream>();
        let Some(TokenTree::Ident(ident)) = piece.first() else {
            return errors.at(whole(), "expected an argument, such as `min_calls = 20`");
        };
        let name = ident.to_string();
        let Some(key) = KEYS.iter().find(|key| key.name == name) else {
            return errors.at(ident, unknown(&name, piece.len() == 1));
        };
        let value = match piece.get(1) {
            Some(TokenTree::Punct(equals)) if equals.as_char() == '=' => &piece[2..],
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                self.unreadable.push(key.name);
                return errors.at(whole(), format!("write `{name} = {}`", group.stream()));
            }
            _ => {
                self.unreadable.push(key.name);
                return errors.at(
                    ident,
                    format!("`{name}` needs a value: `{name} = {}`", example(key)),
                );
            }
        };
        if self.mentions(key.name) {
            return errors.at(ident, format!("`{name}` is given twice; keep one of them"));
        }
        if value.is_empty() {
            self.unreadable.push(key.name);
            return errors.at(
                ident,
                format!("`{name}` needs a value: `{name} = {}`", example(key)),
            );
        }
        match value::read(key, value) {
            Ok(value) => self.list.push(Arg {
                key,
                ident: ident.clone(),
                value,
            }),
            Err(error) => {
                self.unreadable.push(key.name);
                errors.push(error);
            }
        }
    }
}

fn unknown(name: &str, alone: bool) -> String {
    let known = || KEYS.iter().map(|key| key.name);
    if alone && name.starts_with(char::is_uppercase) {
        return format!("`{name}` is no argument; several values stand in brackets: `[A, B]`");
    }
    match nearest(name, known()) {
        Some(near) => format!("unknown argument `{name}`: did you mean `{near}`?"),
        None => {
            let list: Vec<_> = known().map(|key| format!("`{key}`")).collect();
            format!(
                "unknown argument `{name}`; the arguments are {}",
                list.join(", ")
            )
        }
    }
}

/// A value of the right kind, to show.
pub(crate) fn example(key: &Key) -> String {
    match key.kind {
        Kind::Text if key.name == "base" => "\"resilience4j\"".into(),
        Kind::Text => "\"inventory.query\"".into(),
        Kind::Count => "20".into(),
        Kind::Percent => "50".into(),
        Kind::Factor => "2".into(),
        Kind::Duration => "\"2s\"".into(),
        Kind::Window => "100".into(),
        Kind::Flag => "true".into(),
        Kind::Choice(words) => format!("\"{}\"", words[0].0),
        Kind::Classes => "BusinessError".into(),
        Kind::Predicate => "is_failure".into(),
        Kind::Function => "cached".into(),
        Kind::Path => "::cb_runtime".into(),
        Kind::Expression => "host".into(),
    }
}

/// The arguments, split at the commas between them: not at those within a generic type or a
/// closure's parameters.
fn pieces(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        if comma && is_complete(&piece) {
            pieces.push(std::mem::take(&mut piece));
        } else {
            piece.push(token);
        }
    }
    pieces.push(piece);
    // A trailing comma leaves nothing behind it; a doubled one is harmless.
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Whether all angle brackets and closure bars in `piece` are closed.
pub(crate) fn is_complete(piece: &[TokenTree]) -> bool {
    let mut depth = 0;
    let mut bars = 0;
    let mut previous = ' ';
    for token in piece {
        let punct = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match punct {
            '<' => depth += 1,
            '>' if previous != '-' && previous != '=' => depth -= 1,
            '|' => bars += 1,
            _ => {}
        }
        previous = punct;
    }
    let closure = piece.iter().enumerate().any(|(at, token)| {
        let bar = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '|');
        let starts = at == 0
            || matches!(&piece[at - 1], TokenTree::Punct(punct) if punct.as_char() == '=')
            || matches!(&piece[at - 1], TokenTree::Ident(ident) if *ident == "move");
        bar && starts
    });
    depth <= 0 && !(closure && bars < 2)
}
