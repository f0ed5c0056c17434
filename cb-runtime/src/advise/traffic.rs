//! The calls, as the user describes them.

use std::fmt;
use std::time::Duration;

use crate::config::limits::Refused;
use crate::error::ConfigError;
use crate::explain::Seconds;

const SECOND: Duration = Duration::from_secs(1);

/// The calls that one breaker guards: how many there are and how long they take.
///
/// Only the rate has to be known. Everything is for one instance of the program, which has one
/// breaker; [`instances`](Self::instances) says how many run beside it.
///
/// ```
/// use std::time::Duration;
/// use cb_runtime::advise::Traffic;
///
/// let traffic = Traffic::per_second(1.5)
///     .latency(Duration::from_millis(80))
///     .timeout(Duration::from_secs(30))
///     .concurrency(50)
///     .instances(10);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Traffic {
    pub(super) rate: f64,
    pub(super) latency: Duration,
    pub(super) timeout: Option<Duration>,
    pub(super) slow_latency: Option<Duration>,
    pub(super) gives_up: Option<Duration>,
    pub(super) concurrency: Option<u32>,
    pub(super) instances: u32,
}

impl Traffic {
    /// So many calls a second, evenly spaced: from 0.0001, which is one in three hours, to
    /// 10 000 000.
    pub const fn per_second(calls: f64) -> Self {
        Self {
            rate: calls,
            latency: Duration::from_millis(50),
            timeout: None,
            slow_latency: None,
            gives_up: None,
            concurrency: None,
            instances: 1,
        }
    }

    /// How long a call takes while all is well, and until an error comes back: 50 ms, unless this
    /// is set.
    pub const fn latency(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }

    /// How long a hanging call takes: the attribute's `timeout`, or that of the client. Without
    /// one it hangs for ever. As the attribute's does, it raises an unset `half_open_max_wait`.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long a call takes that is slow and succeeds: nine tenths of the timeout, or ten times
    /// the latency but at least a second, unless this is set.
    pub const fn slow_latency(mut self, latency: Duration) -> Self {
        self.slow_latency = Some(latency);
        self
    }

    /// After how long a caller drops a hanging call: half of the timeout, or ten times the latency
    /// but at least a second, unless this is set.
    pub const fn gives_up(mut self, after: Duration) -> Self {
        self.gives_up = Some(after);
        self
    }

    /// How many calls can be under way at the same time, such as the threads of a pool. Any
    /// number, unless this is set. A call that finds no place is turned away before the breaker
    /// sees it.
    pub const fn concurrency(mut self, calls: u32) -> Self {
        self.concurrency = Some(calls);
        self
    }

    /// How many instances of the program there are, each with this traffic and a breaker of its
    /// own: 1, unless this is set.
    pub const fn instances(mut self, instances: u32) -> Self {
        self.instances = instances;
        self
    }

    pub(super) fn slow_time(&self) -> Duration {
        self.slow_latency.unwrap_or(match self.timeout {
            Some(timeout) => timeout.saturating_mul(9) / 10,
            None => self.long_time(),
        })
    }

    pub(super) fn drop_time(&self) -> Duration {
        self.gives_up.unwrap_or(match self.timeout {
            Some(timeout) => timeout / 2,
            None => self.long_time(),
        })
    }

    fn long_time(&self) -> Duration {
        self.latency.saturating_mul(10).max(SECOND)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let day = 86_400 * SECOND;
        let time = |time: Duration| !time.is_zero() && time <= day;
        let rate = (0.000_1..=10_000_000.0).contains(&self.rate);
        let refuse = |ok: bool, refused: Refused, value: &dyn fmt::Debug| {
            if ok {
                Ok(())
            } else {
                Err(ConfigError::new(refused, format!("{value:?}")))
            }
        };
        macro_rules! check {
            ($field:literal, $allowed:literal, $value:expr, $ok:expr) => {
                refuse(
                    $ok,
                    Refused {
                        field: $field,
                        allowed: $allowed,
                        message: concat!("`", $field, "` must be ", $allowed),
                    },
                    &$value,
                )
            };
        }
        check!(
            "calls_per_second",
            "from 0.0001 to 10000000",
            self.rate,
            rate
        )?;
        check!(
            "latency",
            "above 0, up to a day",
            self.latency,
            time(self.latency)
        )?;
        if let Some(timeout) = self.timeout {
            check!(
                "timeout",
                "above the latency, up to a day",
                timeout,
                time(timeout) && timeout > self.latency
            )?;
        }
        let slow = self.slow_time();
        check!("slow_latency", "above 0, up to a day", slow, time(slow))?;
        let drop = self.drop_time();
        check!("gives_up", "above 0, up to a day", drop, time(drop))?;
        if let Some(calls) = self.concurrency {
            check!("concurrency", "at least 1", calls, calls > 0)?;
        }
        let instances = (1..=100_000).contains(&self.instances);
        check!("instances", "from 1 to 100000", self.instances, instances)
    }
}

/// A phrase: `1.5 calls a second of 80ms, timeout 30s, at most 50 at a time, 10 instances`.
impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let latency = Seconds(self.latency);
        write!(f, "{} calls a second of {latency}", self.rate)?;
        match self.timeout {
            Some(timeout) => write!(f, ", timeout {}", Seconds(timeout))?,
            None => f.write_str(", no timeout")?,
        }
        if let Some(calls) = self.concurrency {
            write!(f, ", at most {calls} at a time")?;
        }
        if self.instances > 1 {
            write!(f, ", {} instances", self.instances)?;
        }
        Ok(())
    }
}
