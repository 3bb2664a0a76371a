//! Parents and children, from outside: commands and calls in, records and answers out. Rows C8 to C15, D1 to D11, G10.

#![allow(unreachable_pub, missing_debug_implementations, clippy::unwrap_used)]

#[path = "../stage/mod.rs"]
mod stage;

mod bounds;
mod budgets;
mod deletes;
mod events;
mod failures;
mod ground;
mod lending;
mod offered;
mod output;
mod postgres;
mod probes;
mod races;
mod restores;
mod sends;
mod sight;
mod spawns;
mod stops;
