//! Generics, const generics, lifetimes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;

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

struct Long<const N: usize>;

#[circuit_breaker(name = "generics.lengths", fallback = first_length)]
fn lengths(
    Long: Long<{ if cfg!(test) { 2 } else { 3 } }>,
    [a, b]: [u32; {
        const TWO: usize = 2;
        TWO
    }],
    list: &[u32; match 3 {
         0 => 0,
         n => n,
     }],
    fail: bool,
) -> Result<[u32; 'two: { break 'two 2 }], Bare>
where
    [u32; [1, 2][0]]: Debug,
{
    reach(fail).map_err(|_| Bare(list[2]))?;
    Ok([a, b])
}

fn first_length(_: Long<2>, pair: [u32; 2], _: &[u32; 3], _: bool) -> Result<[u32; 2], Bare> {
    Ok([pair[1], pair[0]])
}

#[circuit_breaker(name = "generics.length_made", fallback = no_length)]
fn length_made(
    fail: bool,
) -> impl Future<
    Output = Result<
        [u32; {
            const TWO: usize = 2;
            TWO
        }],
        Bare,
    >,
> + use<> {
    async move { reach(fail).map(|one| [one; 2]).map_err(|_| Bare(0)) }
}

fn no_length(_: bool) -> Result<[u32; 2], Bare> {
    Ok([0; 2])
}

#[test]
fn lengths_that_are_any_expression() {
    falls_back("generics.lengths", &[2, 1], |fail| {
        lengths(Long, [1, 2], &[1, 2, 3], fail)
    });
    falls_back("generics.length_made", &[0; 2], |fail| {
        now(length_made(fail))
    });
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
