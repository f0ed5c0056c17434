//! What was written: every argument with its span.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use crate::classify::Class;
use crate::elsewhere;
use crate::errors::Errors;
use crate::keys::{KEYS, Key, example};
use crate::pieces::{comma_missing, pieces};
use crate::suggest::nearest;
use crate::value::{self, Value, What};

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
        let hyphenated = hyphenated(piece);
        let Some(key) = KEYS
            .iter()
            .find(|key| key.name == name && hyphenated.is_none())
        else {
            return match hyphenated {
                Some((words, name)) => errors.at(words, unknown(&name, false)),
                None => errors.at(ident, unknown(&name, piece.len() == 1)),
            };
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
                if let Some(at) = comma_missing(value) {
                    let (one, rest) = piece.split_at(at + 2);
                    errors.at(&rest[0], format!("a comma is missing before `{}`", rest[0]));
                    self.argument(one, errors);
                    return self.argument(rest, errors);
                }
                self.unreadable.push(key.name);
                errors.push(error);
            }
        }
    }
}

/// `some-name` before a `=`, as tokens and as text.
fn hyphenated(piece: &[TokenTree]) -> Option<(TokenStream, String)> {
    let is_punct = |tree: &TokenTree, punct| matches!(tree, TokenTree::Punct(found) if found.as_char() == punct);
    let words = &piece[..piece.iter().position(|tree| is_punct(tree, '='))?];
    let alternate = words.iter().enumerate().all(|(at, tree)| match at % 2 {
        0 => matches!(tree, TokenTree::Ident(_)),
        _ => is_punct(tree, '-'),
    });
    (words.len() > 2 && words.len() % 2 == 1 && alternate).then(|| {
        let name = words.iter().map(ToString::to_string).collect();
        (words.iter().cloned().collect(), name)
    })
}

fn unknown(name: &str, alone: bool) -> String {
    let known = || KEYS.iter().map(|key| key.name);
    if alone && name.starts_with(char::is_uppercase) {
        return format!("`{name}` is no argument; several values stand in brackets: `[A, B]`");
    }
    if let Some(here) = elsewhere::meant(name, known()) {
        return elsewhere::message(name, here);
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
