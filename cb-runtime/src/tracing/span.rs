//! The span of a guarded call.

use std::sync::{Arc, Once};

use ::tracing::Span;
use ::tracing::field::Empty;
use ::tracing::level_filters::STATIC_MAX_LEVEL;
use tracing_core::callsite::{self, Callsite};
use tracing_core::field::FieldSet;
use tracing_core::{Interest, Kind, Level, Metadata, identify_callsite};

use crate::permit::Handle;
use crate::state::State;
use crate::sync::{AtomicBool, Mutex, Ordering, lock};
use crate::watch::Watch;

const TARGET: &str = "cb_runtime::call";
const NAME: &str = "circuit_breaker";

/// A breaker and the span of the call it was asked for. Behind [`Handle`], so that guarded futures are
/// no larger for it, and in an `Arc` as the other variants are, so that dropping one stays small.
pub(crate) struct Traced<'a> {
    pub(crate) breaker: Handle<'a>,
    span: Span,
}

/// Told by `tracing` whether any subscriber wants spans like ours. While one does, it is among those
/// that watch single calls; while none does, calls do not even ask.
struct Switch {
    wanted: AtomicBool,
    watch: Mutex<Option<Watch>>,
}

static SWITCH: Switch = Switch {
    wanted: AtomicBool::new(false),
    watch: Mutex::new(None),
};

static METADATA: Metadata<'static> = Metadata::new(
    NAME,
    TARGET,
    Level::DEBUG,
    Some(file!()),
    Some(line!()),
    Some(module_path!()),
    FieldSet::new(&["name", "state", "outcome"], identify_callsite!(&SWITCH)),
    Kind::SPAN,
);

impl Callsite for Switch {
    fn set_interest(&self, interest: Interest) {
        let wanted = !interest.is_never();
        let mut watch = lock(&self.watch);
        // Relaxed: a call that has not seen it yet behaves as if it had come a little earlier.
        self.wanted.store(wanted, Ordering::Relaxed);
        if wanted != watch.is_some() {
            *watch = wanted.then(Watch::new);
        }
    }

    fn metadata(&self) -> &Metadata<'_> {
        &METADATA
    }
}

/// From now on `tracing` tells what subscribers want. For when a breaker is made.
pub(crate) fn listen() {
    static LISTENS: Once = Once::new();
    if Level::DEBUG <= STATIC_MAX_LEVEL {
        LISTENS.call_once(|| callsite::register(&SWITCH));
    }
}

impl<'a> Handle<'a> {
    /// With a span, if a subscriber wants it.
    pub(crate) fn traced(self, state: State) -> Self {
        // Relaxed: see `set_interest`.
        if SWITCH.wanted.load(Ordering::Relaxed) {
            self.with_span(state)
        } else {
            self
        }
    }

    #[cold]
    fn with_span(self, state: State) -> Self {
        let span = ::tracing::debug_span!(
            target: TARGET,
            NAME,
            name = self.name.as_str(),
            state = state.as_str(),
            outcome = Empty,
        );
        if span.is_disabled() {
            return self;
        }
        Self::Traced(Arc::new(Traced {
            breaker: self,
            span,
        }))
    }

    /// What runs now is inside of the span.
    ///
    /// Not by a guard of `tracing`, which could not be kept in a future.
    #[inline]
    pub(crate) fn enter_span(&self) {
        if let Self::Traced(traced) = self {
            traced
                .span
                .with_subscriber(|(id, subscriber)| subscriber.enter(id));
        }
    }

    /// And no longer.
    #[inline]
    pub(crate) fn exit_span(&self) {
        if let Self::Traced(traced) = self {
            traced
                .span
                .with_subscriber(|(id, subscriber)| subscriber.exit(id));
        }
    }

    /// How the call ended, for the span.
    #[inline]
    pub(crate) fn tell_outcome(&self, outcome: &'static str) {
        if let Self::Traced(traced) = self {
            traced.span.record("outcome", outcome);
        }
    }
}
