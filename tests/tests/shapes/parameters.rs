//! Patterns, `_`, `mut`, `cfg`, and what is lent.

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, Bare, falls_back, now, reach, rejects};

struct Pair {
    a: u32,
    b: u32,
}

#[circuit_breaker(name = "parameters.patterns", fallback = sum)]
fn patterns(
    (a, mut b): (u32, u32),
    ref c @ Bare(d): Bare,
    [first, ..]: [u32; 3],
    &e: &u32,
    Pair { a: f, b: ref mut g }: Pair,
    n @ _: u32,
    fail: bool,
) -> Result<u32, Bare> {
    b += 1;
    *g += 1;
    reach(fail).map_err(|_| c.clone())?;
    Ok(a + b + d + first + e + f + *g + n)
}

fn sum(
    pair: (u32, u32),
    bare: Bare,
    list: [u32; 3],
    e: &u32,
    other: Pair,
    n: u32,
    _: bool,
) -> Result<u32, Bare> {
    Ok(1000 + pair.0 + bare.0 + list[0] + e + other.a + other.b + n)
}

#[circuit_breaker(name = "parameters.patterns_async", fallback = sum)]
async fn patterns_async(
    (a, mut b): (u32, u32),
    ref c @ Bare(d): Bare,
    [first, ..]: [u32; 3],
    &e: &u32,
    Pair { a: f, b: ref mut g }: Pair,
    n @ _: u32,
    fail: bool,
) -> Result<u32, Bare> {
    b += 1;
    *g += 1;
    std::future::ready(()).await;
    reach(fail).map_err(|_| c.clone())?;
    Ok(a + b + d + first + e + f + *g + n)
}

#[test]
fn patterns_of_every_kind() {
    let pair = || Pair { a: 6, b: 7 };
    let instead = 1000 + 1 + 3 + 4 + 5 + 6 + 7 + 8;
    falls_back("parameters.patterns", &instead, |fail| {
        patterns((1, 2), Bare(3), [4, 0, 0], &5, pair(), 8, fail)
    });
    falls_back("parameters.patterns_async", &instead, |fail| {
        now(patterns_async(
            (1, 2),
            Bare(3),
            [4, 0, 0],
            &5,
            pair(),
            8,
            fail,
        ))
    });
}

#[circuit_breaker(name = "parameters.wild", fallback = wild_instead)]
fn wild(_: u32, _unused: u32, fail: bool) -> Answer<u32> {
    reach(fail)
}

fn wild_instead(a: u32, b: u32, _: bool) -> Answer<u32> {
    Ok(a + b)
}

#[test]
fn unnamed_parameters_reach_the_fallback() {
    falls_back("parameters.wild", &30, |fail| wild(10, 20, fail));
}

#[circuit_breaker(name = "parameters.reassigned")]
fn reassigned(mut text: &str, fail: bool) -> Answer<usize> {
    const LOCAL: &str = "local";
    if text.is_empty() {
        text = LOCAL;
    }
    reach(fail).map(|_| text.len())
}

#[circuit_breaker(name = "parameters.reassigned_async")]
async fn reassigned_async(mut text: &str, fail: bool) -> Answer<usize> {
    const LOCAL: &str = "local";
    if text.is_empty() {
        text = LOCAL;
    }
    std::future::ready(()).await;
    reach(fail).map(|_| text.len())
}

#[test]
fn a_reference_that_the_body_reassigns() {
    rejects("parameters.reassigned", |fail| reassigned("", fail));
    rejects("parameters.reassigned_async", |fail| {
        now(reassigned_async("", fail))
    });
}

#[circuit_breaker(name = "parameters.lends")]
fn returns_what_it_was_lent<'a>(list: &'a mut Vec<u32>, fail: bool) -> Answer<&'a mut u32> {
    reach(fail)?;
    list.push(1);
    Ok(&mut list[0])
}

#[circuit_breaker(name = "parameters.lends_async", fallback = lent_first)]
async fn returns_what_it_was_lent_async(list: &mut Vec<u32>, fail: bool) -> Answer<&mut u32> {
    reach(fail)?;
    list.push(1);
    std::future::ready(()).await;
    Ok(&mut list[0])
}

async fn lent_first(list: &mut Vec<u32>, _: bool) -> Answer<&mut u32> {
    list.push(9);
    Ok(&mut list[0])
}

#[test]
fn a_borrow_of_a_mutable_parameter_is_returned() {
    rejects("parameters.lends", |fail| {
        returns_what_it_was_lent(&mut vec![], fail).copied()
    });
    falls_back("parameters.lends_async", &9, |fail| {
        now(returns_what_it_was_lent_async(&mut vec![], fail)).copied()
    });
}

#[circuit_breaker(name = "parameters.cfg", fallback = without_b)]
fn conditional(
    #[cfg(test)] a: u32,
    #[cfg(not(test))] b: u32,
    #[allow(unused_variables)] c: u32,
    fail: bool,
) -> Answer<u32> {
    reach(fail).map(|one| one + a)
}

