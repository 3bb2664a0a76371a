//! Several hosts on one PostgreSQL, in one process: the same Pods from each of them.

#![allow(clippy::unwrap_used, unreachable_pub, missing_debug_implementations)]

mod calls;
mod death;
mod files;
mod ground;
mod pairs;
#[path = "../stage/mod.rs"]
mod stage;
mod views;
