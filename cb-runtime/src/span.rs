//! The span of a guarded call, with the feature `tracing`; without it there is none.

#[cfg(feature = "tracing")]
pub(crate) use ::tracing::span::Entered as InSpan;

#[cfg(not(feature = "tracing"))]
pub(crate) use none::InSpan;

#[cfg(not(feature = "tracing"))]
mod none {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    use crate::permit::Handle;
    use crate::state::State;

    /// Never made.
    pub(crate) struct InSpan<'a>(Infallible, PhantomData<&'a ()>);

    impl Handle<'_> {
        #[inline]
        pub(crate) fn traced(self, _: State) -> Self {
            self
        }

        #[inline]
        pub(crate) fn is_traced(&self) -> bool {
            false
        }

        #[inline]
        pub(crate) fn in_span(&self) -> Option<InSpan<'_>> {
            None
        }

        #[inline]
        pub(crate) fn tell_outcome(&self, _: &'static str) {}
    }
}
