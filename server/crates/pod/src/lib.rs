//! What a Pod is, as pure functions: no I/O, no clock, no randomness, no tokio (I3).
//!
//! [`decide`] turns an input into events and effects, [`Pod::evolve`] folds an event into the state, [`recover`] says
//! what a restart has to add, and [`context`] builds what the model sees. Recovery is replay.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod context;
mod decide;
mod input;
mod model;
mod permission;
mod recover;
mod spec;
mod state;

pub use context::{Context, context};
pub use decide::{Decision, Effect, Refusal, decide};
pub use input::{Input, ModelPiece, ToolOutcome};
pub use permission::permission;
pub use recover::recover;
pub use spec::PodSpec;
pub use state::{OpenApproval, OpenBlock, OpenCall, Pod, Run, Step};
