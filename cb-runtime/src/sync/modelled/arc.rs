//! A shared value whose handles are counted.

use super::{AtomicU64, Ordering};

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
