//! For tests of annotated functions: a registry and a clock of one's own, no sleeping.
//!
//! ```
//! use std::time::Duration;
//! use cb_runtime::{CallError, State, circuit_breaker, testing::Scope};
//!
//! #[circuit_breaker(name = "inventory.query", wait = "10s")]
//! fn query(up: bool) -> Result<u32, CallError<&'static str>> {
//!     if up { Ok(7) } else { Err(CallError::Failed("connection refused")) }
//! }
//!
//! let scope = Scope::new();
//! for _ in 0..10 {
//!     let _ = query(false);
//! }
//! assert_eq!(scope.breaker("inventory.query").state(), State::Open);
//!
//! scope.clock().advance(Duration::from_secs(10));
//! assert!(query(true).is_ok());
//! assert_eq!(scope.breaker("inventory.query").state(), State::HalfOpen);
//! ```

use std::cell::RefCell;
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::{Arc, MutexGuard};

use crate::breaker::CircuitBreaker;
pub use crate::clock::TestClock;
use crate::registry::Registry;
use crate::sync::{Ordering, plain::AtomicU64};
use crate::watch::Watch;

pub(crate) mod faults;
pub use crate::fault::Fault;
use faults::Faults;

/// How many scopes there are in the process, so that a program without any pays one load a call.
static LIVE: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The scopes entered on this thread, the innermost last.
    static ENTERED: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
}

#[inline]
pub(crate) fn any_scope() -> bool {
    // Relaxed: the thread that is in a scope has seen it being made.
    LIVE.load(Ordering::Relaxed) != 0
}

/// The registry of the scope that this code runs in.
pub(crate) fn current() -> Option<Registry> {
    if !any_scope() {
        return None;
    }
    current_scope().map(|scope| scope.shared.registry.clone())
}

fn current_scope() -> Option<Handle> {
    // While a thread is being torn down it is in no scope.
    let entered = ENTERED.try_with(|entered| entered.borrow().last().cloned());
    entered.ok().flatten().or_else(of_runtime)
}

#[cfg(not(feature = "tokio"))]
fn of_runtime() -> Option<Handle> {
    None
}

#[cfg(feature = "tokio")]
use runtime::scope as of_runtime;

/// A registry and a test clock for the annotated functions called by one test.
///
/// A scope is in force on the thread that made it until it is dropped. Made inside a tokio runtime
/// it is, with the feature `tokio`, in force for everything that runs in that runtime, spawned tasks
/// and blocking ones too: in `#[tokio::test]`, where each test has a runtime of its own, nothing more
/// is needed. Otherwise, also in a runtime that is made after the scope, take it along:
/// [`run`](Self::run) for a future, [`Handle::enter`] for a thread. Scopes nest, the innermost is in
/// force. `let _ = Scope::new();` drops it at once: give it a name.
///
/// Its clock is not tokio's: time that `start_paused` skips passes neither for `timeout` and `slow` nor
/// for waits.
///
/// The registry has every annotated function's breaker, as the registry of the process does, each
/// in its first state.
pub struct Scope {
    handle: Handle,
    clock: TestClock,
    _entered: Entered,
    #[cfg(feature = "tokio")]
    _runtime: Option<runtime::Bound>,
}

/// A handle to a scope, to take it to other threads and tasks.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    registry: Registry,
    faults: Faults,
    _watch: Watch,
}

