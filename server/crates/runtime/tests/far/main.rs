//! Pods of two stores that are peers: two hosts in one process, and between them a shuttle that loses, repeats and
//! delays what it carries. Row K4.

#![allow(unreachable_pub, missing_debug_implementations, clippy::unwrap_used)]

#[path = "../stage/mod.rs"]
mod stage;

mod crashes;
mod ground;
mod hostile;
mod introductions;
mod losses;
mod messages;
