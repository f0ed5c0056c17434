//! The breakers of a name that has one for each key: a bounded set of them.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, PoisonError};

use once_cell::sync::OnceCell;

use crate::breaker::{CircuitBreaker, Surroundings};
use crate::clock::{Nanos, nanos};
use crate::config::Window;
use crate::layers::Layers;
use crate::name::Name;
use crate::slot::{SharedSlot, Slot};
use crate::sync::{AtomicU64, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The key of the breaker for keys that found no room.
const REST: &str = "*";
/// What a caller's key that reads like it becomes: keys often come from outside, and nobody shall be able to
/// open the breaker of others with one.
const NOT_REST: &str = "\\*";
/// How long a breaker with a count window must have been idle to be dropped.
const IDLE: Nanos = 30_000_000_000;
/// When there is no room, this part of those that can go is dropped at once, the longest idle
/// first, so that a flood of new keys does not search the whole set for each.
const AT_ONCE: usize = 16;

pub(crate) struct Keys {
    name: &'static str,
    /// Changed under the lock of `slots`, under which breakers are made of it.
    layers: RwLock<Arc<Layers>>,
    surroundings: Surroundings,
    max: usize,
    slots: RwLock<HashMap<Box<str>, SharedSlot>>,
    rest: OnceCell<SharedSlot>,
    /// After a search that found nothing to drop: when to search again.
    full_until: AtomicU64,
    dropped: AtomicU64,
    overflowed: AtomicU64,
}

/// How many breakers a name with a `key` has, and what became of the keys that found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct KeyFigures {
    /// Keys with a breaker of their own.
    pub keys: usize,
    /// The most that there can be.
    pub max_keys: usize,
    /// Breakers that were dropped, idle, to make room.
    pub dropped: u64,
    /// Calls whose key found no room, since every other breaker was protecting or in use. They
    /// share the breaker `name[*]`. The key `*` itself has the breaker `name[\*]`.
    pub overflowed: u64,
}

