//! The call of an annotated function, from its site to its permission.

use std::fmt;

use crate::breaker::Inner;
use crate::call::{Guard, Plainly};
use crate::error::{CallNotPermitted, Why};
use crate::keys::KeyText;
use crate::name::Name;
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

/// What a key can be: anything that displays as what tells one from another.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be a key",
    label = "this is the key",
    note = "a key is text or anything else that implements `Display`: a host, a number, a tenant"
)]
pub trait Key {
    #[doc(hidden)]
    fn text(&self) -> KeyText;
}

#[diagnostic::do_not_recommend]
impl<K: fmt::Display + ?Sized> Key for K {
    fn text(&self) -> KeyText {
        KeyText::of(self)
    }
}

impl Site {
    /// Permission for a sync call.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[inline]
    pub fn enter(&'static self) -> Result<Guard<'static>, CallNotPermitted> {
        // Within this function, which is inlined: taken out of a `Result` that another function
        // wrote, a guard, or a rejection, costs more than all the rest.
        let guard = match self.plainly(true) {
            Plainly::Permitted(guard) => guard,
            Plainly::Refused(why) => return Err(self.rejected(why)),
            Plainly::Unknown => self.enter_with_care(true)?,
        };
        Ok(guard)
    }

    /// Permission for an async call.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[inline]
    pub fn enter_async(&'static self) -> Result<Guard<'static>, CallNotPermitted> {
        // As in `enter`.
        let guard = match self.plainly(false) {
            Plainly::Permitted(guard) => guard,
            Plainly::Refused(why) => return Err(self.rejected(why)),
            Plainly::Unknown => self.enter_with_care(false)?,
        };
        Ok(guard)
    }

    #[inline]
    pub(crate) fn plainly(&'static self, in_body: bool) -> Plainly<'static> {
        match self.breaker() {
            Some(breaker) => Guard::plainly(breaker, Some(self), in_body),
            None => Plainly::Unknown,
        }
    }

    /// What a call is told that the site's own breaker has rejected.
    #[inline]
    fn rejected(&'static self, why: Why) -> CallNotPermitted {
        if self.function.fallback.is_some() {
            self.count_answer();
        }
        self.refusal(why)
    }

    /// The same where no fallback answers.
    #[inline]
    pub(crate) fn refusal(&'static self, why: Why) -> CallNotPermitted {
        // The breaker is named as its site is.
        CallNotPermitted::new(Name::literal(self.name), why)
    }

    #[inline(never)]
    fn count_answer(&'static self) {
        if let Some(breaker) = self.breaker() {
            breaker.count_fallback();
        }
    }

    #[inline(never)]
    pub(crate) fn enter_with_care(
        &'static self,
        sync: bool,
    ) -> Result<Guard<'static>, CallNotPermitted> {
        Guard::enter(self.handle(), Some(self), sync)
    }

    /// Permission for a sync call, from the key's breaker.
    ///
    /// # Errors
    ///
    /// The rejection.
    pub fn enter_key<K: Key + ?Sized>(
        &'static self,
        key: &K,
    ) -> Result<Guard<'static>, CallNotPermitted> {
        Guard::enter(self.handle_of(&key.text()), Some(self), true)
    }

    /// Permission for an async call, from the key's breaker.
    ///
    /// # Errors
    ///
    /// The rejection.
    pub fn enter_key_async<K: Key + ?Sized>(
        &'static self,
        key: &K,
    ) -> Result<Guard<'static>, CallNotPermitted> {
        Guard::enter(self.handle_of(&key.text()), Some(self), false)
    }

    fn handle_of(&'static self, key: &KeyText) -> Handle<'static> {
        let slot = match testing::current() {
            Some(scope) => scope.keys_at_site(self).for_call(key.as_str()),
            None => {
                // As in `first_call`, not while the cell is filled.
                let keys = self
                    .keys()
                    .unwrap_or_else(|| self.has_keys(registry::global().keys_at_site(self)));
                keys.for_call(key.as_str())
            }
        };
        Handle::OfKey(slot)
    }

    fn handle(&'static self) -> Handle<'static> {
        if testing::any_scope() {
            if let Some(breaker) = testing::current().map(|scope| scope.at_site(self)) {
                return Handle::Shared(breaker.inner);
            }
        }
        Handle::Borrowed(self.breaker().unwrap_or_else(|| self.first_call()))
    }

    #[cold]
    fn first_call(&'static self) -> &'static Inner {
        // Not while the cell is filled: a conflict that comes to light here is told to listeners,
        // and one of them may call this very function.
        let breaker = registry::global().at_site(self);
        self.is_guarded_by(breaker)
    }
}
