//! The `#[circuit_breaker]` attribute of `cb-runtime`; depend on that crate instead of this one.

mod args;
mod body;
mod call;
mod check;
mod classify;
mod elsewhere;
mod errors;
mod expand;
mod expression;
mod fallback;
mod function;
mod future;
mod input;
mod keys;
mod limits;
mod made;
mod output;
mod param;
mod pieces;
mod private;
mod recover;
mod signature;
mod site;
mod span;
mod suggest;
mod types;
mod unit;
mod value;
mod veil;

use proc_macro::TokenStream;

/// Guards a function by a circuit breaker.
///
/// ```
/// use cb_runtime::{CallNotPermitted, circuit_breaker};
///
/// # struct Client; impl Client { async fn get(&self, _: &str) -> Result<u32, ApiError> { Ok(3) } }
/// # #[derive(Debug)] struct BusinessError;
/// # impl std::fmt::Display for BusinessError {
/// #     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("") }
/// # }
/// # impl std::error::Error for BusinessError {}
/// # type ApiError = Box<dyn std::error::Error + Send + Sync>;
/// #[circuit_breaker(
///     name = "inventory.query",      // one breaker for what fails together
///     min_calls = 20,
///     slow = "2s",
///     ignore = BusinessError,        // "out of stock" is an answer, not an outage
///     fallback = cached_stock,
/// )]
/// async fn query_stock(client: &Client, sku: &str) -> Result<u32, ApiError> {
///     client.get(sku).await
/// }
///
/// async fn cached_stock(_: &Client, _sku: &str, why: CallNotPermitted) -> Result<u32, ApiError> {
///     println!("{why}");
///     Ok(0)
/// }
/// ```
///
/// # Arguments
///
/// Percentages are numbers above 1 and up to 100, or strings such as `"0.5%"`. Durations are
/// strings with units: `"500ms"`, `"2s"`, `"1m 30s"`. Numbers, percentages, durations and flags
/// may also be constant expressions: `min_calls = limits::MIN`, `wait = Duration::from_secs(5)`.
/// Wherever a default is "off", `off` is a value too.
///
/// | argument | value | default | meaning |
/// |---|---|---|---|
/// | `name` | string literal | required | the breaker's identity in the registry |
/// | `key` | expression over the parameters | – | one breaker for each value: a host, a shard, a tenant |
/// | `max_keys` | number | 1000 | the most of those; idle ones make room, never one that protects or is in use |
/// | `base` | string literal | – | a named template in the registry to start from |
/// | **when to open** | | | |
/// | `window` | number of calls, or duration | `"30s"` | the calls that rates are computed over |
/// | `buckets` | number | the window's seconds, 10–60 | resolution of a window of time |
/// | `min_calls` | number | 10, or the window if smaller | no rate is judged below it |
/// | `failure_rate` | % | 50 | opens at or above |
/// | `slow` | duration | off | a call that takes longer is slow, whatever its result |
/// | `slow_rate` | % | 50 | opens at or above; needs `slow` |
/// | `failure_count` | number | off | opens at that many failures in the window |
/// | `consecutive_failures` | number | 10, can be `off` | opens at that many in a row |
/// | `count_running` | bool | false | a call still running past `slow` counts as slow now, not when it returns |
/// | `warmup` | duration | off | after the first call, outcomes are recorded and not judged for so long |
/// | **what counts** | | | |
/// | `ignore` | errors, see below | – | not recorded at all |
/// | `record` | errors, see below | – | only these are failures, the others successes |
/// | `ignore_if` | function of a reference to the value | – | a returned value that is not recorded at all; asked before `failure_if` |
/// | `failure_if` | function of a reference to the value | – | a returned value that is a failure |
/// | `on_cancel` | `"slow"`, `"ignore"`, `"failure"` | `"slow"` | a dropped future: counts as slow if it had run past `slow`, else not at all |
/// | `timeout` | duration, `async fn` only | off | the call is dropped and is a failure |
/// | **how to recover** | | | |
/// | `wait` | duration | `"10s"` | time in OPEN |
/// | `wait_multiplier` | number | 1 | growth of the wait over openings in a row; needs `wait_max` |
/// | `wait_max` | duration | off | its cap |
/// | `wait_jitter` | % | off | random part of each wait, either way, so that instances do not probe together |
/// | `wait_by_failure_rate` | bool | false | the sicker, the longer: from `wait` up to `wait_max` |
/// | `wait_recover` | duration | off | an opening is forgotten for each such time in CLOSED; off: all at once |
/// | `retry_after` | function of a reference to what is returned, to `Option<Duration>` | – | the downstream names the wait; asked only of the outcome that opens |
/// | `auto_half_open` | bool | false | HALF_OPEN when the wait ends, not at the next call |
/// | `half_open_calls` | number | 5 | probes in one HALF_OPEN stay |
/// | `half_open_concurrency` | number | all of them | probes at the same time |
/// | `half_open_delay` | duration | off | pause before the first probe |
/// | `half_open_timeout` | duration, async only | `timeout` | a shorter timeout for probes |
/// | `half_open_successes` | number | off | so many in a row, none slow, close at once |
/// | `half_open_success_rate` | % | off | decides instead of the other rates, once all probes are in |
/// | `half_open_failures` | number | off | so many open again at once; 1 is a veto |
/// | `half_open_failure_rate` | % | `failure_rate` | opens again at or above |
/// | `half_open_failure_window` | duration | off | older failures of probes are forgotten; needs `half_open_failures` |
/// | `half_open_slow` | duration | `slow` | a stricter limit for probes |
/// | `half_open_attempts` | number | off | after so many failed stays in a row every wait is `wait_max` |
/// | `half_open_max_wait` | duration | 30 s, or twice `timeout`, can be `off` | longest HALF_OPEN stay |
/// | `half_open_max_wait_state` | `"decide"`, `"open"`, `"closed"` | `"decide"` | where it then goes; `"decide"`: by the probes that returned |
/// | `ramp` | duration | off | after closing, admit a tenth of the calls, growing to all over this time |
/// | **what the caller gets** | | | |
/// | `fallback` | path of a function | – | answers rejected calls, see below |
/// | `fallback_on` | `"rejected"`, `"failure"` | `"rejected"` | `"failure"`: also timeouts and failures |
/// | **operation** | | | |
/// | `mode` | `"enabled"`, `"metrics_only"`, `"disabled"`, `"forced_open"` | `"enabled"` | at the start |
/// | `crate` | path | `::cb_runtime` | where the runtime is, if it was renamed or re-exported |
///
/// `key`, `max_keys`, `ignore`, `record`, `ignore_if`, `failure_if`, `retry_after`, `on_cancel`,
/// `timeout`, `half_open_timeout` and the fallback belong to the function, all else to the breaker.
/// Several functions can share a breaker by its name; then one of them sets what belongs to the
/// breaker, and the others give no more than the name.
///
/// # One breaker for each key
///
/// `key = host` gives each host a breaker of its own, `name[host]`, so that a broken one does not
/// take the others down. The expression is evaluated for each call, at its first poll if it is
/// async, before permission is asked; it sees the parameters by their names, and `self`, and may be
/// of any type that implements `Display`.
///
/// ```
/// # use cb_runtime::{CallError, circuit_breaker};
/// # struct Request { host: String }
/// #[circuit_breaker(name = "gateway.forward", key = request.host, max_keys = 200)]
/// fn forward(request: &Request) -> Result<String, CallError<std::io::Error>> {
///     # let _ = request;
///     Ok("200 OK".into())
/// }
///
/// let request = Request { host: "eu-1".into() };
/// forward(&request)?;
/// let breaker = cb_runtime::registry().keyed("gateway.forward", "eu-1").unwrap();
/// assert_eq!(breaker.snapshot().successful, 1);
/// # Ok::<(), CallError<std::io::Error>>(())
/// ```
///
/// When there are `max_keys` of them, those that are CLOSED, have no call in flight and have had
/// none for a whole window (30 s if it is a number of calls) make room, the longest idle first. If
/// there is none such, the new key shares the breaker `name[*]` with others that found no room.
///
/// # What counts as a failure
///
/// An `Err`, a timeout, a panic (which goes on to the caller), and a value for which `failure_if`
/// says so: of a `Result<T, E>` it is shown the `&T`, of another type the value itself.
///
/// `ignore` and `record` tell errors apart. What they take goes by the way it is written:
///
/// | written | is | holds if |
/// |---|---|---|
/// | `BusinessError` | a type | the error is one, contains one (`CallError`, `anyhow::Error`, `Box<dyn Error>`), or has one along its `source()`s |
/// | `ApiError::OutOfStock` | a variant, whatever its fields | likewise, and it is that variant |
/// | `ApiError::Http(400..=499)` | a pattern | likewise, and the pattern matches |
/// | `is_business`, `\|e\| e.code() == 7` | a function of `&E` | it returns `true` |
/// | `[A, B]`, `A \| B` | several of these | one of them holds |
/// | `type(odd_name)` | a type that is not written like one | as for a type |
///
/// Of a generic enum write the variant with its arguments, `Reply::<u8>::Busy`, or by an alias; of
/// `CallError` it goes without. `ignore` is asked first.
///
/// ```
/// # use cb_runtime::{CallError, circuit_breaker};
/// # struct Response { status: u16 }
/// # #[derive(Debug)] enum ApiError { Http(u16), Refused }
/// # impl From<cb_runtime::CallNotPermitted> for ApiError {
/// #     fn from(_: cb_runtime::CallNotPermitted) -> Self { Self::Refused }
/// # }
/// #[circuit_breaker(
///     name = "orders.get",
///     ignore = ApiError::Http(400..=499),
///     failure_if = |response| response.status == 503,
/// )]
/// fn get_order(id: u64) -> Result<Response, ApiError> {
///     # let _ = id;
///     Ok(Response { status: 200 })
/// }
/// ```
///
/// # When a call is rejected
///
/// With `fallback = f`, `f` answers. It takes the function's own parameters, by value, and, if it
/// wants, one more: the `CallNotPermitted`. It returns the same type. For a method it is named
/// `Self::f` (a bare `f` is a function outside of the `impl`), and may also do without the receiver;
/// for an `async fn` it may be async or not. One that is generic in all its parameters could be
/// meant with the receiver or without: say which, as in `f::<&Self, u32>`.
///
/// With `fallback_on = "failure"` it also answers timeouts and failures, but no ignored errors and
/// no panics. The reason is then a `CallError<E>` (`E` is `Infallible` if the function returns no
/// `Result`), and parameters that are no references are cloned before each call.
///
/// ```
/// # use cb_runtime::{CallError, circuit_breaker};
/// # #[derive(Clone)] struct Query;
/// # struct Search;
/// impl Search {
///     #[circuit_breaker(name = "search", timeout = "300ms", fallback = Self::local, fallback_on = "failure")]
///     async fn remote(&self, query: Query) -> Result<Vec<u32>, String> {
///         # let _ = query;
///         Err("down".into())
///     }
///
///     fn local(&self, _query: Query, why: CallError<String>) -> Result<Vec<u32>, String> {
///         match why {
///             CallError::Failed(error) if error == "bad query" => Err(error),
///             _ => Ok(vec![]),
///         }
///     }
/// }
/// ```
///
/// Without a fallback the function must return a `Result` whose error implements
/// `From<CallNotPermitted>`, and with `timeout` also `From<TimedOut>`. `CallError<E>` does.
///
/// ```
/// use cb_runtime::{CallError, circuit_breaker};
///
/// #[circuit_breaker(name = "prices")]
/// fn price(sku: &str) -> Result<u32, CallError<std::num::ParseIntError>> {
///     sku.parse().map_err(CallError::Failed)
/// }
/// ```
///
/// # Which functions
///
/// Free functions, methods with any receiver, methods of traits, native or under `#[async_trait]`,
/// implemented or default; sync, `async`, or returning a future; generic or not; `unsafe fn` and
/// `extern "C" fn` too. The attribute goes on the function that makes the call, below
/// `#[async_trait]` and above `#[tokio::main]` or `#[test]`.
///
/// The breaker is in the registry from the start of the program, before the first call; on targets
/// where nothing runs before `main`, such as WebAssembly, from the first call on. All instances of a
/// generic function, and all implementors of a trait with a guarded default method, share it.
///
/// ## Futures
///
/// The work is guarded, not the making: nothing happens before the future is first polled, and a
/// future made while the breaker was CLOSED is rejected if it is OPEN by then. It is `Send` if the
/// body's is, and at most 64 bytes larger than it or the fallback's, with `timeout` 192. That goes for `async fn` and for
/// functions which are not async but return
///
/// - `impl Future<Output = R>`, with whatever other bounds,
/// - `Pin<Box<dyn Future<Output = R>>>`, likewise; so a method under `#[async_trait]`,
/// - `BoxFuture<'_, R>` or `LocalBoxFuture<'_, R>`, known by these names.
///
/// For those `R` is what the arguments and the fallback are about, and the fallback may be async.
/// What stands before the future in the body runs when the function is called, as without the
/// attribute. If the whole body is one `async` block, or `Box::pin` of one, a fallback is handed the
/// parameters as by an `async fn`. Else the body has taken them before it is known who answers: then
/// a parameter that is no reference must be `Clone`, it cannot be `&mut`, and `key` is evaluated when
/// the function is called.
///
/// ```
/// # use std::{future::Future, pin::Pin};
/// # use cb_runtime::{CallError, circuit_breaker};
/// # struct Client;
/// # impl Client { async fn get(&self, _: String) -> Result<u32, CallError<()>> { Ok(3) } }
/// # struct Shop { client: Client }
/// impl Shop {
///     #[circuit_breaker(name = "stock.get", timeout = "2s", fallback = Self::none)]
///     fn stock(&self, sku: String) -> Pin<Box<dyn Future<Output = Result<u32, CallError<()>>> + Send + '_>> {
///         Box::pin(async move { self.client.get(sku).await })
///     }
///
///     async fn none(&self, _sku: String) -> Result<u32, CallError<()>> {
///         Ok(0)
///     }
/// }
/// ```
///
/// ## Refused
///
/// What would not really be guarded is a compile error:
///
/// - other types that are futures, or hold one: a `JoinHandle`, an alias, `Box<dyn Future>`,
///   `Result<impl Future, E>`, and what becomes one by `.await`. Write an `async fn`, or one of the
///   types above. A stream is no future: of a function that returns one, only the making is guarded.
/// - a return type that is a type parameter or an associated type, which might be a `Result`, unless
///   `failure_if` judges it. The compiler finds those of the `impl` around the method, and calls them
///   "generic parameters from outer item"
/// - `#[track_caller]`, since the body is called by the breaker, unless on an `async fn`, where it does
///   nothing anyway
/// - `const fn`, `-> !`, C-variadic functions, a trait's method without a body
///
/// A blocking function cannot be interrupted: give its client a timeout of its own.
///
/// ## What the compiler does not show
///
/// Only a `Result` that is returned as it is has errors. Within something else, as in
/// `Option<Result<_, _>>` or `Poll<Result<_, _>>`, or behind the `Self` of a trait's default method,
/// every value is a success unless `failure_if` says otherwise.
///
/// The body has its parameters moved into it, but not those that it never names: these are dropped
/// after the body's own. Name a guard that must be released first, for example with `drop(permit)`.
#[proc_macro_attribute]
pub fn circuit_breaker(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(arguments.into(), item.into()).into()
}
