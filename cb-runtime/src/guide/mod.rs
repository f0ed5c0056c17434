//! The guide: every argument with an example, recipes, and mistakes that breakers are known for.
//!
//! - [`arguments`]: what each argument of the attribute is for, its unit, range and default.
//! - [`functions`]: errors and `?`, the order of attributes.
//! - [`recipes`]: guarded calls in tokio, axum, tonic, reqwest, database pools and more.
//! - [`tests`]: a registry and a clock for each test, and what a scope does not see.
//! - [`operating`]: settings from a file, and what else changes breakers while the program runs.
//! - [`mistakes`]: how they look in production, how they show here, and what to write instead.
//!
//! The examples run in a [`testing::Scope`](crate::testing::Scope), which has its own registry and
//! a clock that moves only when told to. `Reply` in them is
//! `Result<u32, CallError<&'static str>>`, and `ask(up)` a remote call that fails unless `up`.

#![allow(missing_docs, reason = "the documentation is the content")]

#[doc = include_str!("arguments.md")]
pub mod arguments {
    #[doc = include_str!("arguments/identity.md")]
    pub mod identity {}

    #[doc = include_str!("arguments/opening.md")]
    pub mod opening {}

    #[doc = include_str!("arguments/counting.md")]
    pub mod counting {}

    #[doc = include_str!("arguments/recovering.md")]
    pub mod recovering {}

    #[doc = include_str!("arguments/probing.md")]
    pub mod probing {}

    #[doc = include_str!("arguments/answering.md")]
    pub mod answering {}
}

#[doc = include_str!("functions.md")]
pub mod functions {}

#[doc = include_str!("recipes.md")]
pub mod recipes {}

#[doc = include_str!("tests.md")]
pub mod tests {}

#[doc = include_str!("operating.md")]
pub mod operating {
    #[cfg(feature = "config-file")]
    #[doc = include_str!("operating/file.md")]
    pub mod file {}

    #[cfg(feature = "doctor")]
    #[doc = include_str!("operating/doctor.md")]
    pub mod doctor {}

    #[cfg(feature = "tracing")]
    #[doc = include_str!("operating/logs.md")]
    pub mod logs {}

    #[cfg(feature = "metrics")]
    #[doc = include_str!("operating/metrics.md")]
    pub mod metrics {}

    #[doc = include_str!("operating/suspending.md")]
    pub mod suspending {}

    #[cfg(feature = "rehearsal")]
    #[doc = include_str!("operating/rehearsal.md")]
    pub mod rehearsal {}
}

#[doc = include_str!("mistakes.md")]
pub mod mistakes {
    #[doc = include_str!("mistakes/closed.md")]
    pub mod closed {}

    #[doc = include_str!("mistakes/opened.md")]
    pub mod opened {}

    #[doc = include_str!("mistakes/hanging.md")]
    pub mod hanging {}

    #[doc = include_str!("mistakes/recovery.md")]
    pub mod recovery {}

    #[doc = include_str!("mistakes/callers.md")]
    pub mod callers {}

    #[doc = include_str!("mistakes/operation.md")]
    pub mod operation {}
}
