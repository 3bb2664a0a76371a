//! What is served at the origin of a preview.
//!
//! It was written by a model, so it counts as hostile: it gets no cookie and no header of the console, and nothing of
//! the console is reachable there.

mod door;
mod forward;

pub(crate) use self::door::{label_of, page, show};
