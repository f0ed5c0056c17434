//! What the example programs share: a server whose behaviour can be switched, and the printing of
//! figures.

pub mod figures;
pub mod poll;
pub mod server;
pub mod table;
