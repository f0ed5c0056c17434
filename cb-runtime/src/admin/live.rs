//! The stream of all events.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use serde::Serialize;

use super::Shared;
use super::figures::Seen;
use super::history::{Reader, Record};
use super::messages::{Source, full, message, stream};
use super::name::parameter;
use crate::clock::Clock;
use crate::report::OnceWarning;

/// How often figures are sent, and that the connection is alive.
const FIGURES_EVERY: Duration = Duration::from_secs(1);
const SIGN_OF_LIFE_EVERY: Duration = Duration::from_secs(15);

pub(super) static NO_TIMER: OnceWarning = OnceWarning::new(
    "the live streams of `admin` are not in a tokio runtime with its timer enabled: they send \
     events, but no figures and no signs of life",
);

pub(super) async fn follow(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let Ok(place) = Arc::clone(&shared.clients).try_acquire_owned() else {
        return full();
    };
    let last = headers.get("last-event-id");
    // What is no text is no id of ours.
    let last = last.map(|id| id.to_str().unwrap_or_default());
    let query = uri.query().unwrap_or_default();
    let figures = parameter(query, "figures").is_some_and(|value| value == "1");
    stream(Client::new(shared, figures, last), place)
}

/// One client of the stream.
struct Client {
    reader: Reader,
    unread: VecDeque<Arc<Record>>,
    lost: Lost,
    figures: Option<Seen>,
    greeted: bool,
    /// When the next figures, or sign of life, are due on the registry's clock.
    next: Duration,
    shared: Arc<Shared>,
}

#[derive(Default, Serialize)]
struct Lost {
    /// Since the last message of this kind.
    dropped: u64,
    /// Since the connection was made.
    total: u64,
}

#[derive(Serialize)]
struct Hello {
    now: f64,
    /// Whether there are routes that write.
    writable: bool,
    /// Since when events are kept.
    events_since: f64,
    /// Seconds between two messages with figures, if they were asked for.
    figures_every: Option<f64>,
}

impl Client {
    fn new(shared: Arc<Shared>, figures: bool, last: Option<&str>) -> Self {
        Self {
            reader: shared.history.reader(last),
            unread: VecDeque::new(),
            lost: Lost::default(),
            figures: figures.then(Seen::default),
            greeted: false,
            // The first figures come at once.
            next: shared.registry.clock().elapsed()
                + if figures {
                    Duration::ZERO
                } else {
                    SIGN_OF_LIFE_EVERY
                },
            shared,
        }
    }

    fn hello(&self) -> Bytes {
        let every = self.figures.is_some().then_some(FIGURES_EVERY);
        let hello = Hello {
            now: self.shared.now(),
            writable: self.shared.authoriser.is_some(),
            events_since: self.shared.history.since.as_secs_f64(),
            figures_every: every.map(|every| every.as_secs_f64()),
        };
        message(Some("hello"), None, &hello)
    }

    fn event(&self, record: &Record) -> Bytes {
        let id = self.shared.history.id(record.number);
        message(None, Some(&id), record)
    }

    /// What is due by the clock.
    fn tick(&mut self) -> Bytes {
        let now = self.shared.registry.clock().elapsed();
        match &mut self.figures {
            Some(seen) => {
                self.next = now + FIGURES_EVERY;
                self.shared.figures.changed(&self.shared, seen)
            }
            None => {
                self.next = now + SIGN_OF_LIFE_EVERY;
                Bytes::from_static(b": still here\n\n")
            }
        }
    }
}

impl Lost {
    fn add(&mut self, dropped: u64) {
        self.dropped += dropped;
        self.total += dropped;
    }
}

impl Source for Client {
    async fn next(mut self) -> (Self, Bytes) {
        if !self.greeted {
            self.greeted = true;
            let hello = self.hello();
            return (self, hello);
        }
        loop {
            if self.unread.is_empty() {
                let unread = self.shared.history.unread(&mut self.reader);
                self.unread = unread.records;
                self.lost.add(unread.lost);
            }
            if self.lost.dropped > 0 {
                let told = message(Some("dropped"), None, &self.lost);
                self.lost.dropped = 0;
                return (self, told);
            }
            let clock = self.shared.registry.clock();
            // Before the events, so that a flood of those does not hold the figures up.
            if self.next <= clock.elapsed() {
                let tick = self.tick();
                return (self, tick);
            }
            if let Some(record) = self.unread.pop_front() {
                let event = self.event(&record);
                return (self, event);
            }
            news_or_time(&mut self.reader, &clock, self.next).await;
        }
    }
}

/// Waits for an event, or for the time to come.
async fn news_or_time(reader: &mut Reader, clock: &Clock, until: Duration) {
    let mut news = pin!(reader.news());
    let wait = until.saturating_sub(clock.elapsed());
    let mut sleep = pin!(clock.sleep(wait, &NO_TIMER));
    poll_fn(|cx| {
        if news.as_mut().poll(cx).is_ready() || sleep.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
}
