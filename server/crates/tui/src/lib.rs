//! The console in a terminal: a client of the server, like the browser. It holds no registry and no credential.
//!
//! [`model`] is what is known, [`update`] changes it and says what is to be done, [`view`] draws it; only [`run`],
//! [`effects`] and [`screen`] touch the terminal and the network. Keys are taken before events, so typing never waits
//! for a busy Pod.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod composer;
mod effects;
mod making;
mod model;
mod offering;
mod run;
mod screen;
mod sentences;
#[cfg(test)]
mod stories;
mod update;
mod view;
mod wrap;

pub use run::{TuiError, run};
