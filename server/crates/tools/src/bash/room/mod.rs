//! The sandbox of one command ("room" in code): namespaces of its own, and a tree of mounts with what the Pod's scope
//! grants, the system's programs read-only, a private `/tmp`, its own `/proc` and `/dev`, and nothing else.
//!
//! The contents of the tree are a plain list of steps ([`plan`]), made from what lies on the disk ([`survey`]). Two
//! builders carry it out: bubblewrap ([`bubblewrap`]), and our own code ([`own`]).

pub(super) mod bubblewrap;
mod identity;
pub(super) mod own;
mod place;
pub(super) mod plan;
mod private;
mod survey;

pub(super) use self::{plan::Plan, private::Private};
