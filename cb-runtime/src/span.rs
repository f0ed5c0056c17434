//! Stands in for the span of a guarded call without the feature `tracing`.

use crate::permit::Handle;
use crate::state::State;

impl Handle<'_> {
    #[inline]
    pub(crate) fn traced(self, _: State) -> Self {
        self
    }

    #[inline]
    pub(crate) fn enter_span(&self) {}

    #[inline]
    pub(crate) fn exit_span(&self) {}

    #[inline]
    pub(crate) fn tell_outcome(&self, _: &'static str) {}
}
