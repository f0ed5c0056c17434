//! Generics, const generics, lifetimes.

use std::collections::BTreeMap;
use std::fmt::Debug;

use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, Bare, falls_back, now, reach, rejects};

#[circuit_breaker(name = "generics.type", fallback = first)]
fn generic<T>(items: Vec<T>, fail: bool) -> Answer<Option<T>>
where
    T: PartialEq + Clone,
{
    reach(fail).map(|_| items.last().cloned())
}

fn first<T>(items: Vec<T>, _: bool, _: CallNotPermitted) -> Answer<Option<T>> {
    Ok(items.into_iter().next())
}

#[circuit_breaker(name = "generics.turbofish", fallback = first_of::<T, N>)]
async fn const_generic<T: Copy, const N: usize>(items: [T; N], fail: bool) -> Answer<(T, usize)> {
    reach(fail).map(|_| (items[N - 1], N))
}

fn first_of<T: Copy, const N: usize>(items: [T; N], _: bool) -> Answer<(T, usize)> {
    Ok((items[0], N))
}

#[circuit_breaker(name = "generics.lifetimes")]
fn longest<'a, 'b: 'a>(a: &'a str, b: &'b str, fail: bool) -> Answer<&'a str> {
    reach(fail).map(|_| if a.len() > b.len() { a } else { b })
}

#[circuit_breaker(name = "generics.elided", fallback = no_text)]
async fn elided(text: &str, fail: &bool) -> Answer<usize> {
    std::future::ready(()).await;
    reach(*fail).map(|_| text.len())
}

async fn no_text(_: &str, _: &bool) -> Answer<usize> {
    Ok(0)
}

#[circuit_breaker(name = "generics.error")]
fn generic_error<E: From<CallNotPermitted> + From<crate::ApiError>>(fail: bool) -> Result<u32, E> {
    Ok(reach(fail)?)
}

struct Store<K, V, const SIZE: usize>(BTreeMap<K, V>);

impl<K: Ord + Clone, V: Clone + Default, const SIZE: usize> Store<K, V, SIZE> {
    #[circuit_breaker(name = "generics.method", fallback = Self::default_of)]
    fn get<Q: Into<K>>(&self, key: Q, fail: bool) -> Result<(V, usize), Bare> {
        reach(fail).map_err(|_| Bare(0))?;
        Ok((self.0.get(&key.into()).cloned().unwrap_or_default(), SIZE))
    }

    fn default_of<Q>(&self, _: Q, _: bool) -> Result<(V, usize), Bare> {
        Ok((V::default(), 0))
    }
}

#[circuit_breaker(name = "generics.dyn")]
fn dynamic(value: &dyn Debug, fail: bool) -> Answer<Box<dyn Debug + '_>> {
    reach(fail).map(|_| Box::new(value) as _)
}

#[circuit_breaker(name = "generics.higher")]
fn higher<F>(read: F, fail: bool) -> Answer<usize>
where
    F: for<'a> Fn(&'a str) -> &'a str,
{
    reach(fail).map(|_| read("text").len())
}

#[test]
fn type_parameters() {
    falls_back("generics.type", &Some(1), |fail| generic(vec![1, 2], fail));
    rejects("generics.error", generic_error::<crate::ApiError>);
    rejects("generics.dyn", |fail| dynamic(&1, fail).map(drop));
    rejects("generics.higher", |fail| higher(|text| &text[1..], fail));
}

#[test]
fn const_parameters() {
    falls_back("generics.turbofish", &('a', 2), |fail| {
        now(const_generic(['a', 'b'], fail))
    });
}

#[test]
fn lifetimes() {
    rejects("generics.lifetimes", |fail| longest("a", "bc", fail));
    falls_back("generics.elided", &0, |fail| now(elided("text", &fail)));
}

#[test]
fn methods_of_generic_types() {
    let store = Store::<u32, u8, 3>([(1, 2)].into());
    falls_back("generics.method", &(0, 0), |fail| store.get(1_u32, fail));
}
