//! What a Pod's model can call: the [`Tool`] trait, the built-in tools, and the [`Toolbox`] that holds them.
//!
//! This crate knows no store and no HTTP server. A tool gets its arguments, its place, and a channel for live output,
//! and returns an outcome; everything else about a call is the runtime's business.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod arguments;
pub mod bash;
mod drain;
pub mod files;
pub mod git;
pub mod guides;
pub mod hooks;
mod network;
pub mod preview;
pub mod proxy;
mod questions;
mod tasks;
mod tool;
pub mod web;

pub use self::{
    drain::{Drain, Drains},
    network::Network,
    questions::Questions,
    tasks::Tasks,
    tool::{Lifeline, Output, Place, Redirects, Tool, Toolbox},
};
