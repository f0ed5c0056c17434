//! The one seam to the primitives of synchronisation, so that a model checker can stand in: with
//! `--cfg cb_loom` they are loom's, see `models`.
//!
//! What is one for the whole process, and so outlives a model, takes the standard library's directly,
//! from [`plain`].

#[cfg(cb_loom)]
pub(crate) mod modelled;

#[cfg(not(cb_loom))]
pub(crate) use once_cell::race::{OnceBox, OnceRef};
#[cfg(not(cb_loom))]
pub(crate) use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64},
};

#[cfg(cb_loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic::AtomicBool,
};
#[cfg(cb_loom)]
pub(crate) use modelled::{Arc, AtomicU8, AtomicU32, AtomicU64, OnceBox, OnceLock, OnceRef};

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
