//! Things of which one is in use and another one can take its place while threads use it.
//!
//! One word says which: `[version: 48 bits | place: 16 bits]`. None is ever dropped before all are,
//! so that what a thread has got hold of stays valid; one that is like what is wanted is used again,
//! so that going back and forth between two configurations makes nothing new.

use crate::sync::{AtomicU64, OnceBox, Ordering};

const PLACE_BITS: u32 = 16;
const LAST_PLACE: u64 = (1 << PLACE_BITS) - 1;

pub(crate) struct Versions<T> {
    current: AtomicU64,
    first: T,
    others: OnceBox<Others<T>>,
}

/// Those that came later. Part `n` has room for 2^n of them, so that none ever moves, and each is found
/// at once however many there are.
struct Others<T> {
    parts: [OnceBox<Box<[OnceBox<T>]>>; PLACE_BITS as usize],
}

impl<T> Others<T> {
    fn new() -> Self {
        Self {
            parts: std::array::from_fn(|_| OnceBox::new()),
        }
    }

    /// Part, and place in it.
    #[allow(clippy::cast_possible_truncation)] // 16 bits
    fn split(place: u64) -> (usize, usize) {
        let part = place.ilog2();
        (part as usize, (place - (1 << part)) as usize)
    }

    fn get(&self, place: u64) -> Option<&T> {
        let (part, at) = Self::split(place);
        self.parts.get(part)?.get()?.get(at)?.get()
    }

    fn get_or_init(&self, place: u64, make: impl FnOnce() -> T) -> Option<&T> {
        let (part, at) = Self::split(place);
        let empty = || (0..1 << part).map(|_| OnceBox::new()).collect();
        let slot = self.parts.get(part)?.get_or_init(|| Box::new(empty()));
        Some(slot.get(at)?.get_or_init(|| Box::new(make())))
    }
}

impl<T> Versions<T> {
    pub(crate) fn new(first: T) -> Self {
        Self {
            current: AtomicU64::new(0),
            first,
            others: OnceBox::new(),
        }
    }

    /// The one in use, and its version.
    #[inline]
    pub(crate) fn present(&self) -> (&T, u64) {
        // Acquire pairs with the store in `replace`: whoever sees the version sees what was made for it.
        let current = self.current.load(Ordering::Acquire);
        let place = current & LAST_PLACE;
        let this = if place == 0 {
            &self.first
        } else {
            self.at(place)
        };
        (this, current >> PLACE_BITS)
    }

    /// The first one, if that is in use.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<(&T, u64)> {
        // Acquire: as in `present`.
        let current = self.current.load(Ordering::Acquire);
        (current & LAST_PLACE == 0).then_some((&self.first, current >> PLACE_BITS))
    }

    #[cold]
    fn at(&self, place: u64) -> &T {
        // Made before its place was stored.
        let made = self.others.get().and_then(|others| others.get(place));
        made.unwrap_or(&self.first)
    }

    /// Puts one that `fits`, made by `make` if there is none, in the place of the present one, as a new
    /// version, once `prepare` is done with it. One caller at a time.
    pub(crate) fn replace(
        &self,
        fits: impl Fn(&T) -> bool,
        make: impl Fn() -> T,
        prepare: impl FnOnce(&T, u64),
    ) {
        let (mut this, mut place) = (&self.first, 0);
        // After sixty thousand of them the last one has to do.
        while !fits(this) && place < LAST_PLACE {
            let others = self.others.get_or_init(|| Box::new(Others::new()));
            let Some(next) = others.get_or_init(place + 1, &make) else {
                break;
            };
            (this, place) = (next, place + 1);
        }
        // Relaxed: one caller at a time, under a lock.
        let version = (self.current.load(Ordering::Relaxed) >> PLACE_BITS) + 1;
        prepare(this, version);
        // Release pairs with the load in `present`.
        self.current
            .store(version << PLACE_BITS | place, Ordering::Release);
    }
}

#[cfg(all(test, cb_loom))]
mod models;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_before_is_used_again() {
        let versions = Versions::new(1);
        let mut made = 0;
        for (turn, wanted) in [(1, 2), (2, 3), (3, 1), (4, 3), (5, 2)] {
            let count = std::cell::Cell::new(made);
            let make = || {
                count.set(count.get() + 1);
                wanted
            };
            versions.replace(
                |one| *one == wanted,
                make,
                |one, version| {
                    assert_eq!((*one, version), (wanted, turn));
                },
            );
            made = count.get();
            assert_eq!(versions.present(), (&wanted, turn));
        }
        assert_eq!(made, 2);
    }

    #[test]
    fn each_of_many_is_found_again() {
        let versions = Versions::new(0);
        let put = |wanted: u32| versions.replace(|one| *one == wanted, || wanted, |_, _| ());
        for wanted in (0..300).chain((0..300).rev()) {
            put(wanted);
            assert_eq!(*versions.present().0, wanted);
        }
        assert_eq!(versions.others.get().unwrap().get(299), Some(&299));
        assert_eq!(versions.others.get().unwrap().get(300), None);
    }
}
