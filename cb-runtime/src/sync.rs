//! The one seam to the primitives of synchronisation, so that a model checker can stand in: with
//! `--cfg cb_loom` they are loom's, see `models`.
//!
//! What is one for the whole process, and so outlives a model, takes the standard library's directly,
//! from [`plain`].

#[cfg(not(cb_loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64},
};

#[cfg(cb_loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU32},
};
#[cfg(cb_loom)]
pub(crate) use modelled::AtomicU64;

pub(crate) use std::sync::atomic::Ordering;

/// Locks, also after a panic elsewhere: nothing behind our locks is left half-done by a panic,
/// since no user code runs under them.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The standard library's, also in models.
pub(crate) mod plain {
    #[allow(unused_imports)] // depends on the features
    pub(crate) use std::sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU32, AtomicU64},
    };

    /// As [`lock`](super::lock).
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(cb_loom)]
mod modelled {
    use super::Ordering;

    /// loom has no sequentially consistent loads, and explores too little where a thread loads and then
    /// exchanges what it has seen. So a load that is not relaxed is an update that changes nothing: it
    /// sees the latest value, as every exchange does. And since loom does not order a store among
    /// updates by other threads, each store is an exchange.
    #[derive(Debug, Default)]
    pub(crate) struct AtomicU64(loom::sync::atomic::AtomicU64);

    impl AtomicU64 {
        pub(crate) fn new(value: u64) -> Self {
            Self(loom::sync::atomic::AtomicU64::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            match order {
                Ordering::Relaxed => self.0.load(order),
                order => self.0.fetch_or(0, order),
            }
        }

        pub(crate) fn store(&self, value: u64, order: Ordering) {
            self.0.swap(value, order);
        }

        pub(crate) fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_add(value, order)
        }

        pub(crate) fn fetch_max(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_max(value, order)
        }

        pub(crate) fn fetch_min(&self, value: u64, order: Ordering) -> u64 {
            self.0.fetch_min(value, order)
        }

        pub(crate) fn fetch_update(
            &self,
            success: Ordering,
            failure: Ordering,
            update: impl FnMut(u64) -> Option<u64>,
        ) -> Result<u64, u64> {
            self.0.fetch_update(success, failure, update)
        }
    }
}
