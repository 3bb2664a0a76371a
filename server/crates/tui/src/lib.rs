//! The console in a terminal: a client of the server, like the browser. It holds no registry and no credentials.
//!
//! [`model`] is the state, [`update`] changes it and returns effects, [`view`] draws it; only [`run`], [`effects`]
//! and [`screen`] touch the terminal and the network. Keys are handled before events, so typing never waits for a
//! busy Pod.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod composer;
mod effects;
mod form;
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
