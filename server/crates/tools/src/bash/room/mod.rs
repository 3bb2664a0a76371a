//! A room for one command: namespaces of its own, and a tree of mounts that holds what the Pod's scope grants, the
//! system's programs for reading, a private `/tmp`, its own `/proc` and `/dev`, and nothing else.
//!
//! What the tree holds is a plain list ([`plan`]), made from what lies on the disk ([`survey`]). Two builders carry it
//! out: bubblewrap where it is there ([`bubblewrap`]), and we ourselves ([`own`]).

pub(super) mod bubblewrap;
mod identity;
pub(super) mod own;
mod place;
pub(super) mod plan;
mod private;
mod survey;

pub(super) use self::{plan::Plan, private::Private};
