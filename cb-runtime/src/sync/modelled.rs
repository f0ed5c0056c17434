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

mod arc;
mod once;

pub(crate) use arc::Arc;
pub(crate) use once::{OnceBox, OnceLock, OnceRef};

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
