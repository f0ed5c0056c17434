//! What the tests of the workspace share: a breaker on a test clock, recorded traces and their
//! replay, and a naive breaker that recounts everything.

pub mod harness;
pub mod naive;
pub mod replay;
pub mod trace;
