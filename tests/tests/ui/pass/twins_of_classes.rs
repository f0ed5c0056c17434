//! What the messages about `ignore`, `record`, `failure_if` and `key` say to write, written. Each
//! breaker is named after the mistake.

use cb_runtime::{CallError, circuit_breaker};

type Error = CallError<BusinessError>;

#[derive(Debug)]
struct BusinessError;

impl std::fmt::Display for BusinessError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("business")
    }
}

impl std::error::Error for BusinessError {}

#[derive(Debug)]
struct NotAnError;

macro_rules! twins {
    ($($name:ident($($arguments:tt)*);)*) => {
        $(
            #[circuit_breaker($($arguments)*)]
            fn $name() -> Result<u32, Error> {
                Ok(1)
            }
        )*
        fn all() {
            $($name().unwrap();)*
        }
    };
}

twins! {
    failure_if_not_a_function(name = "failure_if_not_a_function", failure_if = |code| *code == 500);
    ignore_as_string(name = "ignore_as_string", ignore = BusinessError);
    ignore_empty(name = "ignore_empty");
    ignore_unknown_type(name = "ignore_unknown_type", ignore = self::BusinessError);
    ignore_unknown_variant(name = "ignore_unknown_variant", ignore = Error::TimedOut);
    ignore_wrong_predicate(name = "ignore_wrong_predicate", ignore = is_business);
    list_without_brackets(name = "list_without_brackets", ignore = [BusinessError, Error::TimedOut]);
}

fn is_business(error: &Error) -> bool {
    matches!(error, CallError::Failed(BusinessError))
}

#[circuit_breaker(name = "ignore_never_found", ignore = is_not_an_error)]
fn never_found() -> Result<u32, CallError<NotAnError>> {
    Ok(1)
}

fn is_not_an_error(error: &CallError<NotAnError>) -> bool {
    matches!(error, CallError::Failed(NotAnError))
}

#[circuit_breaker(name = "ignore_where_nothing_is_returned", fallback = nothing)]
fn unit() {}

fn nothing() {}

#[circuit_breaker(name = "ignore_without_result", failure_if = |code| *code == 500, fallback = zero)]
fn plain() -> u32 {
    1
}

fn zero() -> u32 {
    0
}

struct Request {
    host: String,
}

#[circuit_breaker(name = "key_of_destructured_parameter", key = request.host)]
fn named(request: &Request) -> Result<u32, Error> {
    let Request { host } = request;
    let _ = host;
    Ok(1)
}

#[circuit_breaker(name = "key_leaves_the_function", key = host.unwrap_or("none"))]
fn perhaps(host: Option<&str>) -> Result<u32, Error> {
    let _ = host;
    Ok(1)
}

#[circuit_breaker(name = "key_formats_destructured_parameter", key = format!("{}:{:>5}", place.0, place.1))]
fn of_both(place: (&str, u16)) -> Result<u32, Error> {
    let _ = place;
    Ok(1)
}

// The pattern's names stand in the key as a field and as a function only.
struct Wrapped(u8);

#[circuit_breaker(name = "key_of_another_parameter", key = request.host)]
fn of_another(Wrapped(host): Wrapped, request: &Request) -> Result<u32, Error> {
    let _ = (host, request);
    Ok(1)
}

#[circuit_breaker(name = "key_constant")]
fn without_key(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

#[circuit_breaker(name = "key_as_closure", key = host)]
fn without_closure(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

#[circuit_breaker(name = "name_formatted", key = host)]
fn name_and_key(host: &str) -> Result<usize, Error> {
    Ok(host.len())
}

#[circuit_breaker(name = "key_in_quotes", key = format!("{host}:{port}"))]
fn formatted(host: &str, port: u16) -> Result<u16, Error> {
    let _ = host;
    Ok(port)
}

#[circuit_breaker(name = "key_of_nothing", key = host)]
fn by_host(host: &str) -> Result<u32, Error> {
    let _ = host;
    Ok(1)
}

struct Host(u32);

#[circuit_breaker(name = "key_without_display", key = host.0)]
fn displayed(host: &Host) -> Result<u32, Error> {
    let _ = host.0;
    Ok(1)
}

#[circuit_breaker(name = "max_keys_without_key", key = host, max_keys = 20)]
fn bounded(host: &str) -> Result<u32, Error> {
    let _ = host;
    Ok(1)
}

#[circuit_breaker(name = "max_keys_zero", key = host, max_keys = 1)]
fn one(host: &str) -> Result<u32, Error> {
    let _ = host;
    Ok(1)
}

fn main() {
    all();
    unit();
    let request = Request { host: "a".into() };
    let _ = (never_found(), plain(), named(&request), by_host("a"), displayed(&Host(1)));
    let _ = (bounded("a"), one("a"), perhaps(None), of_both(("a", 1)));
    let _ = of_another(Wrapped(1), &request);
}
