//! The file tools, on real files.

#![allow(clippy::unwrap_used)]

mod arguments;
mod complete;
mod edit;
mod given_up;
mod glob;
mod grep;
mod place;
mod race;
mod read;
mod scope;
mod write;
