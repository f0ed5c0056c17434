//! What a subscriber hears of breakers.
#![allow(clippy::unwrap_used)]

mod heard;
mod never_in_the_way;
mod rejections;
mod spans;
mod transitions;