impl Shared {
    fn new(registry: Registry) -> Self {
        // Relaxed: see `any_scope`.
        LIVE.fetch_add(1, Ordering::Relaxed);
        Self {
            registry,
            faults: Faults::default(),
            _watch: Watch::new(),
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.faults.clear_all();
        // Relaxed: see `any_scope`.
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The scope is in force on this thread until this is dropped. It cannot go to another one.
#[must_use = "the scope is in force until this is dropped"]
pub struct Entered {
    handle: Handle,
    /// Makes it `!Send` and leaves it `Sync`.
    _this_thread: PhantomData<MutexGuard<'static, ()>>,
}

impl Scope {
    /// Makes a scope, with a clock at its origin, and enters it.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(TestClock::new())
    }

    /// Makes a scope with this clock and enters it.
    #[must_use]
    pub fn with_clock(clock: TestClock) -> Self {
        let registry = Registry::build((&clock).into(), true);
        let handle = Handle {
            shared: Arc::new(Shared::new(registry)),
        };
        Self {
            _entered: handle.enter(),
            #[cfg(feature = "tokio")]
            _runtime: runtime::Bound::here(&handle),
            handle,
            clock,
        }
    }

    /// The clock. It stands still until it is advanced.
    #[must_use]
    pub fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// The scope's registry.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.handle.shared.registry
    }

    /// The breaker of this name. For one of many, of a function with a `key`, the name is `name[key]`,
    /// and the breaker is there once the function was called with the key.
    ///
    /// # Panics
    ///
    /// If there is none: no annotated function has the name, and none was made by code.
    #[must_use]
    #[track_caller]
    pub fn breaker(&self, name: &str) -> CircuitBreaker {
        match self.registry().get(name) {
            Some(breaker) => breaker,
            None => self.names_nothing(name),
        }
    }

    #[track_caller]
    fn names_nothing(&self, name: &str) -> ! {
        if self.registry().is_keyed_name(name) {
            panic!("{name:?} has a circuit breaker for each key: ask for \"{name}[key]\"")
        }
        let breakers = self.registry().breakers();
        let known: Vec<_> = breakers.iter().map(CircuitBreaker::name).collect();
        panic!("no circuit breaker is named {name:?}; there are {known:?}")
    }

    /// Whether calls can come under this name: of a breaker, of all keys of a name, or of one key, called
    /// so far or not.
    fn can_befall(&self, name: &str) -> bool {
        let registry = self.registry();
        let of_key = || {
            let inner = name.strip_suffix(']')?;
            let mut brackets = inner.match_indices('[');
            brackets.find(|(at, _)| registry.is_keyed_name(&inner[..*at]))
        };
        registry.is_keyed_name(name) || registry.get(name).is_some() || of_key().is_some()
    }

    /// From now on this befalls the calls of the breaker `name` in this scope, in place of or before
    /// their bodies, so that a test drills the guarded functions as they are: what opens the breaker,
    /// what the callers get meanwhile, how it recovers. Replaces an earlier fault of the name. With a
    /// `key`, `name` stands for all of them and `name[key]` for one.
    ///
    /// An async call that is under way is held up too, if it began after the first fault of any name.
    ///
    /// ```
    /// use cb_runtime::testing::{Fault, Scope};
    /// use cb_runtime::{CallNotPermitted, State, circuit_breaker};
    ///
    /// #[circuit_breaker(name = "stock.query", slow = "2s", min_calls = 4, fallback = unknown)]
    /// fn stock(sku: &str) -> Option<u32> { Some(3) }
    /// fn unknown(_: &str, why: CallNotPermitted) -> Option<u32> { None }
    ///
    /// let scope = Scope::new();
    /// scope.fault("stock.query", Fault::Slow(std::time::Duration::from_secs(3)));
    /// for _ in 0..4 {
    ///     assert_eq!(stock("a"), Some(3));
    /// }
    /// assert_eq!(scope.breaker("stock.query").state(), State::Open);
    /// assert_eq!(stock("a"), None);
    /// scope.clear_fault("stock.query");
    /// ```
    ///
    /// # Panics
    ///
    /// If no annotated function has the name and no breaker of it was made by code: the test would run
    /// without the fault.
    #[track_caller]
    pub fn fault(&self, name: &str, fault: Fault) {
        if !self.can_befall(name) {
            self.names_nothing(name);
        }
        self.handle.shared.faults.set(name, fault);
    }

    /// Ends the fault, and says whether there was one. Calls that hang go on.
    pub fn clear_fault(&self, name: &str) -> bool {
        self.handle.shared.faults.clear(name)
    }

    /// A handle, to enter the scope elsewhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs a future in this scope, on whatever threads it is polled.
    ///
    /// # Cancel safety
    ///
    /// That of the future.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        self.handle().run(future)
    }
}

impl Handle {
    /// Enters the scope on this thread.
    pub fn enter(&self) -> Entered {
        // A thread that is being torn down can be in no scope.
        let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(self.clone()));
        Entered {
            handle: self.clone(),
            _this_thread: PhantomData,
        }
    }

    /// Runs a future in the scope, on whatever threads it is polled.
    ///
    /// # Cancel safety
    ///
    /// That of the future.
    pub async fn run<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let _entered = self.enter();
            future.as_mut().poll(cx)
        })
        .await
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // Not necessarily the innermost one: guards can be dropped in any order. The handle is
        // dropped after the borrow, since the last one drops a registry.
        let left = ENTERED.try_with(|entered| {
            let mut entered = entered.borrow_mut();
            let same = |one: &Handle| Arc::ptr_eq(&one.shared, &self.handle.shared);
            entered
                .iter()
                .rposition(same)
                .map(|position| entered.remove(position))
        });
        drop(left);
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("clock", &self.clock)
            .field("registry", self.registry())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("registry", &self.shared.registry)
            .finish()
    }
}

impl fmt::Debug for Entered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entered").finish_non_exhaustive()
    }
}

#[cfg(feature = "tokio")]
mod runtime {
    //! Scopes bound to a tokio runtime.

    use std::sync::{Arc, Weak};

    use tokio::runtime::Id;

    use super::{Handle, Shared};
    use crate::sync::plain::{Mutex, lock};

    static BOUND: Mutex<Vec<(Id, Weak<Shared>)>> = Mutex::new(Vec::new());

    /// Keeps a scope in force in a runtime.
    pub(super) struct Bound {
        id: Id,
        shared: Weak<Shared>,
    }

    impl Bound {
        /// In the runtime that this runs in, if any.
        pub(super) fn here(handle: &Handle) -> Option<Self> {
            let id = tokio::runtime::Handle::try_current().ok()?.id();
            let shared = Arc::downgrade(&handle.shared);
            lock(&BOUND).push((id, Weak::clone(&shared)));
            Some(Self { id, shared })
        }
    }

    impl Drop for Bound {
        fn drop(&mut self) {
            lock(&BOUND).retain(|(id, shared)| *id != self.id || !shared.ptr_eq(&self.shared));
        }
    }

    pub(super) fn scope() -> Option<Handle> {
        let id = tokio::runtime::Handle::try_current().ok()?.id();
        // Dropped outside the lock: this may be the last handle by now.
        lock(&BOUND)
            .iter()
            .rev()
            .find(|(bound, _)| *bound == id)
            .and_then(|(_, shared)| shared.upgrade())
            .map(|shared| Handle { shared })
    }
}
