//! Functions that are not async but return a future. The breaker guards the work, not the making.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use cb_runtime::testing::Scope;
use cb_runtime::{CallError, CallNotPermitted, circuit_breaker};

use crate::{Answer, ApiError, Bare, falls_back, now, reach, rejects};

/// As of the `futures` crate; recognised by its name.
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type LocalBoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

struct Shop {
    fail: bool,
    calls: u32,
}

#[circuit_breaker(name = "made.impl")]
fn impl_future(fail: bool) -> impl Future<Output = Answer<u32>> + Send {
    async move { reach(fail) }
}

#[test]
fn impl_future_of_an_async_block() {
    rejects("made.impl", |fail| now(impl_future(fail)));
}

#[circuit_breaker(name = "made.impl_call")]
fn impl_future_of_a_call(fail: bool) -> impl Future<Output = Answer<u32>> {
    std::future::ready(reach(fail))
}

#[test]
fn impl_future_of_another_function() {
    rejects("made.impl_call", |fail| now(impl_future_of_a_call(fail)));
}

#[circuit_breaker(name = "made.boxed")]
fn boxed(fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>> + Send + 'static>> {
    Box::pin(async move {
        reach(fail)?;
        Ok(1)
    })
}

#[test]
fn boxed_async_block() {
    rejects("made.boxed", |fail| now(boxed(fail)));
}

#[circuit_breaker(name = "made.boxed_call")]
fn boxed_call(fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>> + Send>> {
    std::boxed::Box::pin(std::future::ready(reach(fail)))
}

#[circuit_breaker(name = "made.boxed_early")]
fn boxed_early(fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>> + Send>> {
    if fail {
        return Box::pin(std::future::ready(reach(true)));
    }
    let answer = reach(false);
    Box::pin(async move { answer })
}

#[test]
fn boxed_by_other_means() {
    rejects("made.boxed_call", |fail| now(boxed_call(fail)));
    rejects("made.boxed_early", |fail| now(boxed_early(fail)));
}

macro_rules! ensure {
    ($condition:expr) => {
        if !$condition {
            return Box::pin(std::future::ready(reach(true)));
        }
    };
}

#[circuit_breaker(name = "made.ensured")]
fn ensured(fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>>>> {
    ensure!(!fail);
    Box::pin(async move { reach(fail) })
}

#[test]
fn a_macro_before_the_future_that_returns_another() {
    rejects("made.ensured", |fail| now(ensured(fail)));
}

#[circuit_breaker(name = "made.alias")]
fn alias(fail: &bool) -> BoxFuture<'_, Answer<u32>> {
    Box::pin(async move { reach(*fail) })
}

#[circuit_breaker(name = "made.alias_local")]
fn local_alias(fail: Rc<Cell<bool>>) -> LocalBoxFuture<'static, Answer<u32>> {
    Box::pin(async move { reach(fail.get()) })
}

#[test]
fn aliases_by_their_names() {
    rejects("made.alias", |fail| now(alias(&fail)));
    rejects("made.alias_local", |fail| {
        now(local_alias(Rc::new(Cell::new(fail))))
    });
}

#[circuit_breaker(name = "made.statements")]
fn statements(made: &Cell<u32>, fail: bool) -> impl Future<Output = Answer<u32>> + use<> {
    made.set(made.get() + 1);
    let fail = fail && made.get() > 0;
    async move { reach(fail) }
}

#[circuit_breaker(name = "made.statements_boxed")]
fn statements_boxed(shop: &mut Shop) -> Pin<Box<dyn Future<Output = Answer<u32>>>> {
    shop.calls += 1;
    let fail = shop.fail;
    Box::pin(async move { reach(fail) })
}

#[test]
fn statements_before_the_future_run_at_the_call() {
    let made = Cell::new(0);
    let scope = Scope::new();
    let (first, second) = (statements(&made, false), statements(&made, true));
    let mut shop = Shop {
        fail: false,
        calls: 0,
    };
    let third = statements_boxed(&mut shop);
    assert_eq!((made.get(), shop.calls), (2, 1), "as without the attribute");
    assert_eq!(scope.breaker("made.statements").snapshot().calls, 0);
    assert_eq!((now(first), now(second)), (Ok(1), reach(true)));
    assert_eq!(now(third), Ok(1));
    assert_eq!(scope.breaker("made.statements").snapshot().calls, 2);
    drop(scope);
    rejects("made.statements", |fail| now(statements(&made, fail)));
    rejects("made.statements_boxed", |fail| {
        now(statements_boxed(&mut Shop { fail, calls: 0 }))
    });
}

#[test]
fn a_future_asks_when_it_is_polled() {
    let scope = Scope::new();
    let (early, boxed) = (impl_future(false), boxed(false));
    drop(impl_future(true));
    scope.breaker("made.impl").force_open();
    scope.breaker("made.boxed").force_open();
    for error in [now(early), now(boxed)] {
        assert!(matches!(error, Err(ApiError::NotPermitted(_))));
    }
    assert_eq!(scope.breaker("made.impl").snapshot().not_permitted, 1);
}

impl Shop {
    #[circuit_breaker(name = "made.method", fallback = Self::cached)]
    fn by_mut(&mut self, fail: bool) -> Pin<Box<dyn Future<Output = Answer<u32>> + Send + '_>> {
        Box::pin(async move {
            self.calls += 1;
            reach(fail)
        })
    }

    async fn cached(&mut self, fail: bool, why: CallNotPermitted) -> Answer<u32> {
        assert!(fail && self.calls == 0, "{why}");
        Ok(7)
    }

    #[circuit_breaker(name = "made.borrowed", fallback = Self::cached_ref)]
    fn by_ref<'a>(&'a self, fail: &'a bool) -> impl Future<Output = Answer<&'a bool>> + 'a {
        async move { reach(*fail).map(|_| &self.fail) }
    }

    fn cached_ref<'a>(&'a self, fail: &'a bool) -> Answer<&'a bool> {
        Ok(if self.fail { &true } else { fail })
    }
}

