//! What a Pod does: tools, approvals, compaction, rewind; on a real host, with tools that report what they did.

#![allow(clippy::unwrap_used)]

#[path = "../stage/mod.rs"]
mod stage;

mod answers;
mod bench;
mod budgets;
mod by_hand;
mod calls;
mod compaction;
mod conversations;
mod facts;
mod forks;
mod hidden;
mod import;
mod limits;
mod overflow;
mod portions;
mod queue;
mod recipes;
mod retries;
mod rewinds;
mod rules;
mod search;
mod servers;
mod settings;
mod tools;
mod usage;
