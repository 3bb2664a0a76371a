//! Peers, from outside: commands in, records and rows out. Rows B4 to B24, C1 to C7, C16, C17.

#![allow(unreachable_pub, missing_debug_implementations, clippy::unwrap_used)]

#[path = "../stage/mod.rs"]
mod stage;

mod failures;
mod ground;
mod guards;
mod held;
mod messages;
mod postgres;
mod races;
mod relation;
mod requests;
mod states;
mod usage;
