//! What the operations and the clock do to a breaker, state by state.

#[path = "operations/calls.rs"]
mod calls;
#[path = "operations/half_open.rs"]
mod half_open;
#[path = "operations/late.rs"]
mod late;
#[path = "operations/manual.rs"]
mod manual;
#[path = "operations/opening.rs"]
mod opening;
#[path = "operations/waits.rs"]
mod waits;
#[path = "operations/windows.rs"]
mod windows;
