//! The vendors, each against a scripted server.

#![allow(clippy::unwrap_used)]

mod anthropic;
mod chat_completions;
mod common;
mod failures;
mod logs;
mod other_wires;
mod overflow;
mod pictures;
mod responses;
mod thinking;
mod uncounted;
mod weak;
