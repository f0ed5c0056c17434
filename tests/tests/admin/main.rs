//! The admin routes over real HTTP on loopback.

mod http;
mod live;
mod names;
mod page;
mod reading;
mod served;
mod writing;
