//! What a user can choose, the defaults, and how the layers become one whole.

use std::fmt;
use std::time::Duration;

use crate::outcome::OnCancel;

#[cfg(feature = "config-file")]
mod effective;
#[doc(hidden)]
pub mod limits;
mod percent;
mod settings;

pub(crate) use percent::Percent;
pub(crate) use settings::{Settings, resolve};

/// The calls that the rates are computed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// The last so many recorded calls: 1 to 1 000 000.
    Calls(u32),
    /// The calls recorded within this time: 100 ms to 24 h.
    Time(Duration),
}

/// What a new breaker does. Applies at its creation only; later changes are made by
/// [`CircuitBreaker`](crate::CircuitBreaker)'s operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Starts CLOSED: protects.
    #[default]
    Enabled,
    /// Records and reports, never rejects.
    MetricsOnly,
    /// Lets everything through, records nothing.
    Disabled,
    /// Rejects everything until told otherwise.
    ForcedOpen,
}

/// Where a HALF_OPEN stay goes when it has lasted `half_open_max_wait` without a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MaxWaitState {
    /// CLOSED if at least one probe returned and no rate over those that returned is reached, else
    /// OPEN. Nothing is decided while there has been no probe.
    #[default]
    Decide,
    /// OPEN.
    Open,
    /// CLOSED.
    Closed,
}

/// A set of choices for a circuit breaker. What is not chosen is left to the layer below:
/// built-in defaults, then the registry's default, then the template, then the attribute, then the
/// configuration file, then changes at run time.
///
/// | setting | range | default |
/// |---|---|---|
/// | `window` | 1–1 000 000 calls, or 100 ms–24 h | 30 s |
/// | `buckets` | 1–600, each at least 10 ms; time windows only | the window's seconds, 10–60 |
/// | `min_calls` | from 1, at most a window of calls | 10, or the window if that is smaller |
/// | `failure_rate` | above 0, up to 100 % | 50 |
/// | `slow` | above 0 | off |
/// | `slow_rate` | above 0, up to 100 % | 50 |
/// | `failure_count` | from 1 | off |
/// | `consecutive_failures` | 1–1 000 000 | 10 |
/// | `count_running` | needs `slow` | false |
/// | `warmup` | above 0 | off |
/// | `on_cancel` | | [`OnCancel::Slow`] |
/// | `wait` | above 0; acts as at least 1 ms | 10 s |
/// | `wait_multiplier` | 1–100; needs `wait_max` | off |
/// | `wait_max` | at least `wait` | off |
/// | `wait_jitter` | above 0, up to 100 % | off |
/// | `wait_by_failure_rate` | needs `wait_max` | false |
/// | `wait_recover` | above 0 | off |
/// | `auto_half_open` | | false |
/// | `half_open_calls` | 1–1000 | 5 |
/// | `half_open_concurrency` | 1 to `half_open_calls` | `half_open_calls` |
/// | `half_open_delay` | above 0, below `half_open_max_wait` | off |
/// | `half_open_successes` | 1 to `half_open_calls` | off |
/// | `half_open_success_rate` | above 0, up to 100 % | off |
/// | `half_open_failures` | 1 to `half_open_calls` | off |
/// | `half_open_failure_rate` | above 0, up to 100 % | `failure_rate` |
/// | `half_open_failure_window` | above 0; needs `half_open_failures` | off |
/// | `half_open_slow` | above 0, at most `slow` | `slow` |
/// | `half_open_attempts` | from 1; needs `wait_max` | off |
/// | `half_open_max_wait` | from 1 ms | 30 s, or twice the function's `timeout` if that is more |
/// | `half_open_max_wait_state` | | [`MaxWaitState::Decide`] |
/// | `ramp` | above 0 | off |
/// | `mode` | | [`Mode::Enabled`] |
///
/// ```
/// use std::time::Duration;
/// use cb_runtime::{Config, Window};
///
/// let config = Config::new()
///     .window(Window::Calls(50))
///     .min_calls(20)
///     .slow(Duration::from_secs(2));
/// config.validate().unwrap();
///
/// let error = Config::new().window(Window::Calls(5)).min_calls(10).validate().unwrap_err();
/// assert_eq!(error.field(), "min_calls");
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
#[must_use]
pub struct Config {
    pub(crate) window: Option<Window>,
    pub(crate) buckets: Option<u32>,
    pub(crate) min_calls: Option<u32>,
    pub(crate) failure_rate: Option<f64>,
    pub(crate) slow: Option<Option<Duration>>,
    pub(crate) slow_rate: Option<f64>,
    pub(crate) failure_count: Option<Option<u32>>,
    pub(crate) consecutive_failures: Option<Option<u32>>,
    pub(crate) count_running: Option<bool>,
    pub(crate) warmup: Option<Option<Duration>>,
    pub(crate) on_cancel: Option<OnCancel>,
    pub(crate) wait: Option<Duration>,
    pub(crate) wait_multiplier: Option<f64>,
    pub(crate) wait_max: Option<Option<Duration>>,
    pub(crate) wait_jitter: Option<Option<f64>>,
    pub(crate) wait_by_failure_rate: Option<bool>,
    pub(crate) wait_recover: Option<Option<Duration>>,
    pub(crate) auto_half_open: Option<bool>,
    pub(crate) half_open_calls: Option<u32>,
    pub(crate) deciding_probes: Option<u32>,
    pub(crate) half_open_concurrency: Option<u32>,
    pub(crate) half_open_delay: Option<Option<Duration>>,
    pub(crate) half_open_successes: Option<Option<u32>>,
    pub(crate) half_open_success_rate: Option<Option<f64>>,
    pub(crate) half_open_failures: Option<Option<u32>>,
    pub(crate) half_open_failure_rate: Option<f64>,
    pub(crate) half_open_failure_window: Option<Option<Duration>>,
    pub(crate) half_open_slow: Option<Duration>,
    pub(crate) half_open_attempts: Option<Option<u32>>,
    pub(crate) half_open_max_wait: Option<Option<Duration>>,
    pub(crate) half_open_max_wait_state: Option<MaxWaitState>,
    pub(crate) ramp: Option<Option<Duration>>,
    pub(crate) mode: Option<Mode>,
}

