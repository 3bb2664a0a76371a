//! Groups of processes, by the kernel's cgroup v2: each command has one, with limits for all of its processes together, and is
//! ended with it whatever it forked.
//!
//! The server takes a part of the kernel's tree that is handed to it ([`tree`], [`own`]). The keeper of a command makes its group
//! and removes it ([`group`]). Nothing here makes up for a part that is not handed over: then there are none, and it is said why.

mod controller;
mod group;
mod own;
mod tree;

pub(super) use self::group::{Group, Wanted, end};
pub use self::tree::Groups;
