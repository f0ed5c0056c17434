//! Figures for people.

use std::time::Duration;

/// The `percent`-th percentile by nearest rank; zero if there is none. Sorts `sample`.
pub fn percentile(sample: &mut [Duration], percent: usize) -> Duration {
    sample.sort_unstable();
    let rank = (sample.len() * percent).div_ceil(100);
    sample
        .get(rank.saturating_sub(1))
        .copied()
        .unwrap_or_default()
}

/// Three figures at most, in the unit that suits: `900 ns`, `7 µs`, `430 ms`, `1.20 s`, `64.0 s`.
#[must_use]
pub fn short(time: Duration) -> String {
    let (micros, seconds) = (time.as_micros(), time.as_secs_f64());
    match micros {
        0 => format!("{} ns", time.as_nanos()),
        1..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.1} ms", seconds * 1e3),
        10_000..1_000_000 => format!("{:.0} ms", seconds * 1e3),
        1_000_000..10_000_000 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_members_of_the_sample() {
        let mut sample: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(&mut sample, 50), Duration::from_millis(50));
        assert_eq!(percentile(&mut sample, 99), Duration::from_millis(99));
        assert_eq!(percentile(&mut sample, 100), Duration::from_millis(100));
        assert_eq!(percentile(&mut sample[..1], 50), Duration::from_millis(1));
        assert_eq!(percentile(&mut [], 99), Duration::ZERO);
    }

    #[test]
    fn durations_keep_the_figures_that_matter() {
        let show = |micros| short(Duration::from_micros(micros));
        assert_eq!(short(Duration::from_nanos(900)), "900 ns");
        assert_eq!(
            [
                show(7),
                show(1_234),
                show(430_400),
                show(1_204_000),
                show(64_000_000)
            ],
            ["7 µs", "1.2 ms", "430 ms", "1.20 s", "64.0 s"]
        );
    }
}
