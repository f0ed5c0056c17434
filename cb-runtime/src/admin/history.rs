//! The recent events of every breaker, in a bounded memory, and their way to the live clients.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use super::words::describe;
use crate::event::{Event, EventKind};
use crate::sync::{Mutex, lock};

/// Events kept of one breaker.
const OF_EACH: usize = 64;
/// Events kept in all; the oldest go first, whosever they are.
const IN_ALL: usize = 8192;
/// The length of their breakers' names in all, in bytes: keys may come from anywhere.
const NAMES: usize = 4 << 20;
/// Events handed to a live client at a time.
const AT_ONCE: usize = 64;

pub(super) struct History {
    kept: Mutex<Kept>,
    /// The number of the latest event, for the live clients to wait on.
    latest: watch::Sender<u64>,
    /// Tells the event numbers of this router from those of an earlier process.
    run: String,
    /// Since when events are kept, on the registry's clock.
    pub(super) since: Duration,
}

/// An event and its place among all.
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) event: Event,
}

#[derive(Default)]
struct Kept {
    /// The number of the latest; the first is 1.
    latest: u64,
    records: BTreeMap<u64, Arc<Record>>,
    /// The length of the names of `records`, in bytes.
    names: usize,
    /// The numbers of each breaker's records, the oldest first. Never empty.
    of_breaker: HashMap<String, VecDeque<u64>>,
}

/// How far a live client has read. It costs no memory to be behind: what it has not read when it
/// is displaced is lost, and counted.
pub(super) struct Reader {
    /// The number of the last event that it has.
    read: u64,
    latest: watch::Receiver<u64>,
}

/// The next events of a reader.
#[derive(Default)]
pub(super) struct Unread {
    pub(super) records: VecDeque<Arc<Record>>,
    /// How many before and between them are not kept any more.
    pub(super) lost: u64,
}

impl History {
    pub(super) fn new(since: Duration) -> Self {
        Self {
            kept: Mutex::default(),
            latest: watch::Sender::new(0),
            run: format!("{:x}", RandomState::new().hash_one(0_u8)),
            since,
        }
    }

    /// Runs in the thread that caused the event.
    pub(super) fn add(&self, event: &Event) {
        let latest = {
            let mut kept = lock(&self.kept);
            kept.add(event.clone());
            kept.latest
        };
        // Another thread may have been faster with a later one.
        self.latest.send_if_modified(|known| {
            let news = latest > *known;
            *known = latest.max(*known);
            news
        });
    }

    /// The kept events of a breaker, the oldest first.
    pub(super) fn of(&self, breaker: &str) -> Records {
        let kept = lock(&self.kept);
        Records(kept.of(breaker).cloned().collect())
    }

    /// The latest transitions of each breaker, at most so many of each, the oldest first.
    pub(super) fn transitions(&self, most: usize) -> BTreeMap<String, Vec<Arc<Record>>> {
        let kept = lock(&self.kept);
        let of_one = |name: &String| {
            let transitions = kept
                .of(name)
                .filter(|record| matches!(record.event.kind, EventKind::Transition { .. }));
            let transitions: Vec<_> = transitions.cloned().collect();
            let first = transitions.len().saturating_sub(most);
            (name.clone(), transitions[first..].to_vec())
        };
        kept.of_breaker.keys().map(of_one).collect()
    }

    /// A reader of the events from now on, or of those after `last`, the id of the last event that
    /// the client saw; after an id of another run, of all events.
    pub(super) fn reader(&self, last: Option<&str>) -> Reader {
        let latest = self.latest.subscribe();
        let now = lock(&self.kept).latest;
        let read = match last.map(|id| self.number_of(id)) {
            None => now,
            Some(Some(number)) if number <= now => number,
            Some(_) => 0,
        };
        Reader { read, latest }
    }

    /// The next events of a reader, and how many it has lost; nothing of both if it has read all.
    pub(super) fn unread(&self, reader: &mut Reader) -> Unread {
        let kept = lock(&self.kept);
        let records: VecDeque<_> = kept
            .records
            .range(reader.read + 1..)
            .take(AT_ONCE)
            .map(|(_, record)| Arc::clone(record))
            .collect();
        let read = records.back().map_or(kept.latest, |last| last.number);
        let lost = read - reader.read - records.len() as u64;
        reader.read = read;
        Unread { records, lost }
    }

    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.run)
    }

    fn number_of(&self, id: &str) -> Option<u64> {
        let (run, number) = id.split_once('-')?;
        (run == self.run).then(|| number.parse().ok()).flatten()
    }
}

