//! Random numbers for the jitter of waits, from what the standard library seeds its maps with.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};

/// A sequence of numbers from 0 to 1.
pub(crate) struct Random {
    /// `None` for the same sequence each time.
    keys: Option<RandomState>,
    drawn: u64,
}

impl Random {
    /// The same sequence each time, for tests.
    pub(crate) fn fixed() -> Self {
        Self {
            keys: None,
            drawn: 0,
        }
    }

    pub(crate) fn new() -> Self {
        Self {
            keys: Some(RandomState::new()),
            drawn: 0,
        }
    }

    #[allow(clippy::cast_precision_loss)] // 53 bits, as many as there are
    pub(crate) fn next(&mut self) -> f64 {
        self.drawn = self.drawn.wrapping_add(1);
        let bits = match &self.keys {
            Some(keys) => keys.hash_one(self.drawn),
            None => BuildHasherDefault::<DefaultHasher>::default().hash_one(self.drawn),
        };
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl fmt::Debug for Random {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Random")
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn spread_over_the_whole_range() {
        for mut random in [Random::fixed(), Random::new()] {
            let mut tenths = [0_u32; 10];
            for _ in 0..10_000 {
                let drawn = random.next();
                assert!((0.0..1.0).contains(&drawn));
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let tenth = (drawn * 10.0) as usize;
                tenths[tenth] += 1;
            }
            // A thousand each, give or take ten standard deviations.
            assert!(
                tenths.iter().all(|count| (700..1300).contains(count)),
                "{tenths:?}"
            );
        }
    }

    #[test]
    fn other_numbers_for_each_breaker_and_the_same_for_each_test() {
        let first = |mut random: Random| [random.next(), random.next()];
        assert_ne!(first(Random::new()), first(Random::new()));
        assert_eq!(first(Random::fixed()), first(Random::fixed()));
    }
}
