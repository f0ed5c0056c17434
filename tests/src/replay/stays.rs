//! Which calls of a trace end in another stay than the one they were permitted in.

use std::collections::HashMap;

use crate::trace::{Op, Step};

/// The stays of a trace, told from the trace alone.
#[derive(Default)]
pub(super) struct Stays {
    current: u64,
    permitted_in: HashMap<u64, u64>,
}

impl Stays {
    /// Whether the operation ends a call whose stay is over.
    pub(super) fn ends_late(&self, op: Op) -> bool {
        op.ends()
            .and_then(|call| self.permitted_in.get(&call))
            .is_some_and(|&s| s != self.current)
    }

    /// Takes note of what the step does to stays and calls.
    pub(super) fn follow(&mut self, step: &Step) {
        let transitions = step
            .events
            .iter()
            .filter(|event| event.contains("->"))
            .count();
        // A manual operation begins a stay also where it has no event to tell.
        let manual = step.op.is_manual() && step.throws.is_none() && transitions == 0;
        self.current += transitions as u64 + u64::from(manual);
        if let Op::Acquire { c, p: 1 } = step.op {
            self.permitted_in.insert(c, self.current);
        }
    }
}