impl Keys {
    pub(crate) fn new(
        name: &'static str,
        layers: Arc<Layers>,
        max_keys: u32,
        surroundings: Surroundings,
    ) -> Self {
        Self {
            name,
            layers: RwLock::new(layers),
            // There may be many of them.
            surroundings: Surroundings {
                shards: false,
                ..surroundings
            },
            max: usize::try_from(max_keys).unwrap_or(usize::MAX),
            slots: RwLock::default(),
            rest: OnceCell::new(),
            full_until: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            overflowed: AtomicU64::new(0),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn layers(&self) -> Arc<Layers> {
        Arc::clone(&read(&self.layers))
    }

    /// Puts another configuration in force for the breakers that there are and for later ones.
    pub(crate) fn reconfigure(&self, layers: Arc<Layers>) {
        let made: Vec<_> = {
            let slots = write(&self.slots);
            *write(&self.layers) = Arc::clone(&layers);
            slots.values().chain(self.rest.get()).cloned().collect()
        };
        for slot in made {
            slot.breaker.inner.reconfigure(Arc::clone(&layers));
        }
    }

    /// For how long a breaker must have been idle to be dropped: a window.
    fn idle(&self) -> Nanos {
        match read(&self.layers).settings().window {
            Window::Time(time) => nanos(time),
            Window::Calls(_) => IDLE,
        }
    }

    /// The breaker of this key, for a call.
    pub(crate) fn for_call(&self, key: &str) -> SharedSlot {
        let now = self.surroundings.clock.now();
        let key = if key == REST { NOT_REST } else { key };
        // Cloned under the lock, so that `make_room` sees that it is in use.
        let found = read(&self.slots).get(key).cloned();
        let slot = found.unwrap_or_else(|| self.make(key, now));
        slot.called(now);
        slot
    }

    /// The breaker of this key, if it has one.
    pub(crate) fn get(&self, key: &str) -> Option<CircuitBreaker> {
        let slot = if key == REST {
            self.rest.get().cloned()
        } else {
            read(&self.slots).get(key).cloned()
        };
        slot.map(|slot| slot.breaker.clone())
    }

    pub(crate) fn all(&self) -> Vec<CircuitBreaker> {
        let mut all: Vec<_> = read(&self.slots)
            .values()
            .map(|slot| slot.breaker.clone())
            .collect();
        all.extend(self.rest.get().map(|slot| slot.breaker.clone()));
        all
    }

    /// Drops the breaker of this key; handles to it stay usable.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let removed = write(&self.slots).remove(key);
        removed.is_some()
    }

    /// Drops all of them.
    pub(crate) fn clear(&self) {
        // Dropped outside of the lock, with the listeners they have.
        let cleared = std::mem::take(&mut *write(&self.slots));
        drop(cleared);
    }

    pub(crate) fn figures(&self) -> KeyFigures {
        // Relaxed: for reports.
        let count = |total: &AtomicU64| total.load(Ordering::Relaxed);
        KeyFigures {
            keys: read(&self.slots).len(),
            max_keys: self.max,
            dropped: count(&self.dropped),
            overflowed: count(&self.overflowed),
        }
    }

    #[cold]
    fn make(&self, key: &str, now: Nanos) -> SharedSlot {
        let (slot, dropped) = {
            let mut slots = write(&self.slots);
            let dropped = if slots.len() < self.max || slots.contains_key(key) {
                Vec::new()
            } else {
                self.make_room(&mut slots, now)
            };
            if let Some(slot) = slots.get(key) {
                (Some(SharedSlot::clone(slot)), dropped)
            } else if slots.len() < self.max {
                let slot = SharedSlot::new(Slot::new(self.breaker(key), now));
                slots.insert(key.into(), SharedSlot::clone(&slot));
                (Some(slot), dropped)
            } else {
                (None, dropped)
            }
        };
        drop(dropped);
        slot.unwrap_or_else(|| {
            // Relaxed: a total for reports.
            self.overflowed.fetch_add(1, Ordering::Relaxed);
            self.rest(now)
        })
    }

    fn rest(&self, now: Nanos) -> SharedSlot {
        // Not beside a change of the layers, which would miss it.
        let _slots = self.rest.get().is_none().then(|| write(&self.slots));
        let rest = self
            .rest
            .get_or_init(|| SharedSlot::new(Slot::new(self.breaker(REST), now)));
        SharedSlot::clone(rest)
    }

    fn breaker(&self, key: &str) -> CircuitBreaker {
        let name = Name::of(&format!("{}[{key}]", self.name));
        CircuitBreaker::new(name, self.layers(), self.surroundings.clone())
    }

    /// Takes out the longest idle of those that can go. The caller has the lock, so nobody begins
    /// a call with any of them.
    fn make_room(&self, slots: &mut HashMap<Box<str>, SharedSlot>, now: Nanos) -> Vec<SharedSlot> {
        // Relaxed: written and read under the lock.
        if now < self.full_until.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let window = self.idle();
        let mut idle: Vec<_> = slots
            .iter_mut()
            .filter_map(|(key, slot)| {
                let last = slot.last_call();
                if now.saturating_sub(last) < window {
                    return None;
                }
                // `get_mut` rather than a look at the count, which is relaxed: who finds that a call has
                // let go of the slot sees what it has done to the breaker.
                let unused = SharedSlot::get_mut(slot)?;
                unused.is_dispensable().then(|| (last, key.clone()))
            })
            .collect();
        if idle.is_empty() {
            let again = now.saturating_add(window / 16);
            self.full_until.store(again, Ordering::Relaxed);
            return Vec::new();
        }
        let enough = idle.len().div_ceil(AT_ONCE);
        idle.select_nth_unstable(enough - 1);
        idle.truncate(enough);
        // Relaxed: a total for reports.
        self.dropped.fetch_add(idle.len() as u64, Ordering::Relaxed);
        idle.iter()
            .filter_map(|(_, key)| slots.remove(key))
            .collect()
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// A key as text, without an allocation for those of an ordinary length.
#[derive(Debug)]
pub struct KeyText {
    inline: [u8; 64],
    length: usize,
    /// All of it, once it is too long.
    long: String,
}

impl KeyText {
    pub(crate) fn of(key: &(impl fmt::Display + ?Sized)) -> Self {
        let mut text = Self {
            inline: [0; 64],
            length: 0,
            long: String::new(),
        };
        // A `Display` that gives up has written what there is to go by.
        let _ = write!(text, "{key}");
        text
    }

    pub(crate) fn as_str(&self) -> &str {
        if self.long.is_empty() {
            // Only whole strings are written.
            std::str::from_utf8(&self.inline[..self.length]).unwrap_or_default()
        } else {
            &self.long
        }
    }
}

impl fmt::Write for KeyText {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let end = self.length + part.len();
        match self.inline.get_mut(self.length..end) {
            Some(room) if self.long.is_empty() => {
                room.copy_from_slice(part.as_bytes());
                self.length = end;
            }
            _ => {
                if self.long.is_empty() {
                    self.long = self.as_str().to_owned();
                }
                self.long.push_str(part);
            }
        }
        Ok(())
    }
}

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_are_kept_whole() {
        for length in [0, 1, 63, 64, 65, 200] {
            let key = "ä".repeat(length / 2) + &"x".repeat(length % 2);
            assert_eq!(KeyText::of(&key).as_str(), key);
            assert_eq!(
                KeyText::of(&format_args!("{key}{key}")).as_str(),
                key.repeat(2)
            );
        }
    }
}
