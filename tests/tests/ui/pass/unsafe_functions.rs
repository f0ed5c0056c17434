//! `unsafe fn` is guarded like any other.

use cb_runtime::testing::Scope;
use cb_runtime::{CallNotPermitted, circuit_breaker};

/// # Safety
///
/// `pointer` must be valid.
#[circuit_breaker(name = "unsafe", fallback = minus_one)]
unsafe fn read(pointer: *const i32) -> i32 {
    unsafe { *pointer }
}

fn minus_one(_: *const i32, _: CallNotPermitted) -> i32 {
    -1
}

/// # Safety
///
/// `pointer` must be valid.
#[circuit_breaker(name = "unsafe.extern", fallback = minus_one)]
unsafe extern "C" fn read_foreign(pointer: *const i32) -> i32 {
    unsafe { *pointer }
}

/// # Safety
///
/// None needed.
#[circuit_breaker(name = "unsafe.async")]
async unsafe fn later(fail: bool) -> Result<u32, CallNotPermitted> {
    Ok(u32::from(fail))
}

fn main() {
    let scope = Scope::new();
    assert_eq!(unsafe { (read(&7), read_foreign(&8)) }, (7, 8));
    for name in ["unsafe", "unsafe.extern"] {
        assert_eq!(scope.breaker(name).snapshot().calls, 1);
        scope.breaker(name).force_open();
    }
    assert_eq!(unsafe { (read(&7), read_foreign(&8)) }, (-1, -1));

    scope.breaker("unsafe.async").force_open();
    let mut future = std::pin::pin!(unsafe { later(true) });
    let polled = future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
    assert!(matches!(polled, std::task::Poll::Ready(Err(_))));
}
