//! Percentages as integers.

/// A percentage in units of 10⁻⁷ %, so that comparing a rate with it needs no float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Percent(u32);

impl Percent {
    /// Units in one percent.
    const SCALE: f64 = 1e7;

    pub(crate) const fn in_range(percent: f64) -> bool {
        // A value that would round to nothing is no threshold. NaN fails both comparisons.
        percent >= 1.0 / Self::SCALE && percent <= 100.0
    }

    /// Rounds to the nearest unit. The caller has checked the range.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 10⁹
    pub(crate) const fn new(percent: f64) -> Self {
        Self((percent * Self::SCALE + 0.5) as u32)
    }

    pub(crate) const fn units(self) -> u32 {
        self.0
    }

    /// Of what [`units`](Self::units) gave.
    pub(crate) const fn from_units(units: u32) -> Self {
        Self(units)
    }

    pub(crate) fn value(self) -> f64 {
        f64::from(self.0) / Self::SCALE
    }

    /// Whether `part` of `whole` is this percentage or more; of nothing, it never is.
    pub(crate) const fn reached(self, part: u32, whole: u32) -> bool {
        // Below 2^32 · 10^9, which is below 2^62.
        whole != 0 && part as u64 * 1_000_000_000 >= self.0 as u64 * whole as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As floats, `29.0 / 100.0 * 100.0 < 29.0`.
    #[test]
    fn equality_is_reached_for_every_whole_percentage() {
        for part in 1..=100 {
            let threshold = Percent::new(f64::from(part));
            assert!(threshold.reached(part, 100), "{part} of 100");
            assert!(!threshold.reached(part - 1, 100), "{part} of 100");
        }
    }

    #[test]
    fn one_of_three() {
        assert!(Percent::new(33.333_333).reached(1, 3));
        assert!(!Percent::new(33.333_333_4).reached(1, 3));
    }

    #[test]
    fn nothing_of_nothing_reaches_nothing() {
        assert!(!Percent::new(50.0).reached(0, 0));
    }
}
