//! What a configuration will do in an outage, told before there is one.
//!
//! [`advise`](fn@advise) takes a configuration and the traffic it is meant for and plays four kinds
//! of outages on the breaker itself, with a clock of its own: no formula, no thread, no waiting.
//!
//! ```
//! use std::time::Duration;
//! use cb_runtime::advise::{OutageKind, Trap, Traffic, advise};
//! use cb_runtime::Config;
//!
//! let traffic = Traffic::per_second(1.5).timeout(Duration::from_secs(30));
//!
//! let advice = advise(&Config::resilience4j(), &traffic)?;
//! let hang = advice.outage(OutageKind::Hang).unwrap();
//! assert!(hang.worst().opening.unwrap().after > Duration::from_secs(60));
//! assert!(advice.warns(Trap::LateOpening));
//!
//! let advice = advise(&Config::new(), &traffic)?;
//! let hang = advice.outage(OutageKind::Hang).unwrap();
//! assert_eq!(hang.worst().opening.unwrap().ended, 10);
//! println!("{advice}"); // all of it, in words
//! # Ok::<(), cb_runtime::ConfigError>(())
//! ```
//!
//! # What is assumed
//!
//! Calls are evenly spaced, and all calls of one kind take the same time. During the outage every
//! call ends badly; a call that began before the downstream healed still does. Nobody retries or
//! waits in line for a place. Where a call ends and another begins at the same instant, the end is
//! first. Somebody reads the breaker's state now and then, so that what falls due by the clock
//! alone happens in time.
//!
//! # How exact it is
//!
//! Every call is simulated, unless that would be hundreds of thousands: then it is one in
//! [`Advice::sampling`], and the figures are upper bounds; beyond some millions of calls in a window,
//! what is left of them may be too few for a large `min_calls`. That an outage never opens the breaker
//! means not within [`Course::simulated`]: twice the time in which the window has come to hold
//! nothing but the outage, at most a week.

use std::time::Duration;

use crate::config::{Config, resolve};
use crate::error::ConfigError;
use crate::event::Cause;
use crate::state::State;

mod report;
mod simulate;
mod study;
mod traffic;
mod traps;

pub use traffic::Traffic;
pub use traps::{Trap, Warning};

/// What a configuration does with some traffic. `Display` is a report of a page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The traffic it is about.
    pub traffic: Traffic,
    /// One for each [`OutageKind`], in the order of the enum.
    pub outages: Vec<Outage>,
    /// What is likely not meant, the gravest first.
    pub warnings: Vec<Warning>,
    /// One in so many calls was simulated; 1 is all of them.
    pub sampling: u64,
}

/// The ways in which a downstream can be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutageKind {
    /// Each call fails after the normal latency.
    Errors,
    /// Each call succeeds, but late.
    Slow,
    /// Each call hangs until its timeout, and fails; for ever where there is none.
    Hang,
    /// Each call hangs until its caller drops it.
    Dropped,
}

/// One kind of outage.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outage {
    /// Its kind.
    pub kind: OutageKind,
    /// How long a call takes; `None` is for ever.
    pub call_time: Option<Duration>,
    /// A breaker that has recorded nothing yet: the program has just started, or the breaker has
    /// just closed.
    pub fresh: Course,
    /// A breaker whose window is full of good calls.
    pub steady: Course,
    /// The longest time from the healing of the downstream to CLOSED: it heals at the worst
    /// moment, when the waits are as long as they get, and with `wait_jitter` at their longest.
    /// `None` if the breaker does not open or does not close.
    pub recovery: Option<Duration>,
    /// Most probes under way at the same time, of all instances, while each has opened in this
    /// outage and until it has closed.
    pub fleet_probes: u64,
    /// Most probes sent in one second, of all instances.
    pub fleet_probes_per_second: u64,
    /// A breaker that had recorded nothing, through the whole outage; empty if it does not open.
    pub timeline: Vec<Change>,
    /// When the downstream heals in the timeline: at the worst moment.
    pub healed: Option<Duration>,
}

/// What happens until the breaker opens.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Course {
    /// `None` if it does not open.
    pub opening: Option<Opening>,
    /// Most calls under way at the same time until then: threads or tasks that wait.
    pub stuck: u64,
    /// Calls until then that found all of the traffic's `concurrency` taken.
    pub turned_away: u64,
    /// How much of the outage was simulated.
    pub simulated: Duration,
}

/// The opening of a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opening {
    /// Time since the first call of the outage.
    pub after: Duration,
    /// Calls sent during the outage until then.
    pub sent: u64,
    /// Those of them that had ended, badly: the last one opened the breaker.
    pub ended: u64,
    /// The rule that opened it.
    pub cause: Cause,
}

/// A transition.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// Time since the first call of the outage.
    pub at: Duration,
    /// The new state.
    pub to: State,
    /// Why.
    pub cause: Cause,
}

/// Plays each kind of outage on a breaker with this configuration, on top of the built-in
/// defaults, and says what comes of it.
///
/// Takes some milliseconds for ordinary traffic, and seconds at extreme rates.
///
/// # Errors
///
/// The first setting, of the configuration or of the traffic, that makes no sense.
pub fn advise(config: &Config, traffic: &Traffic) -> Result<Advice, ConfigError> {
    traffic.check()?;
    // As for a function with this timeout.
    let settings = resolve(config, traffic.timeout)?;
    let mut config = config.clone();
    config.half_open_max_wait = Some(settings.half_open_max_wait.map(Duration::from_nanos));
    let study = study::Study::new(&config, &settings, traffic);
    let mut outages = Vec::new();
    for kind in OutageKind::ALL {
        outages.push(study.outage(kind)?);
    }
    let mut advice = Advice {
        traffic: traffic.clone(),
        outages,
        warnings: Vec::new(),
        sampling: study.sampling,
    };
    advice.warnings = traps::find(&study, &advice)?;
    Ok(advice)
}

impl Advice {
    /// What was found out about this kind of outage.
    #[must_use]
    pub fn outage(&self, kind: OutageKind) -> Option<&Outage> {
        self.outages.iter().find(|outage| outage.kind == kind)
    }

    /// Whether there is a warning of this trap.
    #[must_use]
    pub fn warns(&self, trap: Trap) -> bool {
        self.warnings.iter().any(|warning| warning.trap == trap)
    }
}

impl OutageKind {
    const ALL: [Self; 4] = [Self::Errors, Self::Slow, Self::Hang, Self::Dropped];
}

impl Outage {
    /// The course in which the breaker opens later, or not at all.
    #[must_use]
    pub fn worst(&self) -> &Course {
        let late = |course: &Course| {
            course
                .opening
                .map_or(Duration::MAX, |opening| opening.after)
        };
        if late(&self.steady) > late(&self.fresh) {
            &self.steady
        } else {
            &self.fresh
        }
    }
}
