//! Wakes the tasks that wait for something to change.

use std::task::{Context, Poll, Waker};

use crate::sync::{Mutex, lock};

/// Rung at each change. Who waits says which ring was the last one it has acted on, so none is
/// missed, however many wait.
#[derive(Default)]
pub(crate) struct Bell(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    rings: u64,
    wakers: Vec<Waker>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        let wakers = {
            let mut waiting = lock(&self.0);
            waiting.rings += 1;
            std::mem::take(&mut waiting.wakers)
        };
        // Outside the lock: waking may poll at once.
        wakers.into_iter().for_each(Waker::wake);
    }

    /// How often it was rung so far.
    pub(crate) fn rings(&self) -> u64 {
        lock(&self.0).rings
    }

    /// Ready when it was rung again after `heard` times.
    pub(crate) fn poll(&self, heard: u64, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0);
        if waiting.rings != heard {
            return Poll::Ready(());
        }
        if !waiting.wakers.iter().any(|one| one.will_wake(cx.waker())) {
            waiting.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}
