//! Faults in place of the bodies of guarded functions.

use std::sync::{Condvar, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use super::{Handle, TestClock};
use crate::breaker::Inner;
use crate::fault::{self, Fault};
use crate::few::Few;
use crate::sync::plain::{Mutex, lock};

/// The faults of one scope.
#[derive(Default)]
pub(super) struct Faults {
    set: Mutex<Set>,
    changed: Condvar,
}

#[derive(Default)]
struct Set {
    by_name: Few<String, Fault>,
    /// Who waits for a change.
    hanging: Vec<Waker>,
}

impl Faults {
    pub(super) fn set(&self, name: &str, fault: Fault) {
        let mut set = lock(&self.set);
        if set.by_name.insert(name.to_owned(), fault).is_none() {
            fault::came(1);
        }
        self.wake(set);
    }

    pub(super) fn clear(&self, name: &str) -> bool {
        let mut set = lock(&self.set);
        let found = set.by_name.remove(name).is_some();
        if found {
            fault::went(1);
        }
        self.wake(set);
        found
    }

    pub(super) fn clear_all(&self) {
        let mut set = lock(&self.set);
        fault::went(set.by_name.len() as u64);
        set.by_name.clear();
        self.wake(set);
    }

    fn wake(&self, mut set: std::sync::MutexGuard<'_, Set>) {
        let hanging = std::mem::take(&mut set.hanging);
        drop(set);
        self.changed.notify_all();
        // Outside the lock: waking may poll at once.
        hanging.into_iter().for_each(Waker::wake);
    }

    fn of(&self, name: &str) -> Option<Fault> {
        lock(&self.set).get(name)
    }

    /// Blocks until the breaker does not hang.
    fn outlast(&self, name: &str) -> Option<Fault> {
        let mut set = lock(&self.set);
        loop {
            match set.get(name) {
                Some(Fault::Hang) => {
                    set = self
                        .changed
                        .wait(set)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                other => return other,
            }
        }
    }
}

impl Set {
    /// For one of many, `name[key]`, its own fault, else that of all of them.
    fn get(&self, breaker: &str) -> Option<Fault> {
        let by_key = self.by_name.get(breaker).copied();
        by_key.or_else(|| {
            let (name, _) = breaker.strip_suffix(']')?.split_once('[')?;
            self.by_name.get(name).copied()
        })
    }
}

/// The scope that this code runs in, if the breaker is of its registry.
fn scope_of(breaker: &Inner) -> Option<(Handle, TestClock)> {
    let scope = super::current_scope()?;
    let clock = breaker.clock.as_test()?.clone();
    scope
        .shared
        .registry
        .owns(breaker)
        .then_some((scope, clock))
}

/// What befalls a call that was just permitted. A sync one is held up here. `true`: it fails.
#[cold]
pub(crate) fn strikes(breaker: &Inner, sync: bool) -> bool {
    let Some((scope, clock)) = scope_of(breaker) else {
        return false;
    };
    let faults = &scope.shared.faults;
    let name = breaker.name.as_str();
    let fault = if sync {
        faults.outlast(name)
    } else {
        faults.of(name)
    };
    match fault {
        Some(Fault::Slow(by)) if sync => {
            clock.advance(by);
            false
        }
        fault => fault == Some(Fault::Error),
    }
}

/// Whether the body of an async call that began at `start` is kept from being polled.
#[cold]
pub(crate) fn holds(breaker: &Inner, start: Option<Duration>, cx: &mut Context<'_>) -> bool {
    let Some((scope, clock)) = scope_of(breaker) else {
        return false;
    };
    let mut set = lock(&scope.shared.faults.set);
    match set.get(breaker.name.as_str()) {
        Some(Fault::Hang) => {
            set.hanging.push(cx.waker().clone());
            true
        }
        Some(Fault::Slow(by)) => {
            drop(set);
            start.is_some_and(|start| clock.wake_at(start.saturating_add(by), cx))
        }
        _ => false,
    }
}