impl Reader {
    /// Waits until there may be something unread.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped.
    pub(super) async fn news(&mut self) {
        // An error means that the history is gone, and the router with it.
        if self.latest.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Kept {
    fn of(&self, breaker: &str) -> impl Iterator<Item = &Arc<Record>> {
        let numbers = self.of_breaker.get(breaker).into_iter().flatten();
        numbers.filter_map(|number| self.records.get(number))
    }

    fn add(&mut self, event: Event) {
        self.latest += 1;
        let number = self.latest;
        // Most events are of breakers that have had one: no text is copied for those.
        if !self.of_breaker.contains_key(event.breaker()) {
            self.of_breaker
                .insert(event.breaker().to_owned(), VecDeque::new());
        }
        if let Some(numbers) = self.of_breaker.get_mut(event.breaker()) {
            numbers.push_back(number);
            if numbers.len() > OF_EACH {
                let oldest = numbers.pop_front();
                let gone = oldest.and_then(|oldest| self.records.remove(&oldest));
                self.names -= gone.map_or(0, |gone| gone.event.breaker().len());
            }
        }
        let record = Arc::new(Record { number, event });
        self.names += record.event.breaker().len();
        self.records.insert(number, record);
        while self.records.len() > IN_ALL || self.names > NAMES {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((_, oldest)) = self.records.pop_first() else {
            return;
        };
        let name = oldest.event.breaker();
        self.names -= name.len();
        if let Some(numbers) = self.of_breaker.get_mut(name) {
            numbers.pop_front();
            if numbers.is_empty() {
                self.of_breaker.remove(name);
            }
        }
    }
}

/// Records as a list.
pub(super) struct Records(pub(super) Vec<Arc<Record>>);

impl Serialize for Records {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|record| &**record))
    }
}

/// An event as the routes write it: as everywhere, and in words.
impl Serialize for Record {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(flatten)]
            event: &'a Event,
            text: String,
        }
        let text = describe(&self.event.kind);
        Written {
            event: &self.event,
            text,
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    fn event(breaker: &str) -> Event {
        Event {
            breaker: Name::of(breaker),
            at: Duration::ZERO,
            generation: 1,
            kind: EventKind::Reset,
            figures: None,
        }
    }

    fn numbers<'a>(records: impl IntoIterator<Item = &'a Arc<Record>>) -> Vec<u64> {
        records.into_iter().map(|record| record.number).collect()
    }

    #[test]
    fn the_latest_of_each_breaker_are_kept() {
        let history = History::new(Duration::ZERO);
        history.add(&event("quiet"));
        for _ in 0..OF_EACH + 3 {
            history.add(&event("flapping"));
        }
        assert_eq!(numbers(&history.of("quiet").0), [1]);
        let flapping = numbers(&history.of("flapping").0);
        assert_eq!(flapping.len(), OF_EACH);
        assert_eq!(flapping.first(), Some(&5));
        assert!(history.of("unknown").0.is_empty());
    }

    #[test]
    fn however_many_breakers_there_are_the_memory_is_bounded() {
        let history = History::new(Duration::ZERO);
        for number in 0..IN_ALL + 10 {
            history.add(&event(&format!("key {number}")));
        }
        {
            let kept = lock(&history.kept);
            assert_eq!(kept.records.len(), IN_ALL);
            assert_eq!(kept.of_breaker.len(), IN_ALL);
        }
        assert!(history.of("key 9").0.is_empty());
        assert_eq!(numbers(&history.of("key 10").0), [11]);
    }

    #[test]
    fn however_long_the_names_are_the_memory_is_bounded() {
        let history = History::new(Duration::ZERO);
        let long = "n".repeat(NAMES / 100);
        for number in 0..300 {
            history.add(&event(&format!("{long}{number}")));
            history.add(&event("short"));
        }
        let kept = lock(&history.kept);
        let lengths = kept.records.values().map(|one| one.event.breaker().len());
        assert_eq!(kept.names, lengths.sum::<usize>());
        assert!(kept.names <= NAMES);
        let longest = kept.of_breaker.keys().filter(|name| *name != "short");
        assert_eq!(longest.count(), 99);
        drop(kept);
        history.add(&event(&"n".repeat(NAMES + 1)));
        assert!(lock(&history.kept).records.is_empty());
        history.add(&event("short"));
        assert_eq!(history.of("short").0.len(), 1);
    }

    /// All that is unread, and how many are lost.
    fn read(history: &History, reader: &mut Reader) -> (Vec<u64>, u64) {
        let (mut all, mut lost) = (Vec::new(), 0);
        loop {
            let unread = history.unread(reader);
            all.extend(numbers(&unread.records));
            lost += unread.lost;
            if unread.records.is_empty() {
                return (all, lost);
            }
        }
    }

    #[test]
    fn who_comes_back_gets_what_was_missed_and_hears_what_is_lost() {
        let history = History::new(Duration::ZERO);
        for _ in 0..3 {
            history.add(&event("a"));
        }
        let mut back = history.reader(Some(&history.id(1)));
        assert_eq!(read(&history, &mut back), (vec![2, 3], 0));
        assert_eq!(read(&history, &mut back), (vec![], 0));
        let mut new = history.reader(None);
        assert_eq!(read(&history, &mut new), (vec![], 0));
        for _ in 0..OF_EACH + 10 {
            history.add(&event("a"));
            history.add(&event("b"));
        }
        let (all, lost) = read(&history, &mut new);
        assert_eq!((all.len(), lost), (2 * OF_EACH, 20));
        let mut very_late = history.reader(Some(&history.id(1)));
        let (all, lost) = read(&history, &mut very_late);
        assert_eq!((all.len(), lost), (2 * OF_EACH, 22));
        // An id of another run, of the future, or no id at all.
        for id in ["0-1", &history.id(1000), "", "-", "x"] {
            let (all, lost) = read(&history, &mut history.reader(Some(id)));
            assert_eq!((all.len(), lost), (2 * OF_EACH, 23), "{id}");
        }
    }
}
