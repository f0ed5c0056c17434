//! The exporter: a registry, a recorder and the series in between.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use ::metrics::{Label, Recorder, SharedString};

use super::names::{Kind, METRICS};
use super::reading::Reading;
use super::series::Series;
use crate::breaker::CircuitBreaker;
use crate::event::Interest;
use crate::registry::{Registry, WeakRegistry};
use crate::sync::{Mutex, lock};

/// What is exported, and to whom.
#[derive(Clone, Default)]
#[must_use]
pub struct Options {
    without_keys: bool,
    without_durations: bool,
    labels: Vec<(String, String)>,
    recorder: Option<Arc<dyn Recorder + Send + Sync>>,
}

impl Options {
    /// Everything, to the recorder of the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether breakers of a `key` have series of their own, with the label `key`: so by default.
    /// Without, those of one name share one set of series: counts are summed, the state tells how
    /// many are in it, ratios are those of all calls together, and of times and streaks the longest
    /// counts, of the next probe the first.
    pub fn keys(mut self, keys: bool) -> Self {
        self.without_keys = !keys;
        self
    }

    /// Whether durations of calls are exported: so by default. Without, calls are counted and no
    /// clock is read for it.
    pub fn durations(mut self, durations: bool) -> Self {
        self.without_durations = !durations;
        self
    }