#[test]
fn methods_that_make_futures() {
    let shop = || Shop {
        fail: false,
        calls: 0,
    };
    falls_back("made.method", &7, |fail| now(shop().by_mut(fail)));
    falls_back("made.borrowed", &true, |fail| {
        now(shop().by_ref(&fail)).copied()
    });
}

/// Not `Clone`: the body and the fallback never both need it.
#[derive(PartialEq, Debug)]
struct Order(u32);

#[circuit_breaker(name = "made.consumes", fallback = given_back)]
fn consumes(order: Order, (fail, mut n): (bool, u32)) -> impl Future<Output = Result<Order, Bare>> {
    async move {
        n += order.0;
        reach(fail).map_err(|_| Bare(n))?;
        Ok(Order(n))
    }
}

fn given_back(order: Order, _: (bool, u32)) -> Result<Order, Bare> {
    Ok(order)
}

#[circuit_breaker(name = "made.keeps", fallback = kept)]
fn keeps(text: String, fail: bool) -> impl Future<Output = Result<String, Bare>> {
    let text = text + "!";
    async move { reach(fail).map(|_| text).map_err(|_| Bare(0)) }
}

async fn kept(text: String, _: bool, why: CallNotPermitted) -> Result<String, Bare> {
    Ok(format!("{text} {}", why.breaker()))
}

#[test]
fn fallbacks_get_the_parameters() {
    falls_back("made.consumes", &Order(3), |fail| {
        now(consumes(Order(3), (fail, 1)))
    });
    falls_back("made.keeps", &"text made.keeps".into(), |fail| {
        now(keeps("text".into(), fail))
    });
}

#[circuit_breaker(name = "made.rescued", fallback = rescued, fallback_on = "failure", timeout = "1s")]
fn rescue(code: u32) -> impl Future<Output = Result<u32, Bare>> + Send {
    std::future::ready(if code == 0 { Ok(0) } else { Err(Bare(code)) })
}

#[circuit_breaker(name = "made.rescued_block", fallback = rescued, fallback_on = "failure", timeout = "1s")]
fn rescue_block(code: u32) -> Pin<Box<dyn Future<Output = Result<u32, Bare>> + Send>> {
    Box::pin(async move { if code == 0 { Ok(0) } else { Err(Bare(code)) } })
}

async fn rescued(code: u32, why: CallError<Bare>) -> Result<u32, Bare> {
    Ok(match why {
        CallError::Failed(Bare(same)) if same == code => code + 1,
        CallError::NotPermitted(_) => code + 100,
        _ => 0,
    })
}

#[test]
fn failures_fall_back() {
    let scope = Scope::new();
    let calls: [(&str, &dyn Fn(u32) -> Result<u32, Bare>); 2] = [
        ("made.rescued", &|code| now(rescue(code))),
        ("made.rescued_block", &|code| now(rescue_block(code))),
    ];
    for (name, call) in calls {
        assert_eq!((call(0), call(5)), (Ok(0), Ok(6)), "{name}");
        let breaker = scope.breaker(name);
        assert_eq!(
            (breaker.snapshot().calls, breaker.snapshot().failed),
            (2, 1)
        );
        breaker.force_open();
        assert_eq!(call(5), Ok(105), "{name}");
    }
}

