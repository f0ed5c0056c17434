//! How calls ended.

/// How one call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The guarded function ran and succeeded.
    Ok,
    /// The guarded function ran and failed.
    Failed,
    /// The breaker refused the call.
    Rejected,
}

/// How many calls ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Ran and succeeded.
    pub ok: u64,
    /// Ran and failed.
    pub failed: u64,
    /// Were refused.
    pub rejected: u64,
}

impl Seen {
    #[inline]
    pub(crate) fn add(&mut self, answer: Answer) {
        match answer {
            Answer::Ok => self.ok += 1,
            Answer::Failed => self.failed += 1,
            Answer::Rejected => self.rejected += 1,
        }
    }
}
