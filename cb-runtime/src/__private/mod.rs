//! What expansions of the attribute name. Not part of the public interface: it changes with the
//! attribute, and the two crates have one version.

mod constant;
mod fallback;
mod find;
mod guarded;
mod reply;
mod returned;
mod run;
mod simple;
#[cfg(not(feature = "tokio"))]
mod untimed;

pub use crate::call::Guard;
#[cfg(feature = "tokio")]
pub use crate::clock::Sleep;
pub use crate::config::limits as check;
pub use crate::config::{Config, MaxWaitState, Mode, Window};
pub use crate::enter::Key;
pub use crate::function::{FallbackOn, FunctionSettings};
pub use crate::outcome::{OnCancel, Outcome};
pub use crate::site::Site;

pub use constant::{Constant, require, timer};
pub use fallback::{
    AsyncFallback, AsyncMethodFallback, Fallback, MethodFallback, call_once, keep, keep_early,
};
pub use find::{Errors, ask, holds};
pub use guarded::{Ended, Guarded, Never, Step, Unlimited, guarded, key_of};
pub use reply::{PlainReply, Reply};
pub use returned::Returned;
pub use run::{Attempt, Run, attempt, never, run_timed};
pub use simple::{Returns, Simple};
#[cfg(not(feature = "tokio"))]
pub use untimed::Sleep;