#[circuit_breaker(name = "made.hangs", timeout = "1s", slow = "500ms")]
fn hangs() -> impl Future<Output = Answer<u32>> + Send {
    std::future::pending()
}

#[circuit_breaker(name = "made.dropped", on_cancel = "failure")]
fn dropped() -> Pin<Box<dyn Future<Output = Answer<u32>> + Send>> {
    Box::pin(std::future::pending())
}

#[circuit_breaker(name = "made.panics")]
fn panics() -> impl Future<Output = Answer<u32>> {
    async { panic!("body") }
}

#[tokio::test]
async fn timeouts_cancellations_and_panics() {
    let scope = Scope::new();
    let task = tokio::spawn(hangs());
    for _ in 0..4 {
        tokio::task::yield_now().await;
        scope.clock().advance(Duration::from_secs(1));
    }
    assert!(task.is_finished(), "the timeout ends it");
    assert!(matches!(task.await.unwrap(), Err(ApiError::TimedOut(_))));
    assert_eq!(scope.breaker("made.hangs").snapshot().timed_out, 1);

    let mut polled = dropped();
    let mut context = Context::from_waker(Waker::noop());
    assert!(polled.as_mut().poll(&mut context).is_pending());
    drop((polled, dropped()));
    let snapshot = scope.breaker("made.dropped").snapshot();
    assert_eq!((snapshot.calls, snapshot.failed), (1, 1), "once polled");

    let mut future = Box::pin(panics());
    let polled = std::panic::AssertUnwindSafe(|| now(future.as_mut()));
    std::panic::catch_unwind(polled).unwrap_err();
    let breaker = scope.breaker("made.panics");
    assert_eq!(
        breaker.snapshot().failed,
        1,
        "while the future is still there"
    );
}

#[circuit_breaker(name = "made.key", key = host)]
fn keyed(host: String, fail: bool) -> impl Future<Output = Answer<u32>> + Send {
    async move { reach(fail).map(|one| one + u32::from(host.is_empty())) }
}

#[circuit_breaker(name = "made.key_early", key = &host[1..], fallback = keyed_instead)]
fn keyed_early(host: String, fail: bool) -> BoxFuture<'static, Answer<u32>> {
    let host = host + "!";
    Box::pin(async move { reach(fail).map(|one| one + u32::from(host.is_empty())) })
}

fn keyed_instead(host: String, _: bool) -> Answer<u32> {
    Ok(u32::try_from(host.len()).unwrap_or(0) * 10)
}

#[test]
fn one_breaker_for_each_key() {
    let scope = Scope::new();
    let registry = cb_runtime::registry();
    assert_eq!(now(keyed("eu".into(), false)), Ok(1));
    assert_eq!(now(keyed_early("-eu".into(), false)), Ok(1));
    for name in ["made.key", "made.key_early"] {
        let breaker = registry.keyed(name, "eu").unwrap();
        assert_eq!(breaker.snapshot().calls, 1, "{name}");
        breaker.force_open();
    }
    assert!(now(keyed("eu".into(), false)).is_err());
    assert_eq!(now(keyed("us".into(), false)), Ok(1));
    assert_eq!(now(keyed_early("-eu".into(), false)), Ok(30));
    drop(scope);
}

impl Shop {
    #[circuit_breaker(name = "made.lent", fallback = Self::rescued, fallback_on = "failure")]
    fn lent(&mut self, list: &mut Vec<u32>) -> impl Future<Output = Result<u32, Bare>> {
        async move {
            self.calls += 1;
            list.push(self.calls);
            if self.fail { Err(Bare(1)) } else { Ok(1) }
        }
    }

    async fn rescued(&mut self, list: &mut Vec<u32>, _: CallError<Bare>) -> Result<u32, Bare> {
        list.push(100 + self.calls);
        Ok(2)
    }
}

/// A block takes `&mut` parameters when it is polled, so they can be lent to the fallback after it.
#[test]
fn failures_fall_back_on_what_the_body_has_borrowed() {
    let _scope = Scope::new();
    let (mut shop, mut list) = (
        Shop {
            fail: true,
            calls: 0,
        },
        vec![],
    );
    assert_eq!(now(shop.lent(&mut list)), Ok(2));
    shop.fail = false;
    assert_eq!(now(shop.lent(&mut list)), Ok(1));
    assert_eq!(list, [1, 101, 2]);
}
