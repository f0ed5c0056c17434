//! The calls of one breaker as they end.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use serde::Serialize;
use tokio::sync::Notify;

use super::live::NO_TIMER;
use super::messages::{Source, full, message, stream};
use super::name::Name;
use super::{Shared, answer, figures};
use crate::clock::Clock;
use crate::event::{EventKind, Interest};
use crate::listeners::Subscription;
use crate::sync::{Mutex, lock};

/// How many calls wait for the client; older ones are dropped and counted.
const WAITING: usize = 512;
/// The least time between two messages.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) async fn follow(State(shared): State<Arc<Shared>>, name: Name) -> Response<Body> {
    let Some(breaker) = shared.breaker(&name) else {
        return answer::unknown();
    };
    let Ok(place) = Arc::clone(&shared.clients).try_acquire_owned() else {
        return full();
    };
    let calls = Arc::new(Calls::default());
    let listener = Arc::clone(&calls);
    let slow = figures::slow(&breaker);
    let subscription = breaker.subscribe(Interest::CALLS, move |event| {
        listener.add(letter(&event.kind, slow));
    });
    let follower = Follower {
        calls,
        clock: shared.registry.clock(),
        next: Duration::ZERO,
        greeted: false,
        _subscription: subscription,
    };
    stream(follower, place)
}

/// One letter for each call: `s`uccess, `f`ailure, in capitals if slow; `c`ancelled and slow,
/// `i`gnored, `l`ate, `r`ejected.
fn letter(kind: &EventKind, slow: Option<Duration>) -> char {
    let is_slow = |duration: &Option<Duration>| slow.is_some_and(|slow| *duration > Some(slow));
    match kind {
        EventKind::Success { duration } if is_slow(duration) => 'S',
        EventKind::Success { .. } => 's',
        EventKind::Error { duration } if is_slow(duration) => 'F',
        EventKind::Error { .. } => 'f',
        EventKind::Cancelled { .. } => 'c',
        EventKind::Ignored { .. } => 'i',
        EventKind::Late => 'l',
        _ => 'r',
    }
}

#[derive(Default)]
struct Calls {
    waiting: Mutex<Waiting>,
    news: Notify,
}

#[derive(Default, Serialize)]
struct Waiting {
    calls: String,
    /// How many before these were dropped, the client being too slow.
    dropped: u64,
}

impl Calls {
    /// Runs in the thread of the call.
    fn add(&self, letter: char) {
        {
            let mut waiting = lock(&self.waiting);
            if waiting.calls.len() >= WAITING {
                // Half of them at once: taking them one by one would move the rest each time.
                waiting.calls.drain(..WAITING / 2);
                waiting.dropped += WAITING as u64 / 2;
            }
            waiting.calls.push(letter);
        }
        self.news.notify_one();
    }
}

struct Follower {
    calls: Arc<Calls>,
    clock: Clock,
    /// When the next message may be sent.
    next: Duration,
    greeted: bool,
    _subscription: Subscription,
}

impl Source for Follower {
    async fn next(mut self) -> (Self, Bytes) {
        if !self.greeted {
            // So that the client knows from when on it sees the calls.
            self.greeted = true;
            return (self, message(Some("calls"), None, &Waiting::default()));
        }
        loop {
            let rest = self.next.saturating_sub(self.clock.elapsed());
            if !rest.is_zero() {
                self.clock.sleep(rest, &NO_TIMER).await;
            }
            let waiting = std::mem::take(&mut *lock(&self.calls.waiting));
            if !waiting.calls.is_empty() {
                self.next = self.clock.elapsed() + PAUSE;
                return (self, message(Some("calls"), None, &waiting));
            }
            self.calls.news.notified().await;
        }
    }
}