    /// A label that all series get. Where several registries export to one recorder, it keeps
    /// breakers of one name apart.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push((name.into(), value.into()));
        self
    }

    /// Exports to this recorder instead of the one of the process.
    pub fn recorder(mut self, recorder: Arc<dyn Recorder + Send + Sync>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    fn same_recorder(&self, other: &Self) -> bool {
        match (&self.recorder, &other.recorder) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    fn interest(&self) -> Interest {
        if self.without_durations {
            Interest::METERED
        } else {
            Interest::METERED.and(Interest::TIMED)
        }
    }

    fn with_recorder<T>(&self, tell: impl FnOnce(&dyn Recorder) -> T) -> T {
        match &self.recorder {
            Some(recorder) => tell(recorder),
            None => ::metrics::with_recorder(tell),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("keys", &!self.without_keys)
            .field("durations", &!self.without_durations)
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}

/// Exports the breakers of a registry. Clones are handles to the same one; see the
/// [module's documentation](super).
#[derive(Clone)]
pub struct Exporter {
    attached: Arc<Attached>,
}

/// Belongs to the registry.
pub(crate) struct Attached {
    registry: WeakRegistry,
    options: Options,
    series: Mutex<HashMap<Identity, Series>>,
}

/// The breaker's name, or the one it shares, and its key.
type Identity = (String, Option<String>);

impl Exporter {
    /// Exports this registry's breakers, also those that are made later, to the recorder of the
    /// process, for as long as the registry lives. Calls are counted from here on.
    ///
    /// A registry that has been attached to this recorder stays as it is, and nothing is counted
    /// twice.
    pub fn attach(registry: &Registry) -> Self {
        Self::attach_with(registry, Options::new())
    }

    /// The same, as the options say. Those of the first time stay.
    pub fn attach_with(registry: &Registry, options: Options) -> Self {
        let attached = {
            let mut exporters = lock(registry.exporters());
            let known = exporters
                .iter()
                .find(|attached| attached.options.same_recorder(&options));
            match known {
                Some(attached) => Arc::clone(attached),
                None => {
                    let attached = Arc::new(Attached {
                        registry: registry.downgrade(),
                        options,
                        series: Mutex::default(),
                    });
                    exporters.push(Arc::clone(&attached));
                    // Only the interest counts: no event is of these classes.
                    registry
                        .subscribe(attached.options.interest(), |_| {})
                        .forever();
                    attached
                }
            }
        };
        let exporter = Self { attached };
        exporter.describe();
        exporter.refresh();
        exporter
    }

    fn describe(&self) {
        self.attached.options.with_recorder(|recorder| {
            for metric in METRICS {
                let help = SharedString::const_str(metric.help);
                // The names end in their units, which exporters would otherwise append again.
                match metric.kind {
                    Kind::Counter => recorder.describe_counter(metric.name.into(), None, help),
                    Kind::Gauge => recorder.describe_gauge(metric.name.into(), None, help),
                    Kind::Histogram => recorder.describe_histogram(metric.name.into(), None, help),
                }
            }
        });
    }

    /// Brings every series up to date: call it before the exporter is asked for its text, or let
    /// [`run`](Self::run) do it again and again. Takes in the order of 10 µs for each breaker, and
    /// holds up no call.
    ///
    /// Once the registry is gone its gauges are set to what they are without breakers.
    pub fn refresh(&self) {
        let attached = &*self.attached;
        // Reading can make a transition, whose listeners run in here and may refresh too: so not
        // under the lock.
        let readings: Vec<_> = attached
            .breakers()
            .into_iter()
            .filter_map(|(identity, breaker, listed)| {
                Some((identity, Reading::of(breaker, listed)?))
            })
            .collect();
        let mut all = lock(&attached.series);
        for (identity, reading) in readings {
            let series = all.entry(identity);
            let series = series.or_insert_with_key(|identity| attached.series_of(identity));
            series.take(reading);
        }
        let durations = !attached.options.without_durations;
        attached.options.with_recorder(|recorder| {
            all.retain(|_, series| series.tell(recorder, durations));
        });
    }
}

impl Attached {
    /// All breakers: those that the registry has, and those that it had at the last refresh.
    fn breakers(&self) -> Vec<(Identity, CircuitBreaker, bool)> {
        let listed = self.registry.upgrade().map(|registry| registry.listed());
        let mut all: Vec<_> = listed
            .unwrap_or_default()
            .into_iter()
            .map(|(breaker, name)| (self.identity(&breaker, name), breaker, true))
            .collect();
        let there: HashSet<_> = all
            .iter()
            .map(|(_, breaker, _)| breaker.address())
            .collect();
        for (identity, series) in lock(&self.series).iter() {
            let gone = series
                .breakers()
                .filter(|one| !there.contains(&one.address()));
            all.extend(gone.map(|one| (identity.clone(), one.clone(), false)));
        }
        all
    }

    fn identity(&self, breaker: &CircuitBreaker, shared_name: Option<&'static str>) -> Identity {
        let Some(shared_name) = shared_name else {
            return (breaker.name().to_owned(), None);
        };
        let key = breaker.name().strip_prefix(shared_name);
        let key = key.and_then(|key| key.strip_prefix('[')?.strip_suffix(']'));
        let key = key.filter(|_| !self.options.without_keys);
        (shared_name.to_owned(), key.map(str::to_owned))
    }

    fn series_of(&self, (name, key): &Identity) -> Series {
        let mut labels = vec![Label::new("name", name.clone())];
        labels.extend(key.iter().map(|key| Label::new("key", key.clone())));
        let more = self.options.labels.iter();
        labels.extend(more.map(|(name, value)| Label::new(name.clone(), value.clone())));
        Series::new(labels)
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter")
            .field("options", &self.attached.options)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "tokio")]
mod run {
    use std::future::{Future, poll_fn};
    use std::pin::pin;
    use std::sync::{Arc, Weak};
    use std::time::Duration;

    use super::Exporter;
    use crate::report::OnceWarning;

    static NO_TIMER: OnceWarning = OnceWarning::new(
        "an exporter of metrics is not in a tokio runtime with its timer enabled: it is not refreshed",
    );

    impl Exporter {
        /// Refreshes each time so much has passed on the registry's clock, at least 1 ms; ends when
        /// the registry is gone. For exporters that serve their text themselves. Spawn it once, in a
        /// tokio runtime with its timer enabled:
        ///
        /// ```
        /// # use std::time::Duration;
        /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        /// # let _inside = runtime.enter();
        /// let exporter = cb_runtime::metrics::Exporter::attach(&cb_runtime::registry());
        /// tokio::spawn(exporter.run(Duration::from_secs(5)));
        /// ```
        ///
        /// # Cancel safety
        ///
        /// Dropping the future stops the refreshing and loses nothing.
        pub fn run(&self, every: Duration) -> impl Future<Output = ()> + Send + 'static {
            let attached = Arc::downgrade(&self.attached);
            let every = every.max(Duration::from_millis(1));
            async move {
                while let Some(sleep) = attached.upgrade().and_then(|attached| {
                    let registry = attached.registry.upgrade()?;
                    Some(registry.clock().sleep(every, &NO_TIMER))
                }) {
                    let mut sleep = pin!(sleep);
                    poll_fn(|cx| sleep.as_mut().poll(cx)).await;
                    refresh(&attached);
                }
            }
        }
    }

    fn refresh(attached: &Weak<super::Attached>) {
        if let Some(attached) = attached.upgrade() {
            Exporter { attached }.refresh();
        }
    }
}
