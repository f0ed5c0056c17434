//! Events on their way, in order, to whoever wants to hear them.
//!
//! An event is put into its breaker's queue where it happens; for transitions that is under the
//! breaker's lock, so the queue's order is theirs. It is delivered after the lock is gone, by the
//! thread that caused it, or by the one that is delivering just then. So listeners hear one event
//! at a time per breaker, may call back into it, and hold nobody up but the delivering thread.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use crate::event::{Event, Interest};
use crate::sync::{AtomicU8, AtomicU64, Mutex, OnceBox, OnceLock, Ordering, lock};
use crate::watch::{self, Watch};

/// Per-call events waiting beyond this are dropped, and counted.
const QUEUE_LIMIT: usize = 1024;
/// How many events of other threads a caller delivers besides its own.
const OTHERS_EVENTS: usize = 64;

type Listener = dyn Fn(&Event) + Send + Sync;

struct Subscriber {
    id: u64,
    interest: Interest,
    listener: Box<Listener>,
    /// Of per-call events.
    _watch: Option<Watch>,
}

/// The subscribers of one breaker, or of a whole registry.
#[derive(Default)]
pub(crate) struct Hub {
    /// The union of the subscribers' interests.
    interest: AtomicU8,
    subscribers: Mutex<Subscribers>,
    /// Of a registry: tells its timer that a deadline may have changed.
    #[cfg(feature = "tokio")]
    pub(crate) bell: crate::bell::Bell,
    #[cfg(feature = "tracing")]
    pub(crate) rejection_interval: crate::tracing::Interval,
    /// Its breakers guard nothing, so the log is not to hear of them.
    #[cfg(all(feature = "tracing", feature = "rehearsal"))]
    unlogged: bool,
}

#[derive(Default)]
struct Subscribers {
    next_id: u64,
    list: Vec<Arc<Subscriber>>,
}

impl Hub {
    /// Of breakers that guard nothing: the log does not hear of them.
    #[cfg(feature = "rehearsal")]
    pub(crate) fn unlogged() -> Self {
        Self {
            #[cfg(feature = "tracing")]
            unlogged: true,
            ..Self::default()
        }
    }

    #[cfg(feature = "tracing")]
    fn is_logged(&self) -> bool {
        #[cfg(feature = "rehearsal")]
        return !self.unlogged;
        #[cfg(not(feature = "rehearsal"))]
        true
    }

