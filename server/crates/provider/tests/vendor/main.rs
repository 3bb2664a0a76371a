//! The vendors, each against a server that says what a test wrote.

#![allow(clippy::unwrap_used)]

mod anthropic;
mod common;
mod failures;
mod logs;
mod open_ai;
mod other_wires;
mod overflow;
mod pictures;
mod thinking;
