//! For tests only: whole servers, their disks, the network between them and the people at them, in one process, decided by
//! one seed.
//!
//! [`day`] plays one day of one seed: everything that happens, and when, follows from the seed alone, so a day that went
//! wrong can be played again. [`model`] knows what must hold, whatever happened.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod chance;
pub mod day;
pub mod disk;
mod far;
mod folk;
mod http;
pub mod interposed;
mod leases;
mod line;
mod loans;
mod log;
pub mod model;
mod plan;
mod script;
mod server;
mod viewer;
mod world;

pub use chance::Chance;
