//! The settings that a file can have, and how their values are written.

use std::time::Duration;

use toml::de::DeValue;

use super::unit;
use crate::config::limits::{self, Refused};
use crate::config::{Config, MaxWaitState, Mode, Window};
use crate::outcome::OnCancel;

/// Arguments of the attribute that belong to the function: a file cannot set them.
pub(super) const OF_FUNCTIONS: &[&str] = &[
    "name",
    "key",
    "max_keys",
    "ignore",
    "record",
    "ignore_if",
    "failure_if",
    "timeout",
    "half_open_timeout",
    "retry_after",
    "fallback",
    "fallback_on",
    "crate",
];

/// Everything that the attribute calls a setting, whether a file can set it or not.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    let here = NAMES.iter().chain(&["base"]);
    here.chain(OF_FUNCTIONS).copied()
}

type Read<T> = Result<T, String>;
type Check = Result<(), Refused>;
type Reader<T> = fn(Given<'_>, fn(T) -> Check) -> Read<T>;

/// A value and the name of the setting that it is for.
#[derive(Clone, Copy)]
struct Given<'a> {
    name: &'a str,
    value: &'a DeValue<'a>,
}

macro_rules! settings {
    ($($name:ident: $read:ident($($by:expr),*);)*) => {
        /// All settings, in the order of the attribute's documentation.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Sets what is called `name`; an error says what is wrong with the value. `None` if nothing
        /// is called so.
        pub(super) fn set(
            config: &mut Config,
            name: &str,
            value: &DeValue<'_>,
        ) -> Option<Read<()>> {
            let given = Given { name, value };
            match name {
                $(stringify!($name) => Some(
                    $read(given, $($by),*).map(|value| config.$name = Some(value))
                ),)*
                _ => None,
            }
        }
    };
}

settings! {
    window: window();
    buckets: count(limits::buckets);
    min_calls: count(limits::min_calls);
    failure_rate: percent(limits::failure_rate);
    slow: off(duration, limits::slow);
    slow_rate: percent(limits::slow_rate);
    failure_count: off(count, limits::failure_count);
    consecutive_failures: off(count, limits::consecutive_failures);
    count_running: flag();
    warmup: off(duration, limits::warmup);
    on_cancel: word(&[
        ("slow", OnCancel::Slow),
        ("ignore", OnCancel::Ignore),
        ("failure", OnCancel::Failure),
    ]);
    wait: duration(limits::wait);
    wait_multiplier: factor(limits::wait_multiplier);
    wait_max: off(duration, any);
    wait_jitter: off(percent, limits::wait_jitter);
    wait_by_failure_rate: flag();
    wait_recover: off(duration, limits::wait_recover);
    auto_half_open: flag();
    half_open_calls: count(limits::half_open_calls);
    half_open_concurrency: count(limits::half_open_concurrency);
    half_open_delay: off(duration, limits::half_open_delay);
    half_open_successes: off(count, limits::half_open_successes);
    half_open_success_rate: off(percent, limits::half_open_success_rate);
    half_open_failures: off(count, limits::half_open_failures);
    half_open_failure_rate: percent(limits::half_open_failure_rate);
    half_open_failure_window: off(duration, limits::half_open_failure_window);
    half_open_slow: duration(limits::half_open_slow);
    half_open_attempts: off(count, limits::half_open_attempts);
    half_open_max_wait: off(duration, limits::half_open_max_wait);
    half_open_max_wait_state: word(&[
        ("decide", MaxWaitState::Decide),
        ("open", MaxWaitState::Open),
        ("closed", MaxWaitState::Closed),
    ]);
    ramp: off(duration, limits::ramp);
    mode: word(&[
        ("enabled", Mode::Enabled),
        ("metrics_only", Mode::MetricsOnly),
        ("disabled", Mode::Disabled),
        ("forced_open", Mode::ForcedOpen),
    ]);
}

/// A limit that only other settings put.
fn any(_: Duration) -> Check {
    Ok(())
}

fn off<T>(given: Given<'_>, read: Reader<T>, check: fn(T) -> Check) -> Read<Option<T>> {
    match given.value {
        DeValue::String(text) if text == "off" => Ok(None),
        DeValue::Boolean(false) => Err(format!(
            "`{0}` cannot be false; what is off is written `{0} = \"off\"`",
            given.name
        )),
        _ => read(given, check).map(Some),
    }
}

fn count(given: Given<'_>, check: fn(u32) -> Check) -> Read<u32> {
    let number = whole(given)?.ok_or_else(|| given.wants("a positive whole number", "20"))?;
    allowed(check(number))?;
    Ok(number)
}

