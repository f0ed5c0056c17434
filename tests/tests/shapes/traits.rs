//! Methods of traits.

use std::future::Future;

use async_trait::async_trait;
use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, ApiError, Bare, falls_back, now, reach, rejects};

struct Shop {
    stock: u32,
}

trait Stock {
    const NAME: &'static str = "stock";
    type Level: From<u32>;

    fn level(&self, fail: bool) -> Answer<Self::Level>;

    #[circuit_breaker(name = "traits.default")]
    fn default_level(&self, fail: bool) -> Answer<Self::Level> {
        self.level(fail)
    }

    #[circuit_breaker(name = "traits.default_fallback", fallback = Self::none)]
    fn default_with_fallback(&self, fail: bool) -> Answer<u32> {
        reach(fail)
    }

    fn none(&self, _fail: bool) -> Answer<u32> {
        Ok(u32::from(Self::NAME == "stock") + 1)
    }

    async fn level_later(&self, fail: bool) -> Answer<u32>;

    #[circuit_breaker(name = "traits.default_async", fallback = Self::none_later)]
    async fn default_later(&self, fail: bool) -> Answer<u32> {
        self.level_later(fail).await
    }

    async fn none_later(&self, _fail: bool, why: CallNotPermitted) -> Answer<u32> {
        Ok(u32::from(why.breaker().len() > 4) + 1)
    }

    fn made(&self, fail: bool) -> impl Future<Output = Answer<u32>> + Send;
}

impl Stock for Shop {
    type Level = u64;

    #[circuit_breaker(name = "traits.impl")]
    fn level(&self, fail: bool) -> Answer<Self::Level> {
        reach(fail).map(Into::into)
    }

    #[circuit_breaker(name = "traits.async")]
    async fn level_later(&self, fail: bool) -> Answer<u32> {
        reach(fail).map(|_| self.stock)
    }

    #[circuit_breaker(name = "traits.made")]
    fn made(&self, fail: bool) -> impl Future<Output = Answer<u32>> + Send {
        async move { reach(fail).map(|_| self.stock) }
    }
}

#[test]
fn implemented_method() {
    rejects("traits.impl", |fail| Shop { stock: 5 }.level(fail));
}

#[test]
fn default_method() {
    rejects("traits.default", |fail| {
        Shop { stock: 5 }.default_level(fail)
    });
    falls_back("traits.default_fallback", &2, |fail| {
        Shop { stock: 5 }.default_with_fallback(fail)
    });
}

#[test]
fn native_async_method() {
    rejects("traits.async", |fail| {
        now(Shop { stock: 5 }.level_later(fail))
    });
    falls_back("traits.default_async", &2, |fail| {
        now(Shop { stock: 5 }.default_later(fail))
    });
}

#[test]
fn method_that_makes_a_future() {
    rejects("traits.made", |fail| now(Shop { stock: 5 }.made(fail)));
}

#[async_trait]
trait Remote {
    async fn plain(&self, fail: bool) -> Answer<u32>;
    async fn by_mut(&mut self, texts: Vec<&str>, fail: bool) -> Result<usize, Bare>;
    async fn owned(self: Box<Self>, (fail, _): (bool, u8)) -> Result<Box<Self>, Bare>;
    async fn nothing(&self);
    async fn without_self(fail: bool) -> Answer<u32>
    where
        Self: Sized;

    #[circuit_breaker(name = "async_trait.default", fallback = Self::remembered)]
    async fn with_default(&self, fail: bool) -> Answer<u32> {
        self.plain(fail).await
    }

    async fn remembered(&self, _fail: bool, why: CallNotPermitted) -> Answer<u32> {
        Ok(u32::from(why.breaker() == "async_trait.default") + 5)
    }
}

#[async_trait]
impl Remote for Shop {
    /// With an attribute above and one below.
    #[allow(clippy::needless_question_mark)]
    #[circuit_breaker(name = "async_trait.plain")]
    #[inline]
    async fn plain(&self, fail: bool) -> Answer<u32> {
        Ok(reach(fail)?)
    }

    #[circuit_breaker(name = "async_trait.by_mut", fallback = Self::count)]
    async fn by_mut(&mut self, texts: Vec<&str>, fail: bool) -> Result<usize, Bare> {
        self.stock += 1;
        if fail {
            return Err(Bare(self.stock));
        }
        Ok(texts.len())
    }

    #[circuit_breaker(name = "async_trait.owned", fallback = Shop::same)]
    async fn owned(self: Box<Self>, (fail, _): (bool, u8)) -> Result<Box<Self>, Bare> {
        reach(fail).map_err(|_| Bare(0))?;
        Ok(Box::new(Shop { stock: 9 }))
    }

    #[circuit_breaker(name = "async_trait.nothing", fallback = Shop::note)]
    async fn nothing(&self) {}

    #[circuit_breaker(name = "async_trait.without_self", timeout = "1s")]
    async fn without_self(fail: bool) -> Answer<u32> {
        reach(fail)
    }
}

impl Shop {
    fn count(&mut self, texts: Vec<&str>, _fail: bool) -> Result<usize, Bare> {
        self.stock += 100;
        Ok(texts.len() + 100)
    }

    fn same(self: Box<Self>, _: (bool, u8)) -> Result<Box<Self>, Bare> {
        Ok(self)
    }

    async fn note(&self) {
        NOTED.with(|noted| noted.set(true));
    }
}

thread_local! {
    static NOTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl PartialEq for Shop {
    fn eq(&self, other: &Self) -> bool {
        self.stock == other.stock
    }
}

impl std::fmt::Debug for Shop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stock.fmt(f)
    }
}

#[test]
fn async_trait_method() {
    let shop = || Shop { stock: 5 };
    rejects("async_trait.plain", |fail| now(shop().plain(fail)));
    rejects("async_trait.without_self", |fail| {
        now(Shop::without_self(fail))
    });
}

#[test]
fn async_trait_method_falls_back() {
    falls_back("async_trait.by_mut", &101, |fail| {
        now(Shop { stock: 5 }.by_mut(vec!["a"], fail))
    });
    falls_back("async_trait.owned", &Box::new(Shop { stock: 5 }), |fail| {
        now(Box::new(Shop { stock: 5 }).owned((fail, 0)))
    });
    falls_back("async_trait.default", &6, |fail| {
        now(Shop { stock: 5 }.with_default(fail))
    });
}

#[test]
fn async_trait_method_that_returns_nothing() {
    crate::answers("async_trait.nothing", &false, &true, || {
        now(Shop { stock: 5 }.nothing());
        NOTED.with(std::cell::Cell::get)
    });
}

#[test]
fn async_trait_future_asks_when_it_is_polled() {
    let scope = cb_runtime::testing::Scope::new();
    let shop = Shop { stock: 5 };
    let early = shop.plain(false);
    scope.breaker("async_trait.plain").force_open();
    assert!(matches!(now(early), Err(ApiError::NotPermitted(_))));
}
