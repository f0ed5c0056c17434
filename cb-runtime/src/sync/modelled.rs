//! What stands in for the standard library's in models, each of which runs with both kinds of loads.
//!
//! loom leaves out some orders of steps where a thread loads and then exchanges, and has no sequentially
//! consistent accesses. Neither kind of loads makes up for both:
//!
//! - [`Loads::Newest`]: a load that is not relaxed is an update that changes nothing. loom then tries
//!   every order, but nobody ever sees an old value.
//! - [`Loads::Stale`]: a load is a load, and may see what was there before as far as its ordering
//!   allows. For sequential consistency there is one word more: who writes adds to it after its write,
//!   and who reads looks at it before its load, so that a load sees each write that has added. That is
//!   a little more than the language promises, since the look also shows what else the writers did.
//!
//! Since loom does not order a store among updates by other threads, each store is an exchange.

use std::cell::Cell;

use super::Ordering;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loads {
    Newest,
    Stale,
}

thread_local! {
    // loom runs the threads of a model on one.
    static LOADS: Cell<Loads> = const { Cell::new(Loads::Newest) };
}

loom::lazy_static! {
    static ref SEQUENCE: loom::sync::atomic::AtomicU64 = loom::sync::atomic::AtomicU64::new(0);
}

/// Explores `model` with both kinds of loads.
pub(crate) fn explore(model: impl Fn() + Send + Sync + Clone + 'static) {
    for loads in [Loads::Newest, Loads::Stale] {
        LOADS.set(loads);
        let model = model.clone();
        loom::model(move || {
            SEQUENCE.fetch_or(0, Ordering::Relaxed);
            model();
        });
    }
}

fn may_be_stale() -> bool {
    LOADS.get() == Loads::Stale
}

/// Before a load.
fn before(order: Ordering) {
    if order == Ordering::SeqCst && may_be_stale() {
        SEQUENCE.fetch_or(0, Ordering::Acquire);
    }
}

/// After a store.
fn after(order: Ordering) {
    if order == Ordering::SeqCst && may_be_stale() {
        SEQUENCE.fetch_or(0, Ordering::Release);
    }
}

macro_rules! update {
    ($value:ty: $($name:ident),*) => {$(
        pub(crate) fn $name(&self, value: $value, order: Ordering) -> $value {
            before(order);
            let old = self.0.$name(value, order);
            after(order);
            old
        }
    )*};
}

macro_rules! atomic {
    ($name:ident, $value:ty) => {
        #[derive(Debug, Default)]
        pub(crate) struct $name(loom::sync::atomic::$name);

        #[allow(dead_code)] // not all of them are used
        impl $name {
            pub(crate) fn new(value: $value) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                if order == Ordering::Relaxed || may_be_stale() {
                    before(order);
                    self.0.load(order)
                } else {
                    self.0.fetch_or(0, order)
                }
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.swap(value, order);
            }

            update!($value: swap, fetch_add, fetch_and, fetch_max, fetch_min);

            pub(crate) fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                before(success);
                let result = self.0.compare_exchange(current, new, success, failure);
                if result.is_ok() {
                    after(success);
                }
                result
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            pub(crate) fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                mut update: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut seen = self.load(failure);
                while let Some(new) = update(seen) {
                    match self.compare_exchange(seen, new, success, failure) {
                        Ok(old) => return Ok(old),
                        Err(now) => seen = now,
                    }
                }
                Err(seen)
            }
        }
    };
}

atomic!(AtomicU8, u8);
atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

/// Made once, under a lock, and published.
pub(crate) struct OnceLock<T> {
    made: AtomicU8,
    making: loom::sync::Mutex<()>,
    value: std::sync::OnceLock<T>,
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            made: AtomicU8::new(0),
            making: loom::sync::Mutex::new(()),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        // Acquire pairs with the store in `get_or_init`.
        match self.made.load(Ordering::Acquire) {
            0 => None,
            _ => self.value.get(),
        }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        let _making = self.making.lock();
        let value = self.value.get_or_init(make);
        // Release pairs with the load in `get`.
        self.made.store(1, Ordering::Release);
        value
    }
}

/// With a count of its own, and the orderings of the standard library's: loom's look at its count
/// synchronizes, and the standard library's does not.
pub(crate) struct Arc<T>(std::sync::Arc<Counted<T>>);

struct Counted<T> {
    count: AtomicU64,
    value: T,
}

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Self {
        let count = AtomicU64::new(1);
        Self(std::sync::Arc::new(Counted { count, value }))
    }

    #[allow(dead_code)] // for what `scripts/weaken` puts in the place of `get_mut`
    pub(crate) fn strong_count(this: &Self) -> u64 {
        this.0.count.load(Ordering::Relaxed)
    }

    pub(crate) fn get_mut(this: &mut Self) -> Option<&mut T> {
        // Acquire pairs with the update in `drop`.
        let unique = this.0.count.load(Ordering::Acquire) == 1;
        let value = unique.then(|| std::sync::Arc::get_mut(&mut this.0));
        value.flatten().map(|counted| &mut counted.value)
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        Self(std::sync::Arc::clone(&self.0))
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        // Release pairs with the load in `get_mut`.
        self.0.count.fetch_add(u64::MAX, Ordering::Release);
    }
}

impl<T> std::ops::Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}