fn window(given: Given<'_>) -> Read<Window> {
    let window = match (whole(given)?, given.value) {
        (Some(calls), _) => Window::Calls(calls),
        (None, DeValue::String(text)) => match text.trim().parse::<u32>() {
            Ok(calls) => {
                return Err(format!(
                    "a `window` of calls is a number: `window = {calls}`; one of time has a unit: \
                     `window = \"{calls}s\"`"
                ));
            }
            Err(_) => Window::Time(unit::duration(text).map_err(|error| given.no_off(error))?),
        },
        _ => return Err(given.wants("a number of calls or a duration", "100")),
    };
    allowed(limits::window(window))?;
    Ok(window)
}

fn duration(given: Given<'_>, check: fn(Duration) -> Check) -> Read<Duration> {
    let name = given.name;
    let time = match given.value {
        DeValue::String(text) => unit::duration(text).map_err(|error| given.no_off(error))?,
        DeValue::Integer(_) | DeValue::Float(_) => {
            let number = given.number();
            return Err(format!(
                "`{name}` is a time and needs a unit: `{name} = \"{number}s\"` or \
                 `{name} = \"{number}ms\"`"
            ));
        }
        _ => return Err(given.wants("a duration", "\"2s\"")),
    };
    allowed(check(time))?;
    Ok(time)
}

fn percent(given: Given<'_>, check: fn(f64) -> Check) -> Read<f64> {
    let rate = match given.value {
        DeValue::String(text) => unit::percent(text).map_err(|error| given.no_off(error))?,
        _ => {
            let rate = number(given).ok_or_else(|| given.wants("a percentage", "50"))?;
            if rate > 0.0 && rate <= 1.0 {
                let (name, written) = (given.name, given.number());
                return Err(format!(
                    "`{name} = {written}` looks like a fraction, but percentages go up to 100: write \
                     `{}` for {0}%, or \"{written}%\" for {written}%",
                    rate * 100.0
                ));
            }
            rate
        }
    };
    allowed(check(rate))?;
    Ok(rate)
}

fn factor(given: Given<'_>, check: fn(f64) -> Check) -> Read<f64> {
    let factor = number(given).ok_or_else(|| given.wants("a number", "2"))?;
    allowed(check(factor))?;
    Ok(factor)
}

fn flag(given: Given<'_>) -> Read<bool> {
    let flag = given.value.as_bool();
    flag.ok_or_else(|| given.wants("`true` or `false`", "true"))
}

fn word<T: Copy>(given: Given<'_>, words: &[(&str, T)]) -> Read<T> {
    let list: Vec<_> = words
        .iter()
        .map(|(word, _)| format!("\"{word}\""))
        .collect();
    let list = list.join(", ");
    let name = given.name;
    let Some(text) = given.value.as_str() else {
        return Err(format!("`{name}` takes one of {list}"));
    };
    let known = words.iter().find(|(word, _)| *word == text);
    known.map(|(_, value)| *value).ok_or_else(|| {
        match crate::suggest::nearest(text, words.iter().map(|(word, _)| *word)) {
            Some(near) => format!(
                "`{name}` cannot be \"{text}\": did you mean \"{near}\"? It takes one of {list}"
            ),
            None => format!("`{name}` cannot be \"{text}\": it takes one of {list}"),
        }
    })
}

impl Given<'_> {
    fn wants(self, what: &str, example: &str) -> String {
        format!(
            "`{0}` takes {what}: for example `{0} = {example}`",
            self.name
        )
    }

    /// `error`, unless the text is `off` where that means nothing.
    fn no_off(self, error: String) -> String {
        match self.value.as_str() {
            Some("off") => format!(
                "`{}` cannot be off; leave it out for its default",
                self.name
            ),
            _ => error,
        }
    }

    fn number(self) -> String {
        match self.value {
            DeValue::Integer(integer) => integer.to_string(),
            DeValue::Float(float) => float.to_string(),
            _ => String::new(),
        }
    }
}

/// `None` if it is no whole number.
fn whole(given: Given<'_>) -> Read<Option<u32>> {
    let DeValue::Integer(integer) = given.value else {
        return Ok(None);
    };
    if integer.as_str().starts_with('-') {
        return Err(given.wants("a positive whole number", "20"));
    }
    match u32::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(format!("`{}` can be at most {}", given.name, u32::MAX)),
    }
}

fn number(given: Given<'_>) -> Option<f64> {
    let number = match given.value {
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .and_then(|number| i32::try_from(number).ok())
            .map(f64::from),
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

fn allowed(check: Check) -> Read<()> {
    check.map_err(|refused| refused.message.to_owned())
}
