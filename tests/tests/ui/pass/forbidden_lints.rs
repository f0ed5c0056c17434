//! Nothing that the attribute writes asks for leave of a lint that the user forbids.

#![forbid(unreachable_code, unreachable_patterns, unused, warnings)]

use cb_runtime::{CallError, circuit_breaker};

#[derive(Debug)]
enum Only {
    One,
}

impl std::fmt::Display for Only {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Only {}

type Aliased = Result<u32, Only>;

#[circuit_breaker(name = "never_ends", fallback = alternative)]
fn never_ends((mut a, _): (u32, u8)) -> u32 {
    loop {
        a += 1;
        if a > 3 {
            return a;
        }
    }
}

fn alternative(_: (u32, u8)) -> u32 {
    0
}

#[circuit_breaker(name = "never_ends_async")]
async fn never_ends_async((mut a, _): (u32, u8)) -> Result<u32, CallError<Only>> {
    loop {
        a += 1;
        if a > 3 {
            return Err(CallError::Failed(Only::One));
        }
    }
}

#[circuit_breaker(name = "all_variants", ignore = Only::One, fallback = rejected)]
fn all_variants() -> Result<u32, Only> {
    Err(Only::One)
}

#[circuit_breaker(name = "all_variants_behind_alias", ignore = Only::One, fallback = rejected)]
fn all_variants_behind_alias() -> Aliased {
    Err(Only::One)
}

fn rejected() -> Result<u32, Only> {
    Ok(1)
}

fn main() {
    assert_eq!(never_ends((1, 2)), 4);
    drop(never_ends_async((1, 2)));
    assert!(all_variants().is_err() && all_variants_behind_alias().is_err());
    for name in ["all_variants", "all_variants_behind_alias"] {
        let breaker = cb_runtime::registry().get(name).unwrap();
        assert_eq!(breaker.snapshot().calls, 0, "ignored");
    }
}
