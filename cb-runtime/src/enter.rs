//! The call of an annotated function, from its site to its permission.

use crate::breaker::CircuitBreaker;
use crate::call::Guard;
use crate::error::CallNotPermitted;
use crate::permit::Handle;
use crate::registry::{self, Registry};
use crate::site::Site;
use crate::testing;

/// The registry that annotated functions use here: that of the
/// [`Scope`](crate::testing::Scope) this code runs in, else the one of the process.
///
/// ```
/// let breaker = cb_runtime::registry().get_or_create("inventory");
/// assert_eq!(cb_runtime::registry().get("inventory").unwrap().name(), "inventory");
/// # drop(breaker);
/// ```
#[must_use]
pub fn registry() -> Registry {
    testing::current().unwrap_or_else(|| registry::global().clone())
}

impl Site {
    /// Permission for a sync call.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[inline]
    pub fn enter(&'static self) -> Result<Guard<'static>, CallNotPermitted> {
        Guard::enter(self.handle(), Some(&self.function), true)
    }

    /// Permission for an async call.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[inline]
    pub fn enter_async(&'static self) -> Result<Guard<'static>, CallNotPermitted> {
        Guard::enter(self.handle(), Some(&self.function), false)
    }

    #[inline]
    fn handle(&'static self) -> Handle<'static> {
        if testing::any_scope() {
            if let Some(breaker) = testing::current().map(|scope| scope.at_site(self)) {
                return Handle::Shared(breaker.inner);
            }
        }
        let breaker = self.breaker().get().unwrap_or_else(|| self.first_call());
        Handle::Borrowed(&breaker.inner)
    }

    #[cold]
    fn first_call(&'static self) -> &'static CircuitBreaker {
        // Not inside the cell's initialisation: a conflict that comes to light here is told to
        // listeners, and one of them may call this very function.
        let breaker = registry::global().at_site(self);
        self.breaker().get_or_init(|| breaker)
    }
}
