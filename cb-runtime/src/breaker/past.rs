//! What the stays of a breaker leave to those after them.

use std::sync::Arc;

use crate::clock::Nanos;
use crate::event::Cause;
use crate::layers::Layers;
use crate::random::Random;

use super::probes::Probes;

/// What a stay has from those before it, or as a HALF_OPEN or OPEN one. Reached through the stay; made
/// when it is first written to, since most breakers of a process never leave their first stay.
#[derive(Default)]
pub(crate) struct Past {
    /// The configuration of this HALF_OPEN stay, if another one has come in force since it began.
    pub(super) probing: Option<Arc<Layers>>,
    /// Openings in a row.
    pub(crate) attempt: u64,
    /// The wait of the latest attempt.
    pub(super) wait: Nanos,
    /// HALF_OPEN stays in a row that led back to OPEN.
    pub(super) failed_stays: u32,
    /// Where random parts of waits come from, once there was one.
    pub(super) random: Option<Random>,
    /// The random part of this OPEN stay's wait; `None` if somebody named it.
    pub(super) draw: Option<f64>,
    /// The wait of this OPEN stay.
    pub(crate) served_wait: Nanos,
    pub(crate) probes: Probes,
    /// The breaker's total of rejections when this stay's count began.
    pub(super) rejected_before: u64,
    /// Why the breaker last went to OPEN.
    pub(crate) opened: Option<Cause>,
}

/// Of a first stay.
pub(super) static NO_PAST: Past = Past {
    probing: None,
    attempt: 0,
    wait: 0,
    failed_stays: 0,
    random: None,
    draw: None,
    served_wait: 0,
    probes: Probes::NONE,
    rejected_before: 0,
    opened: None,
};
