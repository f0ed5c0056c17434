//! What expansions of the attribute name. Not part of the public interface: it changes with the
//! attribute, and the two crates have one version.
#![allow(missing_docs)]

pub use inventory;

pub use crate::call::Guard;
#[cfg(feature = "tokio")]
pub use crate::clock::Sleep;
pub use crate::config::limits as check;
pub use crate::function::{FunctionSettings, Place};
pub use crate::site::{Announced, Site};
