//! Process groups by the kernel's cgroup v2: each command has its own group, with limits for all of its processes
//! together, and everything in the group is ended with it, whatever it forked.
//!
//! The server takes the part of the cgroup tree that is delegated to it ([`tree`], [`own`]). The keeper of a command
//! creates its group and removes it ([`group`]). If nothing is delegated, there are no groups, and the reason is
//! reported.

mod controller;
mod group;
mod own;
mod tree;

pub(super) use self::group::{Group, Wanted, end};
pub use self::tree::Groups;
