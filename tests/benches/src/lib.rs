//! What a guarded call costs, measured beside baselines and other circuit breakers.
//!
//! A [`Subject`] is one way of making guarded calls in one [`Case`]. The same subjects are measured
//! by `scripts/benchmark` (in one process, in shuffled rounds), by `cargo bench` (criterion), and
//! checked by the tests of this package: each must do what its case says, else its speed means
//! nothing.

// Times and counts become floats only to be shown or compared.
#![allow(clippy::cast_precision_loss)]

mod answer;
mod baseline;
mod builds;
mod case;
mod growth;
mod measure;
mod ours;
mod quiet;
#[cfg(feature = "rivals")]
mod rivals;
mod subject;
mod table;
mod target;
mod work;
mod workers;

pub use answer::{Answer, Seen};
pub use builds::{Build, Cost, costs, serve};
pub use case::Case;
pub use growth::{Line, Panel, panels};
pub use measure::{Figures, Plan, measure, medians};
pub use subject::{List, Subject, Through, Who};
pub use table::{details, summary};
pub use target::{Verdict, verdicts};

/// Every subject there is, with its breakers in the state that the case wants.
#[must_use]
pub fn subjects() -> Vec<Subject> {
    let mut list = List::default();
    baseline::add(&mut list);
    ours::add(&mut list);
    #[cfg(feature = "rivals")]
    rivals::add(&mut list);
    list.into_subjects()
}