    pub(crate) fn subscribe(
        self: &Arc<Self>,
        interest: Interest,
        listener: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Subscription {
        let mut subscribers = lock(&self.subscribers);
        let id = subscribers.next_id;
        subscribers.next_id += 1;
        subscribers.list.push(Arc::new(Subscriber {
            id,
            interest,
            listener: Box::new(listener),
            _watch: interest
                .covers(Interest::EACH_CALL.and(Interest::DURATIONS))
                .then(Watch::new),
        }));
        self.update_interest(&subscribers);
        Subscription {
            hub: Arc::downgrade(self),
            id,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.subscribers).list.is_empty()
    }

    pub(crate) fn clear(&self) {
        // Dropped after the lock: a listener's destructor may be anything.
        let dropped = {
            let mut subscribers = lock(&self.subscribers);
            let dropped = std::mem::take(&mut subscribers.list);
            self.update_interest(&subscribers);
            dropped
        };
        drop(dropped);
    }

    fn update_interest(&self, subscribers: &Subscribers) {
        let union = subscribers
            .list
            .iter()
            .fold(0, |all, one| all | one.interest.bits());
        // Relaxed: a caller that has not seen the change yet behaves as if it had come a little
        // earlier. The list itself is behind the mutex.
        self.interest.store(union, Ordering::Relaxed);
    }

    #[inline]
    fn wants(&self, interest: Interest) -> bool {
        // Relaxed: see `update_interest`.
        self.interest.load(Ordering::Relaxed) & interest.bits() != 0
    }

    pub(crate) fn deliver(&self, event: &Event) {
        let interest = event.kind.class();
        if !self.wants(interest) {
            return;
        }
        let listeners: Vec<_> = lock(&self.subscribers)
            .list
            .iter()
            .filter(|one| one.interest.covers(interest))
            .cloned()
            .collect();
        for one in listeners {
            // A panic is the listener's own affair, and the panic hook has reported it; also one of
            // its destructor, which runs here if it has been unsubscribed meanwhile.
            let outcome = catch_unwind(AssertUnwindSafe(move || (one.listener)(event)));
            if let Err(payload) = outcome {
                // What was thrown may have a destructor that panics too.
                std::mem::forget(payload);
            }
        }
    }
}

/// Keeps a listener registered; dropping it unregisters. A delivery that is under way in another
/// thread may still end after the drop.
#[must_use = "dropping the subscription unregisters the listener"]
pub struct Subscription {
    hub: Weak<Hub>,
    id: u64,
}

impl Subscription {
    /// Keeps the listener for as long as the breaker or the registry lives.
    pub fn forever(mut self) {
        self.hub = Weak::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(hub) = self.hub.upgrade() {
            let dropped = {
                let mut subscribers = lock(&hub.subscribers);
                let position = subscribers.list.iter().position(|one| one.id == self.id);
                let dropped = position.map(|position| subscribers.list.remove(position));
                hub.update_interest(&subscribers);
                dropped
            };
            drop(dropped);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// One breaker's events on their way to the subscribers.
pub(crate) struct Events {
    heard: OnceBox<Heard>,
    registry: Arc<Hub>,
    #[cfg(feature = "tracing")]
    pub(crate) rejections: crate::tracing::Rejections,
    #[cfg(feature = "metrics")]
    meter: std::sync::OnceLock<Arc<crate::metrics::Meter>>,
}

/// What a breaker needs once somebody hears of it in particular, or of its events at all.
#[derive(Default)]
struct Heard {
    /// Made for the first who subscribes.
    own: OnceLock<Arc<Hub>>,
    /// Made for the first event that anybody wants.
    queue: OnceLock<Mutex<Queue>>,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Event>,
    /// How many of the waiting are not per-call events.
    transitions: usize,
    delivering: bool,
}

impl Events {
    pub(crate) fn new(registry: Arc<Hub>) -> Self {
        #[cfg(feature = "tracing")]
        crate::tracing::listen();
        Self {
            heard: OnceBox::new(),
            registry,
            #[cfg(feature = "tracing")]
            rejections: crate::tracing::Rejections::default(),
            #[cfg(feature = "metrics")]
            meter: std::sync::OnceLock::new(),
        }
    }

    fn heard(&self) -> &Heard {
        self.heard.get_or_init(Box::default)
    }

    #[inline]
    fn own(&self) -> Option<&Arc<Hub>> {
        self.heard.get()?.own.get()
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        self.heard().own.get_or_init(Arc::default)
    }

    /// Lets the registry's timer look at the deadlines again.
    #[cfg(feature = "tokio")]
    pub(crate) fn ring(&self) {
        self.registry.bell.ring();
    }

    /// Whether nobody listens to this breaker in particular.
    pub(crate) fn is_unheard(&self) -> bool {
        self.own().is_none_or(|hub| hub.is_empty())
    }

    pub(crate) fn are_told_to(&self, registry: &Arc<Hub>) -> bool {
        Arc::ptr_eq(&self.registry, registry)
    }

    /// Whether somebody wants to hear of single calls.
    #[inline]
    pub(crate) fn watches(&self, interest: Interest) -> bool {
        !watch::nobody() && self.wants(interest)
    }

    #[inline]
    pub(crate) fn wants(&self, interest: Interest) -> bool {
        self.own().is_some_and(|hub| hub.wants(interest)) || self.registry.wants(interest)
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn tell_rejection(
        &self,
        name: &crate::name::Name,
        why: crate::error::Why,
        now: crate::clock::Nanos,
        total: impl FnOnce() -> u64,
    ) {
        if self.registry.is_logged() {
            let interval = &self.registry.rejection_interval;
            self.rejections.tell(name, why, now, interval, total);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        // Relaxed: a counter, nothing else depends on it.
        let heard = self.heard.get();
        heard.map_or(0, |heard| heard.dropped.load(Ordering::Relaxed))
    }

    /// What each call is counted in, while an exporter is attached.
    #[cfg(feature = "metrics")]
    #[inline]
    pub(crate) fn meter(&self) -> Option<&Arc<crate::metrics::Meter>> {
        self.wants(Interest::METERED)
            .then(|| self.meter.get_or_init(Arc::default))
    }

    pub(crate) fn push(&self, event: Event) {
        #[cfg(feature = "metrics")]
        if let Some(meter) = self.meter() {
            meter.event(&event.kind);
        }
        let interest = event.kind.class();
        let logged = cfg!(feature = "tracing") && interest == Interest::TRANSITIONS;
        if !logged && !self.wants(interest) {
            return;
        }
        let heard = self.heard();
        let mut queue = lock(heard.queue.get_or_init(Mutex::default));
        if interest == Interest::CALLS && queue.waiting.len() >= QUEUE_LIMIT {
            drop(queue);
            // Relaxed: see `dropped`.
            heard.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        queue.transitions += usize::from(interest == Interest::TRANSITIONS);
        queue.waiting.push_back(event);
    }

    /// Delivers what is waiting, unless another thread, or this one further up, is at it.
    ///
    /// Under steady traffic there is always something waiting, and no caller must be held for good
    /// by the others' events. So beyond what waited when it began, and some more, a thread delivers
    /// only until no transition is left. Per-call events may then wait for the next event.
    pub(crate) fn deliver(&self) {
        let Some(waiting) = self.heard.get().and_then(|heard| heard.queue.get()) else {
            return;
        };
        let mut queue = lock(waiting);
        if queue.delivering {
            return;
        }
        queue.delivering = true;
        let mut turn = queue.waiting.len() + OTHERS_EVENTS;
        while turn > 0 || queue.transitions > 0 {
            let Some(event) = queue.waiting.pop_front() else {
                break;
            };
            let transition = event.kind.class() == Interest::TRANSITIONS;
            queue.transitions -= usize::from(transition);
            turn = turn.saturating_sub(1);
            drop(queue);
            #[cfg(feature = "tracing")]
            if self.registry.is_logged() {
                crate::tracing::tell(&event, &self.rejections);
            }
            if let Some(hub) = self.own() {
                hub.deliver(&event);
            }
            self.registry.deliver(&event);
            queue = lock(waiting);
        }
        queue.delivering = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::EventKind;
    use crate::name::Name;

    fn event(kind: EventKind) -> Event {
        Event {
            breaker: Name::literal("test"),
            at: Duration::ZERO,
            generation: 1,
            kind,
            figures: None,
        }
    }

    #[test]
    fn transitions_are_never_dropped_and_per_call_events_are_counted() {
        let events = Arc::new(Events::new(Arc::default()));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (inner, log) = (Arc::clone(&events), Arc::clone(&heard));
        let _all = events.hub().subscribe(Interest::ALL, move |event| {
            if lock(&log).is_empty() {
                // While this one is being delivered, the others only queue up.
                for _ in 0..QUEUE_LIMIT + 10 {
                    inner.push(self::event(EventKind::Late));
                }
                inner.push(self::event(EventKind::Reset));
                inner.deliver();
            }
            lock(&log).push(event.kind.clone());
        });
        events.push(event(EventKind::Reset));
        events.deliver();
        let heard = lock(&heard);
        assert_eq!(heard.len(), 1 + QUEUE_LIMIT + 1);
        assert_eq!(heard.last(), Some(&EventKind::Reset));
        assert_eq!(events.dropped(), 10);
    }

    #[test]
    fn a_caller_is_not_held_by_events_that_keep_coming() {
        let events = Arc::new(Events::new(Arc::default()));
        let heard = Arc::new(Mutex::new(0));
        let (inner, count) = (Arc::clone(&events), Arc::clone(&heard));
        let _all = events.hub().subscribe(Interest::ALL, move |_| {
            *lock(&count) += 1;
            // Another one for each that is delivered.
            inner.push(event(EventKind::Late));
        });
        events.push(event(EventKind::Late));
        events.deliver();
        assert_eq!(*lock(&heard), 1 + OTHERS_EVENTS);
    }

    #[test]
    fn a_destructor_that_panics_ends_nothing() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("of the listener's own");
            }
        }
        let events = Arc::new(Events::new(Arc::default()));
        let own: Arc<Mutex<Option<Subscription>>> = Arc::default();
        let (bomb, mine) = (Bomb, Arc::clone(&own));
        let subscription = events.hub().subscribe(Interest::ALL, move |_| {
            let _whole = &bomb;
            drop(lock(&mine).take());
        });
        *lock(&own) = Some(subscription);
        let heard = Arc::new(Mutex::new(0));
        let count = Arc::clone(&heard);
        let _other = events
            .hub()
            .subscribe(Interest::ALL, move |_| *lock(&count) += 1);
        for _ in 0..2 {
            events.push(event(EventKind::Reset));
            events.deliver();
        }
        assert_eq!(*lock(&heard), 2);
    }

    #[test]
    fn nothing_waits_for_nobody() {
        let events = Events::new(Arc::default());
        events.push(event(EventKind::Late));
        events.deliver();
        assert!(events.heard.get().is_none());
    }
}
