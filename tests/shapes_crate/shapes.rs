//! Functions of every shape, as a user with strict lints writes them. `.ci/editions` compiles this in
//! every edition, with the runtime renamed and re-exported as `crate::breaker`.

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use crate::breaker::{circuit_breaker, CallError, CallNotPermitted};

/// An answer of the remote side.
pub type Answer<T> = Result<T, CallError<Refused>>;
/// As of the `futures` crate.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The remote side said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// As it does.
    Plainly,
    /// With a code.
    With(u16),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for Refused {}

/// What it is all about.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "free", crate = crate::breaker, min_calls = 20, slow = "2s", ignore = Refused::Plainly)]
pub fn free(count: u32) -> Answer<u32> {
    if count == 0 {
        return Err(CallError::Failed(Refused::With(1)));
    }
    let text: u32 = "1".parse().map_err(|_| CallError::Failed(Refused::Plainly))?;
    Ok(count + text)
}

/// Later.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(
    name = "later",
    crate = crate::breaker,
    timeout = "1s",
    ignore = [Refused, CallError::Failed(Refused::With(400..=499)), |error| matches!(error, CallError::FailedValue)],
    failure_if = |length| *length > 100,
)]
pub async fn later(text: &str, mut count: usize) -> Answer<usize> {
    count += text.len();
    std::future::ready(()).await;
    Ok(count)
}

/// Two of something.
pub struct Two<const N: usize>;

/// Values, classes and lengths that are any expression.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(
    name = "expressions",
    crate = crate::breaker,
    min_calls = if cfg!(debug_assertions) { 5 } else { 10 },
    key = match bytes.first() { Some(byte) if *byte < 128 => "ascii", _ => "other" },
    ignore = [
        |error| if let CallError::Failed(Refused::With(code)) = error { *code < 500 } else { false },
        CallError::Failed(Refused::With(600..=699)) | CallError::Failed(Refused::Plainly),
    ],
)]
pub fn expressions(
    bytes: &[u8; if cfg!(debug_assertions) { 2 } else { 3 }],
    Two: Two<{ if cfg!(debug_assertions) { 2 } else { 3 } }>,
) -> Answer<[u8; 'two: { break 'two 2 }]> {
    Ok([bytes[0], bytes[1]])
}

macro_rules! captured {
    ($one:pat, $pair:pat, $list:ty, $answer:ty, $body:expr) => {
        /// As a macro writes it.
        ///
        /// # Errors
        ///
        /// If there is none.
        #[circuit_breaker(name = "captured", crate = crate::breaker)]
        pub fn captured($one: u32, $pair: (u32, u32), list: $list) -> $answer {
            list.push(1);
            $body
        }
    };
}

captured!(one, (two, _), &mut Vec<u32>, Answer<u32>, Ok(one + two));

/// With patterns.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "patterns", crate = crate::breaker, fallback = sum, fallback_on = "failure")]
pub fn patterns(
    (a, mut b): (u32, u32),
    [first, ..]: [u32; 3],
    ref c: Refused,
    _: u32,
    _unused: u32,
) -> Answer<u32> {
    b += first;
    if a == b {
        Err(CallError::Failed(*c))
    } else {
        Ok(a)
    }
}

fn sum(pair: (u32, u32), list: [u32; 3], _: Refused, a: u32, b: u32, why: CallError<CallError<Refused>>) -> Answer<u32> {
    match why {
        CallError::Failed(error) => Err(error),
        _ => Ok(pair.0 + list[0] + a + b),
    }
}

/// Generic.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "generic", crate = crate::breaker, fallback = first)]
pub async fn generic<'a, T, const N: usize>(items: [&'a T; N], pick: impl Fn(&T) -> bool) -> Answer<Option<&'a T>>
where
    T: PartialEq + ?Sized,
{
    Ok(items.iter().copied().find(|item| pick(item)))
}

#[allow(clippy::needless_lifetimes)]
async fn first<'a, T: ?Sized, const N: usize>(
    items: [&'a T; N],
    _pick: impl Fn(&T) -> bool,
    _why: CallNotPermitted,
) -> Answer<Option<&'a T>> {
    std::future::ready(Ok(items.first().copied())).await
}

