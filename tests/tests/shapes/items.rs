//! Kinds of items, and functions that macros write. For `unsafe fn`, which this workspace forbids, see
//! `ui/pass/unsafe_functions.rs`.

use std::process::Command;

use cb_runtime::{CallNotPermitted, circuit_breaker};

use crate::{Answer, BusinessError, answers, falls_back, now, reach, rejects};

#[circuit_breaker(name = "items.extern", fallback = minus_one)]
extern "C" fn foreign(code: i32) -> i32 {
    assert!(code < 500, "too much");
    code
}

fn minus_one(_: i32, _: CallNotPermitted) -> i32 {
    -1
}

#[test]
fn extern_c_functions() {
    let called: extern "C" fn(i32) -> i32 = foreign;
    answers("items.extern", &200, &-1, || called(200));
}

/// The panic goes on to the function's edge, and there the compiler ends the process.
#[test]
fn a_panic_does_not_leave_an_extern_c_function() {
    const CHILD: &str = "CB_EXTERN_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let unwound = std::panic::catch_unwind(|| foreign(500));
        println!("unwound: {}", unwound.is_err());
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "items::a_panic_does_not_leave_an_extern_c_function",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(
        !child.status.success() && !said.contains("unwound"),
        "{said}"
    );
    let panic = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(panic.contains("too much"), "{panic}");
    let scope = cb_runtime::testing::Scope::new();
    foreign(1);
    assert_eq!(scope.breaker("items.extern").snapshot().calls, 1);
}

#[circuit_breaker(name = "items.inner")]
fn inner_attributes(fail: bool) -> Answer<u32> {
    #![allow(clippy::needless_return)]
    //! And documentation.
    return reach(fail);
}

#[test]
fn inner_attributes_stay_first() {
    rejects("items.inner", inner_attributes);
}

macro_rules! make {
    ($(#[$meta:meta])* $vis:vis $name:ident, $text:literal, $calls:expr, $ty:ty, $body:block) => {
        $(#[$meta])*
        #[circuit_breaker(name = $text, min_calls = $calls, ignore = BusinessError)]
        $vis fn $name(fail: bool) -> $ty {
            let answer = (|fail: bool| -> $ty { let _ = fail; $body })(fail);
            if fail { reach(true) } else { answer }
        }
    };
    (@whole $item:item) => { $item };
    (@body $name:ident $text:literal $body:block) => {
        #[circuit_breaker(name = $text)]
        fn $name(_fail: bool) -> Answer<u32> $body
    };
    (@boxed $name:ident $text:literal $fail:ident $made:expr) => {
        #[circuit_breaker(name = $text)]
        fn $name($fail: bool) -> std::pin::Pin<Box<dyn std::future::Future<Output = Answer<u32>>>> {
            $made
        }
    };
}

make!(/** Made. */ pub(crate) made, "items.made", 10, Answer<u32>, { reach(false) });

make!(@whole
    #[circuit_breaker(name = "items.whole")]
    fn whole(fail: bool) -> Answer<u32> { reach(fail) }
);

make!(@body with_body "items.body" { reach(false) });

make!(@boxed boxed "items.made_boxed" fail Box::pin(async move { reach(fail) }));

macro_rules! methods {
    ($type:ident, $this:ident, $body:expr, $fallback:path) => {
        impl $type {
            #[circuit_breaker(name = "items.method", fallback = $fallback)]
            fn method(&$this, fail: bool) -> Answer<u32> {
                let _ = fail;
                $body
            }

            fn instead(&self, _: bool) -> Answer<u32> {
                Ok(self.0 + 1)
            }
        }
    };
}

struct Shop(u32);

methods!(Shop, self, reach(self.0 == 0), Shop::instead);

#[test]
fn functions_that_macros_write() {
    rejects("items.made", made);
    rejects("items.whole", whole);
    answers("items.body", &true, &false, || with_body(false).is_ok());
    rejects("items.made_boxed", |fail| now(boxed(fail)));
    falls_back("items.method", &1, |fail| {
        // It fails with no stock, and the fallback finds one.
        Shop(u32::from(!fail))
            .method(fail)
            .map(|one| one * 5 - if fail { 4 } else { 0 })
    });
}

mod visible {
    use super::{Answer, circuit_breaker, reach};

    pub(crate) mod inner {
        use super::{Answer, circuit_breaker, reach};

        #[circuit_breaker(name = "items.restricted")]
        pub(in crate::items) fn restricted(fail: bool) -> Answer<u32> {
            reach(fail)
        }
    }

    #[circuit_breaker(name = "items.visible")]
    pub(super) async fn visible(fail: bool) -> Answer<u32> {
        reach(fail)
    }
}

#[test]
fn visibility_stays() {
    rejects("items.visible", |fail| now(visible::visible(fail)));
    rejects("items.restricted", visible::inner::restricted);
}

#[test]
fn functions_within_functions() {
    #[circuit_breaker(name = "items.nested")]
    fn nested(fail: bool) -> Answer<u32> {
        #[circuit_breaker(name = "items.innermost")]
        fn innermost(fail: bool) -> Answer<u32> {
            reach(fail)
        }
        innermost(fail)
    }
    rejects("items.nested", |fail| match nested(fail) {
        // Both opened; the outer one's turn to reject is first.
        Err(crate::ApiError::NotPermitted(why)) => {
            assert_eq!(why.breaker(), "items.nested");
            Err(why.into())
        }
        other => other,
    });
    rejects("items.innermost", nested_alone);
}

fn nested_alone(fail: bool) -> Answer<u32> {
    #[circuit_breaker(name = "items.innermost")]
    fn innermost(fail: bool) -> Answer<u32> {
        reach(fail)
    }
    innermost(fail)
}