fn without_b(a: u32, c: u32, _: bool) -> Answer<u32> {
    Ok(a * c)
}

#[test]
fn conditional_parameters() {
    falls_back("parameters.cfg", &12, |fail| conditional(3, 4, fail));
}

#[circuit_breaker(name = "parameters.impl_trait", fallback = count_instead)]
async fn impl_trait(items: impl Iterator<Item = &u32>, fail: impl Fn() -> bool) -> Answer<u32> {
    let sum = items.sum::<u32>();
    reach(fail()).map(|one| one + sum)
}

fn count_instead<'a>(
    items: impl Iterator<Item = &'a u32>,
    _: impl Fn() -> bool,
    why: CallNotPermitted,
) -> Answer<u32> {
    Ok(u32::from(why.breaker().len() > 3) * 100 + items.sum::<u32>())
}

#[test]
fn impl_trait_parameters_with_elided_lifetimes() {
    falls_back("parameters.impl_trait", &103, |fail| {
        now(impl_trait([1, 2].iter(), || fail))
    });
}

macro_rules! captured {
    ($this:ident, $one:pat, $pair:pat, $name:ident, $none:pat, $list:ty, $answer:ty, $body:expr) => {
        impl Pair {
            #[circuit_breaker(name = "parameters.captured", fallback = Self::instead, fallback_on = "failure")]
            fn captured(
                &$this,
                $one: u32,
                $pair: (u32, u32),
                mut $name: $list,
                $none: u32,
                fail: bool,
            ) -> $answer {
                $name.push(4);
                reach(fail).map_err(|_| Bare($name[0]))?;
                $body
            }
        }
    };
}

captured!(self, one, (two, mut three), list, _, Vec<u32>, Result<u32, Bare>, {
    three += list[0];
    Ok(self.a + one + two + three)
});

impl Pair {
    fn instead(&self, a: u32, b: (u32, u32), list: Vec<u32>, c: u32, _: bool) -> Result<u32, Bare> {
        assert_eq!((a, b, list, c), (1, (2, 3), vec![], 5));
        Ok(self.b)
    }
}

#[test]
fn parameters_that_a_macro_captured() {
    let scope = Scope::new();
    let pair = Pair { a: 10, b: 30 };
    let call = |fail| pair.captured(1, (2, 3), vec![], 5, fail).unwrap();
    assert_eq!((call(false), call(true)), (20, 30));
    assert_eq!(scope.breaker("parameters.captured").snapshot().failed, 1);
}

#[circuit_breaker(name = "parameters.qualified", fallback = first_of)]
fn qualified(
    Marked::<[u8; 2], 3> { value, .. }: Marked<[u8; 2], 3>,
    crate::Bare(mut bare): Bare,
    (0 | 1 | 2..): usize,
    r#type: u32,
    fail: bool,
) -> Result<u32, Bare> {
    bare += r#type;
    reach(fail).map_err(|_| Bare(0))?;
    Ok(bare + u32::from(value[0]))
}

struct Marked<T, const N: usize> {
    value: T,
}

fn first_of(a: Marked<[u8; 2], 3>, b: Bare, c: usize, d: u32, _: bool) -> Result<u32, Bare> {
    assert_eq!((c, d), (2, 5));
    Ok(100 + u32::from(a.value[1]) + b.0)
}

#[test]
fn patterns_with_paths() {
    falls_back("parameters.qualified", &104, |fail| {
        qualified(Marked { value: [1, 2] }, Bare(2), 2, 5, fail)
    });
}

/// Says when it is dropped.
struct Noisy<'a>(&'a std::cell::RefCell<Vec<u32>>, u32);

impl Drop for Noisy<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

#[circuit_breaker(name = "parameters.order")]
fn order(
    _: Noisy<'_>,
    (_a, _): (Noisy<'_>, u32),
    _b: Noisy<'_>,
    log: &std::cell::RefCell<Vec<u32>>,
) -> Answer<u32> {
    let _local = Noisy(log, 0);
    log.borrow_mut().push(9);
    reach(false)
}

#[circuit_breaker(name = "parameters.order_async")]
async fn order_async(
    _: Noisy<'_>,
    _b: Noisy<'_>,
    log: &std::cell::RefCell<Vec<u32>>,
) -> Answer<u32> {
    let _local = Noisy(log, 0);
    std::future::ready(()).await;
    log.borrow_mut().push(9);
    reach(false)
}

#[test]
fn parameters_outlive_the_body() {
    let scope = Scope::new();
    let log = std::cell::RefCell::default();
    let noisy = |n| Noisy(&log, n);
    order(noisy(1), (noisy(2), 0), noisy(3), &log).unwrap();
    let dropped = log.take();
    assert_eq!(dropped[..2], [9, 0], "the local first");
    assert_eq!(dropped.len(), 5);
    now(order_async(noisy(1), noisy(3), &log)).unwrap();
    assert_eq!(log.take()[..2], [9, 0]);
    assert_eq!(scope.breaker("parameters.order").snapshot().calls, 1);
    assert_eq!(scope.breaker("parameters.order_async").snapshot().calls, 1);
}
