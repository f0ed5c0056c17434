//! Durations, read and written.

use std::time::Duration;

/// Reads `500ms`, `2s`, `1m 30s`, `1.5h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no duration; write `500ms`, `2s` or `1m 30s`");
    let mut sum = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let unit = match &rest[..end] {
            "us" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return Err(wrong()),
        };
        let part = Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())?;
        sum = sum.checked_add(part).ok_or_else(wrong)?;
        rest = rest[end..].trim_start();
    }
    Ok(sum)
}

/// Three digits or so.
pub(crate) fn short(time: Duration) -> String {
    let s = time.as_secs_f64();
    if time.is_zero() {
        "0s".into()
    } else if s < 1.0 {
        format!("{}ms", time.as_millis())
    } else if s < 120.0 {
        let text = format!("{s:.1}");
        format!("{}s", text.strip_suffix(".0").unwrap_or(&text))
    } else if s < 7200.0 {
        format!("{}m {:02}s", time.as_secs() / 60, time.as_secs() % 60)
    } else {
        format!("{:.1}h", s / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_the_attribute_reads_them() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        for wrong in ["", "5", "5 s", "s", "5x", "1..2s"] {
            assert!(duration(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn durations_are_short() {
        assert_eq!(short(Duration::ZERO), "0s");
        let shown = |ms| short(Duration::from_millis(ms));
        assert_eq!(
            [
                shown(50),
                shown(6180),
                shown(90_000),
                shown(121_000),
                shown(9_000_000)
            ],
            ["50ms", "6.2s", "90s", "2m 01s", "2.5h"]
        );
    }
}
