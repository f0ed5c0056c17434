//! Values of arguments, evaluated by the compiler.

use std::time::Duration;

use crate::config::Window;
use crate::config::limits::Refused;

/// Makes a refused value a compile error at the value.
///
/// # Panics
///
/// With the refusal's message; in a `const` that is the compile error.
#[track_caller]
pub const fn require(check: Result<(), Refused>) {
    if let Err(refused) = check {
        panic!("{}", refused.message);
    }
}

/// Exists so that `timeout` without timers is refused at the argument.
///
/// # Panics
///
/// Without the feature `tokio`; in a `const` that is the compile error.
#[track_caller]
pub const fn timer() {
    if !cfg!(feature = "tokio") {
        panic!(
            "`timeout` needs the feature `tokio`: give the dependency on `cb-runtime` in Cargo.toml `features = [\"tokio\"]`"
        );
    }
}

/// A constant expression that stands where a literal could.
pub struct Constant<T>(pub T);

impl Constant<u32> {
    /// A number of calls.
    pub const fn window(self) -> Window {
        Window::Calls(self.0)
    }

    /// A whole percentage or factor.
    pub const fn number(self) -> f64 {
        self.0 as f64
    }
}

impl Constant<f64> {
    /// A percentage or factor.
    pub const fn number(self) -> f64 {
        self.0
    }
}

impl Constant<Duration> {
    /// A window of time.
    pub const fn window(self) -> Window {
        Window::Time(self.0)
    }
}

impl Constant<Window> {
    /// The window itself.
    pub const fn window(self) -> Window {
        self.0
    }
}
