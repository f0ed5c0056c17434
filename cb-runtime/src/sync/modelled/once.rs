//! What is set once.

use super::{AtomicU8, AtomicU64, Ordering};

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

/// The same for what is in a box. The plain one may be made by several, of whom one is believed.
pub(crate) struct OnceBox<T>(OnceLock<Box<T>>);

impl<T> Default for OnceBox<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> OnceBox<T> {
    pub(crate) fn new() -> Self {
        Self(OnceLock::new())
    }

    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get().map(|boxed| &**boxed)
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> Box<T>) -> &T {
        self.0.get_or_init(make)
    }
}

/// As it is in statics, or one of a model's own.
pub(crate) struct OnceRef<'a, T> {
    plain: once_cell::race::OnceRef<'a, T>,
    modelled: Option<Referred<'a, T>>,
}

/// What there is to refer to, and which of it was first.
struct Referred<'a, T> {
    all: std::sync::Mutex<Vec<&'a T>>,
    first: AtomicU64,
}

impl<'a, T> OnceRef<'a, T> {
    pub(crate) const fn new() -> Self {
        Self {
            plain: once_cell::race::OnceRef::new(),
            modelled: None,
        }
    }

    pub(crate) fn modelled() -> Self {
        Self {
            modelled: Some(Referred {
                all: std::sync::Mutex::default(),
                first: AtomicU64::new(0),
            }),
            ..Self::new()
        }
    }

    pub(crate) fn get(&self) -> Option<&'a T> {
        let Some(Referred { all, first }) = &self.modelled else {
            return self.plain.get();
        };
        // Acquire pairs with the exchange in `set`.
        match first.load(Ordering::Acquire) {
            0 => None,
            first => all.lock().ok()?.get(first as usize - 1).copied(),
        }
    }

    pub(crate) fn set(&self, value: &'a T) -> Result<(), ()> {
        let Some(Referred { all, first }) = &self.modelled else {
            return self.plain.set(value);
        };
        let number = {
            let mut all = all.lock().map_err(drop)?;
            all.push(value);
            all.len() as u64
        };
        // Release, and Acquire where it fails, pair with each other and with `get`.
        first
            .compare_exchange(0, number, Ordering::Release, Ordering::Acquire)
            .map(drop)
            .map_err(drop)
    }
}