/// Returns something that iterates.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "iterator", crate = crate::breaker)]
pub fn iterator(items: &[u32]) -> Answer<impl Iterator<Item = &u32> + '_> {
    Ok(items.iter())
}

/// An option.
#[must_use]
#[circuit_breaker(name = "option", crate = crate::breaker, failure_if = Option::is_none, fallback = none)]
pub fn option(text: &str) -> Option<char> {
    text.chars().next()
}

fn none(_text: &str) -> Option<char> {
    None
}

/// No value.
#[circuit_breaker(name = "unit", crate = crate::breaker, fallback = nothing)]
pub async fn unit(done: &Cell<bool>) {
    std::future::ready(()).await;
    done.set(true);
}

fn nothing(_: &Cell<bool>) {}

/// A number.
#[must_use]
#[circuit_breaker(name = "foreign", crate = crate::breaker, failure_if = |code| *code != 0, fallback = same, fallback_on = "failure")]
pub extern "C" fn foreign(code: i32) -> i32 {
    #![allow(clippy::needless_return)]
    return code;
}

#[allow(clippy::needless_pass_by_value)]
fn same(code: i32, why: CallError<Infallible>) -> i32 {
    code + i32::from(why == CallError::FailedValue)
}

/// Boxed errors.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "boxed", crate = crate::breaker, ignore = Refused)]
pub async fn boxed(fail: bool) -> Result<Box<dyn Fn() -> u32 + Send>, Box<dyn Error + Send + Sync>> {
    std::future::ready(()).await;
    if fail {
        Err("text")?;
    }
    Ok(Box::new(|| 1))
}

/// A future.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "made", crate = crate::breaker, fallback = made_instead)]
pub fn made(text: String) -> impl Future<Output = Answer<usize>> + Send {
    async move {
        let text = text;
        std::future::ready(()).await;
        Ok(text.len())
    }
}

async fn made_instead(text: String) -> Answer<usize> {
    std::future::ready(Ok(text.capacity())).await
}

/// A future of something else.
#[circuit_breaker(name = "made_call", crate = crate::breaker)]
pub fn made_call(text: &str) -> impl Future<Output = Answer<usize>> + Send + '_ {
    later(text, 1)
}

/// A boxed future.
#[must_use]
#[circuit_breaker(name = "made_boxed", crate = crate::breaker, key = text)]
pub fn made_boxed(text: &str) -> Pin<Box<dyn Future<Output = Answer<usize>> + Send + '_>> {
    Box::pin(async move {
        std::future::ready(()).await;
        Ok(text.len())
    })
}

/// With statements before it.
#[must_use]
#[circuit_breaker(name = "made_after", crate = crate::breaker, timeout = "1s", fallback = made_after_instead)]
pub fn made_after(text: &str, (mut count, _): (usize, u32)) -> BoxFuture<'_, Answer<usize>> {
    count += text.len();
    Box::pin(async move {
        std::future::ready(()).await;
        Ok(count)
    })
}

#[allow(clippy::unnecessary_wraps)]
fn made_after_instead(text: &str, (count, _): (usize, u32)) -> Answer<usize> {
    Ok(text.len() + count)
}

/// Recursion.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "recursive", crate = crate::breaker)]
pub fn recursive(depth: u32) -> Answer<u32> {
    if depth == 0 {
        return Ok(0);
    }
    Ok(1 + recursive(depth - 1)?)
}

/// Some are conditional.
///
/// # Errors
///
/// If there is none.
#[circuit_breaker(name = "conditional", crate = crate::breaker)]
pub fn conditional(#[cfg(test)] a: u32, #[cfg(not(test))] b: u32) -> Answer<u32> {
    #[cfg(test)]
    let b = a;
    Ok(b)
}

