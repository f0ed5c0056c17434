//! Receivers, traits.

use std::pin::{Pin, pin};

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, circuit_breaker};

use crate::{Answer, ApiError, Bare, now, opens};

#[derive(Debug, PartialEq)]
struct Shop {
    stock: u32,
    calls: u32,
}

impl Shop {
    #[circuit_breaker(name = "shop.by_ref")]
    fn by_ref(&self, fail: bool) -> Answer<&u32> {
        if fail {
            return Err(ApiError::Http(1));
        }
        Ok(&self.stock)
    }

    #[circuit_breaker(name = "shop.by_mut")]
    fn by_mut<'a>(&'a mut self, extra: &mut u32, fail: bool) -> Answer<&'a mut u32> {
        *extra += 1;
        self.calls += 1;
        card_result(fail)?;
        Ok(&mut self.stock)
    }

    #[circuit_breaker(name = "shop.by_value")]
    fn by_value(mut self, fail: bool) -> Answer<Self> {
        self.calls += 1;
        card_result(fail)?;
        Ok(self)
    }

    #[circuit_breaker(name = "shop.boxed")]
    fn boxed(self: Box<Self>, fail: bool) -> Answer<Box<Self>> {
        card_result(fail).map(|_| self)
    }

    #[circuit_breaker(name = "shop.shared")]
    async fn shared(self: std::sync::Arc<Self>, fail: bool) -> Answer<u32> {
        card_result(fail)?;
        Ok(self.stock)
    }

    #[circuit_breaker(name = "shop.pinned")]
    async fn pinned(self: Pin<&mut Self>, fail: bool) -> Answer<u32> {
        card_result(fail)?;
        Ok(self.stock)
    }

    #[circuit_breaker(name = "shop.async_mut")]
    async fn async_mut(&mut self, fail: bool) -> Answer<&mut u32> {
        self.calls += 1;
        std::future::ready(()).await;
        card_result(fail)?;
        Ok(&mut self.stock)
    }

    #[circuit_breaker(name = "shop.fallback", fallback = Self::cached, fallback_on = "failure")]
    fn with_fallback(&mut self, fail: bool) -> Result<u32, Bare> {
        self.calls += 1;
        if fail {
            Err(Bare(self.calls))
        } else {
            Ok(self.stock)
        }
    }

    fn cached(&mut self, _fail: bool, why: CallError<Bare>) -> Result<u32, Bare> {
        self.stock += 1;
        match why {
            CallError::Failed(Bare(calls)) => Ok(1000 + calls),
            CallError::NotPermitted(_) => Ok(2000),
            _ => Ok(3000),
        }
    }

    #[circuit_breaker(name = "shop.async_fallback", fallback = constant)]
    async fn async_with_free_fallback(&self, fail: bool) -> Result<u32, Bare> {
        if fail { Err(Bare(0)) } else { Ok(self.stock) }
    }
}

fn constant(_fail: bool) -> Result<u32, Bare> {
    Ok(7)
}

fn card_result(fail: bool) -> Result<(), ApiError> {
    if fail { Err(ApiError::Http(1)) } else { Ok(()) }
}

trait Stock {
    async fn level(&self, fail: bool) -> Answer<u32>;

    #[circuit_breaker(name = "stock.default")]
    fn default_level(&self, fail: bool) -> Answer<u32> {
        card_result(fail)?;
        Ok(3)
    }
}

impl Stock for Shop {
    #[circuit_breaker(name = "stock.level")]
    async fn level(&self, fail: bool) -> Answer<u32> {
        card_result(fail)?;
        Ok(self.stock)
    }
}

#[test]
fn guards_methods_with_every_receiver() {
    let scope = Scope::new();
    let shop = || Shop { stock: 5, calls: 0 };
    assert_eq!(shop().by_ref(false), Ok(&5));
    opens(&scope, "shop.by_ref", || shop().by_ref(true).copied());
    let (mut one, mut extra) = (shop(), 0);
    *one.by_mut(&mut extra, false).unwrap() += 1;
    assert_eq!((one.stock, one.calls, extra), (6, 1, 1));
    opens(&scope, "shop.by_mut", || {
        shop().by_mut(&mut 0, true).copied()
    });
    assert_eq!(shop().by_value(false).unwrap().calls, 1);
    opens(&scope, "shop.by_value", || shop().by_value(true));
    opens(&scope, "shop.boxed", || Box::new(shop()).boxed(true));
    opens(&scope, "shop.shared", || {
        now(std::sync::Arc::new(shop()).shared(true))
    });
    opens(&scope, "shop.pinned", || now(pin!(shop()).pinned(true)));
    assert_eq!(now(shop().async_mut(false)), Ok(&mut 5));
    opens(&scope, "shop.async_mut", || {
        now(shop().async_mut(true)).copied()
    });
    opens(&scope, "stock.level", || now(shop().level(true)));
    opens(&scope, "stock.default", || shop().default_level(true));
}

#[test]
fn a_method_falls_back_with_and_without_its_receiver() {
    let scope = Scope::new();
    let mut shop = Shop { stock: 5, calls: 0 };
    assert_eq!(shop.with_fallback(true), Ok(1001));
    assert_eq!((shop.with_fallback(false), shop.stock), (Ok(6), 6));
    for _ in 0..8 {
        assert!(shop.with_fallback(true).unwrap() < 2000);
    }
    assert_eq!(
        shop.with_fallback(false),
        Ok(2000),
        "nine of ten calls failed"
    );
    assert_eq!(shop.calls, 10);

    assert_eq!(
        now(shop.async_with_free_fallback(true)),
        Err(Bare(0)),
        "rejections only"
    );
    scope.breaker("shop.async_fallback").force_open();
    assert_eq!(now(shop.async_with_free_fallback(true)), Ok(7));
}
