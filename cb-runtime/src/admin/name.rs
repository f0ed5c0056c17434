//! Which breaker a request is about.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::Shared;

/// The name in a request's path or, for those that no path carries, in its query. `None` if what
/// is there is no text.
pub(super) struct Name(pub(super) Option<String>);

impl FromRequestParts<Arc<Shared>> for Name {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        shared: &Arc<Shared>,
    ) -> Result<Self, Infallible> {
        let in_path = Path::<String>::from_request_parts(parts, shared).await;
        Ok(Self(match in_path {
            Ok(Path(name)) => Some(name),
            Err(_) => parameter(parts.uri.query().unwrap_or_default(), "name"),
        }))
    }
}

/// The first parameter of this key in a query, decoded.
pub(super) fn parameter(query: &str, key: &str) -> Option<String> {
    let mut pairs = query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(name, _)| *name == key)?;
    decoded(value)
}

/// Percent-decoded, a plus being a space as in what forms send. `None` if that is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        rest = after;
        bytes.push(match (*first, after) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    rest = after;
                    high << 4 | low
                }
                _ => b'%',
            },
            (byte, _) => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn digit(hex: u8) -> Option<u8> {
    match hex {
        b'0'..=b'9' => Some(hex - b'0'),
        b'a'..=b'f' => Some(hex - b'a' + 10),
        b'A'..=b'F' => Some(hex - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_and_decoded() {
        let name = |query| parameter(query, "name");
        assert_eq!(name("name=a").as_deref(), Some("a"));
        assert_eq!(
            name("x=1&name=a+b%2Bc%26%3D&name=z").as_deref(),
            Some("a b+c&=")
        );
        assert_eq!(name("name").as_deref(), Some(""));
        assert_eq!(name("name=%C3%A4%00").as_deref(), Some("ä\0"));
        // What is no escape stands for itself.
        assert_eq!(name("name=100%").as_deref(), Some("100%"));
        assert_eq!(name("name=%zz%4").as_deref(), Some("%zz%4"));
        assert_eq!(name("name=%FF"), None);
        assert_eq!(name("names=a"), None);
        assert_eq!(name(""), None);
    }
}
