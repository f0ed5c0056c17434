//! Names of breakers, cheap to hand out with each rejection.

use std::fmt;
use std::sync::Arc;

/// As many bytes as there is room for in 32.
const INLINE: usize = 30;

/// The name of a breaker: a literal of the program, or made at run time. Those of the usual length are
/// copied: threads that are rejected at the same time would contend for the count of a shared one.
pub(crate) enum Name {
    Plain(Plain),
    Shared(Arc<str>),
}

/// Copied as a whole: what is written in parts and then moved as one waits for the parts to arrive.
#[derive(Clone, Copy)]
pub(crate) enum Plain {
    Static(&'static str),
    Inline { length: u8, text: [u8; INLINE] },
}

impl Name {
    pub(crate) const fn literal(name: &'static str) -> Self {
        Self::Plain(Plain::Static(name))
    }

    /// Of a name that was made at run time.
    pub(crate) fn of(name: &str) -> Self {
        let mut text = [0; INLINE];
        match (text.get_mut(..name.len()), u8::try_from(name.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(name.as_bytes());
                Self::Plain(Plain::Inline { length, text })
            }
            _ => Self::Shared(name.into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Plain(Plain::Static(name)) => name,
            Self::Plain(Plain::Inline { length, text }) => {
                let text = text.get(..usize::from(*length)).unwrap_or_default();
                // It was one.
                std::str::from_utf8(text).unwrap_or_default()
            }
            Self::Shared(name) => name,
        }
    }
}

impl Clone for Name {
    #[inline]
    fn clone(&self) -> Self {
        match self {
            Self::Plain(plain) => Self::Plain(*plain),
            Self::Shared(name) => share(name),
        }
    }
}

/// Apart, so that the compiler does not take the copy of a plain one to pieces.
#[cold]
#[inline(never)]
fn share(name: &Arc<str>) -> Name {
    Name::Shared(Arc::clone(name))
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

#[cfg(feature = "serde")]
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_kept_whole() {
        for length in 0..40 {
            let text = "ä".repeat(length / 2) + &"x".repeat(length % 2);
            let name = Name::of(&text);
            assert_eq!(matches!(name, Name::Shared(_)), length > INLINE);
            assert_eq!(name.as_str(), text);
            assert_eq!(name.clone(), Name::Shared(text.into()));
        }
        assert_eq!(Name::literal("a"), Name::of("a"));
        assert_ne!(Name::of("a"), Name::of("b"));
    }

    #[test]
    fn the_copy_fits_where_a_shared_one_would_be() {
        assert_eq!(size_of::<Name>(), 32);
    }
}
