//! What the machine itself takes: the units that targets are stated in.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

use crate::answer::Answer;
use crate::case::Case;
use crate::ours::KEYS;
use crate::subject::{List, Who, answer};
use crate::work::{Down, fail_tenth, succeed};

/// The function without a breaker.
pub(crate) const BARE: Who = Who::Baseline("bare call");
/// The future without a breaker.
pub(crate) const BARE_FUTURE: Who = Who::Baseline("bare future");
/// One atomic read-modify-write of a word that nobody else, or another thread, uses.
pub(crate) const FETCH_ADD: Who = Who::Baseline("fetch-add");
/// Two readings of the precise clock.
pub(crate) const PRECISE: Who = Who::Baseline("`Instant::now` pair");
/// Two readings of the coarse clock.
pub(crate) const COARSE: Who = Who::Baseline("coarse clock pair");
/// A lock taken and given back.
pub(crate) const MUTEX: Who = Who::Baseline("std `Mutex`");
/// What finding a breaker by its key in a map takes.
pub(crate) const MAP: Who = Who::Baseline("`RwLock<HashMap>` look-up");

#[cfg(target_os = "linux")]
#[inline]
fn coarse() -> i64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::MonotonicCoarse);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

pub(crate) fn add(list: &mut List) {
    list.sync_untold(Case::Closed, BARE, |n| answer(succeed(n), |_| false));
    list.sync_untold(Case::Tenth, BARE, |n| answer(fail_tenth(n), |_| false));
    list.asynchronous_untold(Case::Async, BARE_FUTURE, async |n| {
        answer(async move { succeed(n) }.await, |_: &Down| false)
    });

    let word = AtomicU64::new(0);
    list.sync_untold(Case::Closed, FETCH_ADD, move |n| {
        // Relaxed: nothing is published by it; on most machines the ordering costs nothing.
        black_box(word.fetch_add(n, Ordering::Relaxed));
        Answer::Ok
    });
    list.sync_untold(Case::Closed, PRECISE, |_| {
        let start = black_box(Instant::now());
        black_box(start.elapsed());
        Answer::Ok
    });
    #[cfg(target_os = "linux")]
    list.sync_untold(Case::Closed, COARSE, |_| {
        // As a number: the system writes two of them, and to move those as one would have to wait for both.
        black_box(coarse());
        black_box(coarse());
        Answer::Ok
    });
    let mutex = Mutex::new(0);
    list.sync_untold(Case::Closed, MUTEX, move |n| {
        *mutex.lock().unwrap_or_else(PoisonError::into_inner) += n;
        Answer::Ok
    });
    let keys = crate::ours::keys();
    let map: HashMap<String, u64> = keys.iter().cloned().zip(0..).collect();
    let map = RwLock::new(map);
    list.sync_untold(Case::Keys, MAP, move |n| {
        let key = &keys[crate::ours::turn(n, KEYS)];
        let map = map.read().unwrap_or_else(PoisonError::into_inner);
        black_box(map.get(key.as_str()).copied());
        Answer::Ok
    });
}
