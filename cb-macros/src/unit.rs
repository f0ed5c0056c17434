//! Numbers with a unit: `"1m 30s"`, `"50%"`.

use std::time::Duration;

/// A duration, or what to write instead.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("an empty string is no duration: write for example \"500ms\" or \"2s\"".into());
    }
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let number = leading(rest, |c| c.is_ascii_digit() || c == '.' || c == '_');
        let after = rest[number.len()..].trim_start();
        let unit = leading(after, char::is_alphabetic);
        if number.is_empty() {
            return Err(format!(
                "`{text}` is no duration: write for example \"500ms\" or \"2s\""
            ));
        }
        if unit.is_empty() {
            return Err(match after {
                "" if number == text => format!(
                    "`{text}` has no unit: write \"{text}s\" for seconds or \"{text}ms\" for milliseconds"
                ),
                _ => format!("`{number}` in `{text}` has no unit, such as ms, s or m"),
            });
        }
        let nanos: u64 = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" | "sec" => 1_000_000_000,
            "m" | "min" => 60 * 1_000_000_000,
            "h" => 3_600 * 1_000_000_000,
            "d" => 86_400 * 1_000_000_000,
            _ => {
                return Err(format!(
                    "`{unit}` is no unit of time: the units are us, ms, s, m, h and d"
                ));
            }
        };
        let part = scale(number, nanos)
            .ok_or_else(|| format!("`{number}` is no number that a duration can have"))?;
        sum = sum
            .checked_add(part)
            .ok_or_else(|| format!("`{text}` is too long"))?;
        rest = after[unit.len()..].trim_start();
    }
    Ok(sum)
}

/// The percentage that `"50%"` stands for, or what to write instead.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let Some(number) = text.trim().strip_suffix('%') else {
        return Err(format!(
            "`{text}` is no percentage: write for example `50` or \"50%\""
        ));
    };
    let number = number.trim();
    // Not all that a float can be: no infinity, no exponent.
    let plain = |c: char| c.is_ascii_digit() || c == '.';
    number
        .parse()
        .ok()
        .filter(|percent: &f64| percent.is_finite())
        .filter(|_| number.trim_start_matches('-').chars().all(plain))
        .ok_or_else(|| format!("`{text}` is no percentage: write for example `50` or \"50%\""))
}

fn leading(text: &str, accept: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !accept(c)).unwrap_or(text.len())]
}

/// `number` units of so many nanoseconds, exactly: a decimal number is no float here.
fn scale(number: &str, nanos: u64) -> Option<Duration> {
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.len() > 9 {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let total =
        digits.checked_mul(u128::from(nanos))? / 10u128.pow(fraction.len().try_into().ok()?);
    let second = 1_000_000_000;
    Some(Duration::new(
        u64::try_from(total / second).ok()?,
        u32::try_from(total % second).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_durations() {
        let ms = |text| duration(text).unwrap().as_millis();
        assert_eq!(
            [ms("500ms"), ms("2s"), ms("1m 30s"), ms("1.5s")],
            [500, 2000, 90_000, 1500]
        );
        assert_eq!(
            [ms("2h"), ms(" 10 s "), ms("1m30s"), ms("0s")],
            [7_200_000, 10_000, 90_000, 0]
        );
    }

    #[test]
    fn says_what_is_missing() {
        assert!(duration("100").unwrap_err().contains("\"100s\""));
        assert!(duration("1m 30").unwrap_err().contains("`30` in"));
        assert!(duration("5 parsecs").unwrap_err().contains("`parsecs`"));
        assert!(duration("").is_err() && duration("s").is_err() && duration("-1s").is_err());
        assert!(duration("99999999999999999999999d").is_err());
        assert!(duration("1..5s").is_err());
    }

    #[test]
    fn reads_percentages() {
        assert_eq!(percent("0.5%"), Ok(0.5));
        assert_eq!(percent("50 %"), Ok(50.0));
        assert!(percent("50").is_err() && percent("%").is_err());
        for no_number in ["nan%", "inf%", "-inf%", "1e1%", "1e400%", "+5%", "--5%"] {
            assert!(percent(no_number).is_err(), "{no_number}");
        }
        let huge = "9".repeat(400) + "%";
        assert!(percent(&huge).is_err());
    }
}
