//! A small generator, so that a seed means the same sequence everywhere.

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Both ends included.
    pub(crate) fn between(&mut self, first: u32, last: u32) -> u32 {
        let width = u64::from(last.saturating_sub(first)) + 1;
        first + u32::try_from(self.below(width)).unwrap_or(0)
    }

    /// Once in so many times.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = usize::try_from(self.below(choices.len() as u64)).unwrap_or(0);
        choices[index]
    }

    /// All sizes alike: about as often below a microsecond as above a day.
    pub(crate) fn nanos_below(&mut self, end: u64) -> u64 {
        let bits = 64 - end.leading_zeros();
        let size = self.between(0, bits);
        let limit = 1_u64.checked_shl(size).unwrap_or(u64::MAX);
        self.below(limit.min(end))
    }
}
