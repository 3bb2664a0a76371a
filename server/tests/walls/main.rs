//! Attacks on the walls, each by its name, against the built binary. A wall holds if none gets through; the number of
//! attempts is printed.

#![allow(clippy::unwrap_used)]

mod commands;
mod network;
mod patterns;
mod previews;
mod protected;
mod providers;
mod rules;
mod stranger;
mod tally;
mod told;
mod unheld;
mod web;
mod worktrees;

use tally::Tally;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
