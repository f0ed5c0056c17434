//! Who sleeps on a test clock.

use std::task::{Context, Poll, Waker};

use super::{Nanos, TestClock};
use crate::few::insert_by_key;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

#[derive(Default)]
pub(super) struct Sleepers {
    next_id: AtomicU64,
    waiting: Mutex<Vec<(Sleeper, Waker)>>,
}

#[derive(Clone, Copy)]
pub(super) struct Sleeper {
    pub(super) id: u64,
    pub(super) until: Nanos,
}

impl Sleepers {
    pub(super) fn next_id(&self) -> u64 {
        // Relaxed: only distinct numbers matter.
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn poll(
        &self,
        clock: &TestClock,
        sleeper: Sleeper,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let waker = cx.waker().clone();
        let replaced = {
            let mut waiting = lock(&self.waiting);
            // Under the lock, so that an `advance` either is seen here or finds the waker.
            if clock.now() >= sleeper.until && sleeper.until != Nanos::MAX {
                return Poll::Ready(());
            }
            match waiting.iter_mut().find(|(one, _)| one.id == sleeper.id) {
                Some((_, old)) => Some(std::mem::replace(old, waker)),
                None => {
                    waiting.push((sleeper, waker));
                    None
                }
            }
        };
        // Outside the lock, as everything that is a task's.
        drop(replaced);
        Poll::Pending
    }

    #[cfg(feature = "tokio")]
    pub(super) fn remove(&self, id: u64) {
        let removed = {
            let mut waiting = lock(&self.waiting);
            let position = waiting.iter().position(|(one, _)| one.id == id);
            position.map(|position| waiting.swap_remove(position))
        };
        drop(removed);
    }

    /// Wakes, in the order of their deadlines, those that are due.
    pub(super) fn wake_due(&self, now: Nanos) {
        let due: Vec<(Sleeper, Waker)> = {
            let mut waiting = lock(&self.waiting);
            let is_due = |one: &Sleeper| one.until <= now && one.until != Nanos::MAX;
            let (due, rest) = waiting.drain(..).partition(|(one, _)| is_due(one));
            *waiting = rest;
            due
        };
        let mut in_order = Vec::new();
        for one in due {
            insert_by_key(&mut in_order, one, |(one, _)| (one.until, one.id));
        }
        // Outside the lock: waking may poll at once.
        in_order.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
