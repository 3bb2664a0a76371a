//! The real store, with the real SQLite, on a disk that fails at every call there is.

#![allow(clippy::unwrap_used)]

mod damage;
mod day;
mod faults;
mod power;
mod stage;
