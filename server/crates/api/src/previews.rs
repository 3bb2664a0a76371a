//! What is served at the origin of a preview.
//!
//! It is written by a model, so it is taken for hostile: it gets no cookie and no header of the console, and nothing of the console is
//! there.

mod door;
mod forward;

pub(crate) use self::door::{label_of, show};
