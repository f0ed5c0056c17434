//! What the tests of the workspace share: the files for operators, a breaker on a test clock, recorded traces and their
//! replay, and a naive breaker that recounts everything.

pub mod dashboards;
pub mod harness;
pub mod naive;
pub mod replay;
pub mod trace;