/// Its body never comes to its end.
///
/// # Errors
///
/// Always.
#[circuit_breaker(name = "endless", crate = crate::breaker)]
pub async fn endless(mut count: u32) -> Answer<Infallible> {
    loop {
        count += 1;
        if count > 10 {
            return Err(CallError::Failed(Refused::Plainly));
        }
        std::future::ready(()).await;
    }
}

macro_rules! make {
    ($(#[$meta:meta])* $name:ident, $text:literal, $ty:ty, $body:block) => {
        $(#[$meta])*
        #[circuit_breaker(name = $text, crate = crate::breaker, ignore = Refused)]
        pub fn $name() -> $ty $body
    };
}

make!(
    /// Made by a macro.
    ///
    /// # Errors
    ///
    /// If there is none.
    by_macro, "by_macro", Answer<u32>, { Ok(1) }
);

/// With methods.
#[derive(Debug, Default, Clone)]
pub struct Shop {
    stock: u32,
}

impl Shop {
    /// By reference.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_ref", crate = crate::breaker, fallback = Self::cached)]
    pub fn by_ref(&self, extra: &mut u32) -> Answer<&u32> {
        *extra += 1;
        Ok(&self.stock)
    }

    fn cached(&self, extra: &mut u32, why: CallNotPermitted) -> Answer<&u32> {
        *extra -= 1;
        if *extra > 0 {
            Ok(&self.stock)
        } else {
            Err(why.into())
        }
    }

    /// By mutable reference.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_mut", crate = crate::breaker, fallback = Self::cached_mut, fallback_on = "failure")]
    pub async fn by_mut(&mut self, text: String) -> Answer<u32> {
        std::future::ready(text).await;
        self.stock += 1;
        Ok(self.stock)
    }

    #[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
    fn cached_mut(&mut self, text: String, _why: CallError<CallError<Refused>>) -> Answer<u32> {
        self.stock += u32::from(text.is_empty());
        Ok(self.stock)
    }

    /// By value.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_value", crate = crate::breaker)]
    pub fn by_value(mut self) -> Answer<Self> {
        self.stock += 1;
        Ok(self)
    }

    /// By pointers.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_arc", crate = crate::breaker)]
    pub async fn by_arc(self: Arc<Self>) -> Answer<u32> {
        std::future::ready(()).await;
        Ok(self.stock)
    }

    /// By pointers.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_rc", crate = crate::breaker)]
    pub fn by_rc(self: &Rc<Self>) -> Answer<Rc<Self>> {
        Ok(Rc::clone(self))
    }

    /// By pin.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "by_pin", crate = crate::breaker)]
    pub fn by_pin(self: Pin<&mut Self>) -> Answer<u32> {
        let this = self.get_mut();
        this.stock += 1;
        Ok(this.stock)
    }
}

/// A trait.
pub trait Stock {
    /// The level.
    ///
    /// # Errors
    ///
    /// If there is none.
    fn level(&self) -> Answer<u32>;

    /// The default.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[circuit_breaker(name = "default", crate = crate::breaker)]
    fn doubled(&self) -> Answer<u32> {
        Ok(self.level()? * 2)
    }

    /// What `#[async_trait]` makes of an async method.
    fn remote<'life0, 'async_trait>(
        &'life0 self,
        text: String,
    ) -> Pin<Box<dyn Future<Output = Answer<usize>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait;
}

impl Stock for Shop {
    #[circuit_breaker(name = "level", crate = crate::breaker)]
    fn level(&self) -> Answer<u32> {
        Ok(self.stock)
    }

    #[circuit_breaker(name = "remote", crate = crate::breaker, fallback = Self::remembered)]
    fn remote<'life0, 'async_trait>(
        &'life0 self,
        text: String,
    ) -> Pin<Box<dyn Future<Output = Answer<usize>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let __self = self;
            let text = text;
            let __ret: Answer<usize> = { Ok(text.len() + usize::from(__self.stock > 0)) };
            #[allow(unreachable_code)]
            __ret
        })
    }
}

impl Shop {
    #[allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]
    fn remembered(&self, text: String) -> Answer<usize> {
        Ok(text.len() + usize::from(self.stock == 0))
    }
}
