//! The turn machine from outside: inputs in, events out, and their fold.

#![allow(clippy::unwrap_used)]

mod agent_calls;
mod agents;
mod answers;
mod approvals;
mod asked;
mod background;
mod commands;
mod compaction;
mod damaged;
mod hooked;
mod interrupted;
mod journal;
mod mail;
mod modes;
mod overflow;
mod peers;
mod permissions;
mod properties;
mod recovery;
mod retry;
mod rewind;
mod steering;
mod ways_out;
mod world;