/// Calls `$then!` with every field of [`Config`], so that no list of them can forget one.
macro_rules! each_field {
    ($then:ident) => {
        $then!(
            window,
            buckets,
            min_calls,
            failure_rate,
            slow,
            slow_rate,
            failure_count,
            consecutive_failures,
            count_running,
            warmup,
            on_cancel,
            wait,
            wait_multiplier,
            wait_max,
            wait_jitter,
            wait_by_failure_rate,
            wait_recover,
            auto_half_open,
            half_open_calls,
            deciding_probes,
            half_open_concurrency,
            half_open_delay,
            half_open_successes,
            half_open_success_rate,
            half_open_failures,
            half_open_failure_rate,
            half_open_failure_window,
            half_open_slow,
            half_open_attempts,
            half_open_max_wait,
            half_open_max_wait_state,
            ramp,
            mode
        )
    };
}

/// Setters that take a value as it is.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $ty:ty;)*) => {$(
        $(#[$doc])*
        pub const fn $name(mut self, $name: $ty) -> Self {
            self.$name = Some($name);
            self
        }
    )*};
}

/// Setters of what can be off, with the one that says so.
macro_rules! optional_setters {
    ($($(#[$doc:meta])* $name:ident: $ty:ty, $off:ident;)*) => {$(
        $(#[$doc])*
        pub const fn $name(mut self, $name: $ty) -> Self {
            self.$name = Some(Some($name));
            self
        }

        #[doc = concat!("Turns [`", stringify!($name), "`](Self::", stringify!($name), ") off, also where a layer below has it.")]
        pub const fn $off(mut self) -> Self {
            self.$name = Some(None);
            self
        }
    )*};
}

impl Config {
    /// Nothing chosen.
    pub const fn new() -> Self {
        macro_rules! nothing {
            ($($field:ident),*) => { Self { $($field: None),* } };
        }
        each_field!(nothing)
    }

    /// Resilience4j 2.4.0's own defaults, to the letter: the last 100 calls, at least 100 of them,
    /// 50 % failures or 100 % slower than 60 s, a wait of 60 s, 10 probes, no limit on HALF_OPEN.
    ///
    /// The template `"resilience4j"` of every registry. With these a dependency called less than
    /// 100 times is not protected at all.
    pub const fn resilience4j() -> Self {
        Self::new()
            .window(Window::Calls(100))
            .min_calls(100)
            .failure_rate(50.0)
            .slow(Duration::from_secs(60))
            .slow_rate(100.0)
            .failure_count_off()
            .consecutive_failures_off()
            .count_running(false)
            .warmup_off()
            .on_cancel(OnCancel::Ignore)
            .wait(Duration::from_secs(60))
            .wait_multiplier(1.0)
            .wait_max_off()
            .auto_half_open(false)
            .wait_jitter_off()
            .wait_by_failure_rate(false)
            .half_open_calls(10)
            .half_open_delay_off()
            .half_open_successes_off()
            .half_open_success_rate_off()
            .half_open_failures_off()
            .half_open_failure_window_off()
            .half_open_attempts_off()
            .half_open_max_wait_off()
            .half_open_max_wait_state(MaxWaitState::Open)
            .ramp_off()
    }

    setters! {
        /// The calls that the rates are computed over.
        window: Window;
        /// Into how many buckets a time window is divided; a call leaves the window with its
        /// whole bucket.
        buckets: u32;
        /// No rate is judged over fewer calls than this.
        min_calls: u32;
        /// Opens when this percentage of the window's calls failed, or more. `50.0` is half of
        /// them, `0.5` is one in 200.
        failure_rate: f64;
        /// Opens when this percentage of the window's calls was slow, or more. Needs `slow`.
        slow_rate: f64;
        /// Calls that are still running past `slow` count as slow at once, so that a hang is seen
        /// while it hangs, to within a sixteenth of `slow`, or 1 ms. Needs `slow`.
        count_running: bool;
        /// What becomes of calls that are dropped before they end.
        on_cancel: OnCancel;
        /// Time in OPEN before the first probe. `Duration::MAX` means for ever.
        wait: Duration;
        /// Each opening in a row waits this many times as long as the one before, rounded down
        /// to whole milliseconds; 1 is off. Closing starts over.
        wait_multiplier: f64;
        /// Become HALF_OPEN when the wait ends rather than at the next call after that.
        auto_half_open: bool;
        /// Probes in one HALF_OPEN stay. With a smaller `min_calls`, that many decide.
        half_open_calls: u32;
        /// The sicker the downstream, the longer the wait: from `wait` at `failure_rate` to
        /// `wait_max` at 100 % failures. Needs `wait_max`. Only openings by the failure rate.
        wait_by_failure_rate: bool;
        /// Probes at the same time; all of them, unless this is set. For a downstream that must not
        /// be hit by several at once while it recovers.
        half_open_concurrency: u32;
        /// The failure rate that opens again; `failure_rate`, unless this is set.
        half_open_failure_rate: f64;
        /// A stricter limit of slow for probes; `slow`, unless this is set.
        half_open_slow: Duration;
        /// Where a HALF_OPEN stay goes that reached `half_open_max_wait`.
        half_open_max_wait_state: MaxWaitState;
        /// What a new breaker does.
        mode: Mode;
    }

    optional_setters! {
        /// A call that takes longer is slow, whatever its result. With 0.4 s and more on Linux, one that is
        /// over it by a few milliseconds may be overlooked while no other comes near it.
        slow: Duration, slow_off;
        /// Opens at this many failures within the window, whatever the rate.
        failure_count: u32, failure_count_off;
        /// Opens at this many failures in a row. Needs no minimum and nothing ages, so it also
        /// protects what is called too rarely for a rate.
        consecutive_failures: u32, consecutive_failures_off;
        /// After the first call, outcomes are recorded but not judged for so long; then the window
        /// and the failures in a row begin anew, and calls that began before count nowhere. For a
        /// service whose first calls are slow or fail by nature.
        warmup: Duration, warmup_off;
        /// After the probes have closed it, admit a tenth of the calls, growing to all of them over
        /// this time. For a downstream that falls over again under the full load.
        ramp: Duration, ramp_off;
        /// The longest wait.
        wait_max: Duration, wait_max_off;
        /// The random part of each wait, in percent of it, either way; so that instances do not
        /// probe all at once.
        wait_jitter: f64, wait_jitter_off;
        /// After closing, one opening in a row is forgotten for each such time in CLOSED; off, all
        /// are at once. For a downstream that recovers only briefly.
        wait_recover: Duration, wait_recover_off;
        /// The pause between the end of the wait and the first probe. The call that ends the wait
        /// is rejected. It counts towards `half_open_max_wait`.
        half_open_delay: Duration, half_open_delay_off;
        /// So many probes in a row that succeed and are not slow close at once.
        half_open_successes: u32, half_open_successes_off;
        /// When all probes are in, close if this percentage of them succeeded and was not slow, else
        /// open; instead of the other rates.
        half_open_success_rate: f64, half_open_success_rate_off;
        /// So many failed probes open at once; 1 is a veto.
        half_open_failures: u32, half_open_failures_off;
        /// Failed probes older than this are forgotten, and give their permit back. Needs
        /// `half_open_failures`.
        half_open_failure_window: Duration, half_open_failure_window_off;
        /// After so many failed HALF_OPEN stays in a row every wait is `wait_max`.
        half_open_attempts: u32, half_open_attempts_off;
        /// The longest HALF_OPEN stay. With [`MaxWaitState::Decide`] it is counted from the first
        /// probe: a stay in which nobody asks goes on until somebody does.
        half_open_max_wait: Duration, half_open_max_wait_off;
    }

    /// For the replay of recorded traces only: Resilience4j lowers a minimum above the window in
    /// CLOSED but not in HALF_OPEN, which no configuration here can say.
    #[doc(hidden)]
    pub const fn __deciding_probes(mut self, probes: u32) -> Self {
        self.deciding_probes = Some(probes);
        self
    }

    /// Checks ranges and contradictions, as if this were the only layer above the built-in
    /// defaults.
    ///
    /// # Errors
    ///
    /// The first setting that is out of its range or contradicts another one.
    pub fn validate(&self) -> Result<(), crate::ConfigError> {
        resolve(self, None).map(drop)
    }

    /// The choices of both; where both chose, `later` wins. Buckets belong to the window that they
    /// were chosen with.
    pub(crate) fn overlay(&self, later: &Self) -> Self {
        macro_rules! overlay {
            ($($field:ident),*) => {
                Self { $($field: later.$field.or(self.$field)),* }
            };
        }
        let mut merged = each_field!(overlay);
        if later.window.is_some() {
            merged.buckets = later.buckets;
        }
        merged
    }

    /// The names of the chosen settings with their values, for reports.
    pub(crate) fn chosen(&self) -> Vec<(&'static str, String)> {
        let mut chosen = Vec::new();
        macro_rules! list {
            ($($field:ident),*) => {$(
                if let Some(value) = &self.$field {
                    chosen.push((stringify!($field), Shown(value).to_string()));
                }
            )*};
        }
        each_field!(list);
        chosen.retain(|(name, _)| *name != "deciding_probes"); // nobody's choice
        chosen
    }

    /// Takes back the choice of the setting of this name.
    #[cfg(feature = "config-file")]
    pub(crate) fn unset(&mut self, name: &str) {
        macro_rules! unset {
            ($($field:ident),*) => {$(
                if name == stringify!($field) {
                    self.$field = None;
                }
            )*};
        }
        each_field!(unset);
    }

    /// Whether nothing was chosen that belongs to the breaker rather than to one function.
    pub(crate) fn sets_no_policy(&self) -> bool {
        Self {
            on_cancel: None,
            ..self.clone()
        } == Self::new()
    }
}

/// Values as the attribute writes them: `off` for what is off, `metrics_only`, a window's length.
struct Shown<'a, T>(&'a T);

impl<T: fmt::Debug> fmt::Display for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:?}", self.0);
        let mut text = text.as_str();
        for around in ["Some(", "Calls(", "Time("] {
            let inside = text.strip_prefix(around);
            text = inside.and_then(|t| t.strip_suffix(')')).unwrap_or(text);
        }
        if text == "None" {
            return f.write_str("off");
        }
        for (at, letter) in text.char_indices() {
            if letter.is_uppercase() && at > 0 {
                f.write_str("_")?;
            }
            write!(f, "{}", letter.to_lowercase())?;
        }
        Ok(())
    }
}
