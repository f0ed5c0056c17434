//! Many threads at once. Nothing here sleeps or depends on how long anything takes: every round
//! begins and ends at a barrier, and what is asserted holds in every order of events.

#[path = "races/changing.rs"]
mod changing;
#[path = "races/counting.rs"]
mod counting;
#[path = "races/gang.rs"]
mod gang;
#[path = "races/half_open.rs"]
mod half_open;
#[path = "races/listening.rs"]
mod listening;
#[path = "races/opening.rs"]
mod opening;
