//! Every receiver.

use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;

use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, Bare, falls_back, now, reach, rejects};

#[derive(Debug, PartialEq, Clone)]
struct Shop {
    stock: u32,
}

fn shop() -> Shop {
    Shop { stock: 5 }
}

impl Shop {
    #[circuit_breaker(name = "receiver.ref")]
    fn by_ref(&self, fail: bool) -> Answer<&u32> {
        reach(fail).map(|_| &self.stock)
    }

    #[circuit_breaker(name = "receiver.mut")]
    fn by_mut<'a>(&'a mut self, other: &mut u32, fail: bool) -> Answer<&'a mut u32> {
        *other += 1;
        self.stock += 1;
        reach(fail)?;
        Ok(&mut self.stock)
    }

    #[circuit_breaker(name = "receiver.value", fallback = Self::cached)]
    fn by_value(mut self, fail: bool) -> Result<Self, Bare> {
        self.stock += 1;
        reach(fail).map_err(|_| Bare(self.stock))?;
        Ok(self)
    }

    fn cached(self, _fail: bool, _: CallNotPermitted) -> Result<Self, Bare> {
        Ok(self)
    }

    #[circuit_breaker(name = "receiver.box", fallback = Self::cached_box)]
    fn by_box(self: Box<Self>, fail: bool) -> Result<u32, Bare> {
        reach(fail).map_err(|_| Bare(self.stock))
    }

    fn cached_box(self: Box<Self>, _fail: bool) -> Result<u32, Bare> {
        Ok(self.stock)
    }

    #[circuit_breaker(name = "receiver.rc")]
    fn by_rc(self: Rc<Self>, fail: bool) -> Answer<Rc<Self>> {
        reach(fail).map(|_| self)
    }

    #[circuit_breaker(name = "receiver.rc_ref")]
    fn by_rc_ref(self: &Rc<Self>, fail: bool) -> Answer<Rc<Self>> {
        reach(fail).map(|_| Rc::clone(self))
    }

    #[circuit_breaker(name = "receiver.arc")]
    async fn by_arc(self: Arc<Self>, fail: bool) -> Answer<u32> {
        std::future::ready(()).await;
        reach(fail).map(|_| self.stock)
    }

    #[circuit_breaker(name = "receiver.pin", fallback = Self::cached_pin)]
    fn by_pin(self: Pin<&mut Self>, fail: bool) -> Result<u32, Bare> {
        reach(fail).map_err(|_| Bare(0))?;
        Ok(self.get_mut().stock)
    }

    fn cached_pin(self: Pin<&mut Self>, _fail: bool) -> Result<u32, Bare> {
        Ok(self.stock + 1)
    }

    #[circuit_breaker(name = "receiver.async_ref", fallback = Self::cached_ref)]
    async fn async_by_ref(&self, fail: bool) -> Answer<&u32> {
        std::future::ready(()).await;
        reach(fail).map(|_| &self.stock)
    }

    async fn cached_ref(&self, _fail: bool) -> Answer<&u32> {
        Ok(&0)
    }

    #[circuit_breaker(name = "receiver.async_mut")]
    async fn async_by_mut(&mut self, fail: bool) -> Answer<&mut u32> {
        self.stock += 1;
        std::future::ready(()).await;
        reach(fail)?;
        Ok(&mut self.stock)
    }

    #[circuit_breaker(name = "receiver.async_value")]
    async fn async_by_value(mut self, fail: bool) -> Answer<Self> {
        self.stock += 1;
        reach(fail)?;
        Ok(self)
    }

    #[circuit_breaker(name = "receiver.async_pin")]
    async fn async_by_pin(self: Pin<&mut Self>, fail: bool) -> Answer<u32> {
        reach(fail).map(|_| self.stock)
    }

    #[circuit_breaker(name = "receiver.explicit")]
    fn explicit(self: &Self, fail: bool) -> Answer<u32> {
        reach(fail).map(|_| self.stock)
    }

    #[circuit_breaker(name = "receiver.none", fallback = Self::none_instead)]
    fn none(fail: bool) -> Answer<Self> {
        reach(fail).map(|_| Self { stock: 1 })
    }

    fn none_instead(_fail: bool) -> Answer<Self> {
        Ok(Self { stock: 0 })
    }
}

#[test]
fn by_reference() {
    rejects("receiver.ref", |fail| shop().by_ref(fail).copied());
    rejects("receiver.explicit", |fail| shop().explicit(fail));
    falls_back("receiver.async_ref", &0, |fail| {
        now(shop().async_by_ref(fail)).copied()
    });
}

#[test]
fn by_mutable_reference() {
    rejects("receiver.mut", |fail| shop().by_mut(&mut 0, fail).copied());
    rejects("receiver.async_mut", |fail| {
        now(shop().async_by_mut(fail)).copied()
    });
}

#[test]
fn by_value() {
    falls_back("receiver.value", &shop(), |fail| shop().by_value(fail));
    rejects("receiver.async_value", |fail| {
        now(shop().async_by_value(fail))
    });
}

#[test]
fn by_smart_pointer() {
    falls_back("receiver.box", &5, |fail| Box::new(shop()).by_box(fail));
    rejects("receiver.rc", |fail| Rc::new(shop()).by_rc(fail));
    rejects("receiver.rc_ref", |fail| Rc::new(shop()).by_rc_ref(fail));
    rejects("receiver.arc", |fail| now(Arc::new(shop()).by_arc(fail)));
}

#[test]
fn by_pin() {
    falls_back("receiver.pin", &6, |fail| pin!(shop()).by_pin(fail));
    rejects("receiver.async_pin", |fail| {
        now(pin!(shop()).async_by_pin(fail))
    });
}

#[test]
fn without_receiver() {
    falls_back("receiver.none", &Shop { stock: 0 }, Shop::none);
}
