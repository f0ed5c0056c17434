//! Values that are written as text: `"1m 30s"`, `"0.5%"`. The attribute's parser is in another crate,
//! which is not there at run time; both accept the same.

use std::time::Duration;

const UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// The duration that the text stands for, or what is wrong with it.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    let mut nanos: u128 = 0;
    if rest.is_empty() {
        return Err(no_duration(text));
    }
    while !rest.is_empty() {
        let (number, behind) = split(rest, |c| c.is_ascii_digit() || c == '.' || c == '_');
        if number.is_empty() {
            return Err(no_duration(text));
        }
        let (unit, behind) = split(behind.trim_start(), char::is_alphabetic);
        if unit.is_empty() {
            return Err(format!(
                "`{number}` has no unit: write \"{number}s\" for seconds or \"{number}ms\" for milliseconds"
            ));
        }
        let Some((_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!(
                "`{unit}` is no unit of time: there are ns, us, ms, s, m, h and d"
            ));
        };
        let part = times(number, *length)
            .ok_or_else(|| format!("`{number}` is no number that a duration can have"))?;
        nanos = nanos.saturating_add(part);
        rest = behind.trim_start();
    }
    let seconds = u64::try_from(nanos / 1_000_000_000);
    let below = u32::try_from(nanos % 1_000_000_000).unwrap_or_default();
    match seconds {
        Ok(seconds) => Ok(Duration::new(seconds, below)),
        Err(_) => Err(format!("`{text}` is too long")),
    }
}

/// The number before a `%`, or what is wrong with the text.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    number
        .and_then(|number| number.parse().ok())
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is no percentage: write for example 50 or \"0.5%\""))
}

fn no_duration(text: &str) -> String {
    format!("`{text}` is no duration: write for example \"500ms\" or \"1m 30s\"")
}

fn split(text: &str, accept: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !accept(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// A decimal number times whole nanoseconds, without the rounding of floats.
fn times(number: &str, nanos: u64) -> Option<u128> {
    let digits = number.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let places = u32::try_from(fraction.len())
        .ok()
        .filter(|places| *places <= 9)?;
    let scaled: u128 = format!("{whole}{fraction}").parse().ok()?;
    Some(scaled.checked_mul(u128::from(nanos))? / 10_u128.pow(places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let cases = [
            ("500ms", 500_000_000),
            ("2s", 2_000_000_000),
            ("1m 30s", 90_000_000_000),
            ("1m30s", 90_000_000_000),
            (" 1.5 s ", 1_500_000_000),
            ("0.001ms", 1_000),
            ("1_000us", 1_000_000),
            ("7µs", 7_000),
            ("3ns", 3),
            ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000),
            ("0s", 0),
        ];
        for (text, nanos) in cases {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_says_what_to_write() {
        let cases = [
            ("", "is no duration"),
            ("  ", "is no duration"),
            ("s", "is no duration"),
            ("-1s", "is no duration"),
            ("10", "\"10s\""),
            ("1m 30", "`30` has no unit"),
            ("5 parsecs", "`parsecs`"),
            ("1..5s", "is no number"),
            ("1.0000000001s", "is no number"),
            (".s", "is no number"),
            ("99999999999999999999d", "is too long"),
            (
                "999999999999999999999999999999999999999999d",
                "is no number",
            ),
        ];
        for (text, part) in cases {
            let message = duration(text).expect_err(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn percentages() {
        let cases = [
            ("0.5%", Some(0.5)),
            ("50 %", Some(50.0)),
            (" 1% ", Some(1.0)),
        ];
        let refused = ["50", "%", "", "x%", "inf%", "NaN%"].map(|text| (text, None));
        for (text, number) in cases.into_iter().chain(refused) {
            assert_eq!(percent(text).ok(), number, "{text}");
        }
    }
}
