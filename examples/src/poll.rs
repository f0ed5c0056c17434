//! Futures polled by hand: with a fake clock there is nothing to wait for, and calls can be held
//! open without threads.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A boxed future that stays on its thread.
pub type Call<T> = Pin<Box<dyn Future<Output = T>>>;

/// Polls once; the output if it is there.
pub fn poll_once<T>(call: &mut Call<T>) -> Option<T> {
    match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}
