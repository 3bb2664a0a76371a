//! What a Pod is, as pure functions: no I/O, no clock, no randomness, no tokio (I3).
//!
//! [`decide`] turns an input into events and effects, [`Pod::evolve`] folds an event into the state, [`recover`] says
//! what a restart has to add, and [`context`] builds what the model sees. Recovery is replay.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod context;
mod decide;
mod evolve;
mod input;
mod limits;
mod permission;
mod picture;
mod protected;
mod recover;
mod rules;
mod scope;
mod sight;
mod spec;
mod state;
mod work_tree;

pub use context::{Context, Cut, Reach, Room, context, tokens_of_bytes};
pub use decide::{Decision, Effect, HOOK, ROUNDS_MAX, Refusal, decide, fitting};
pub use evolve::BUDGET;
pub use input::{
    AgentPiece, Cause, CommandEnd, Failure, Input, ModelPiece, Newest, NoSummary, Picture, QuestionSize, Stop, Summary,
    ToolOutcome,
};
pub use permission::{
    Denial, HostPort, Offer, Remembering, Verdict, call_folder, default_permission, has_rules, is_denied, is_public,
    main_argument, names_a_pod, offers, permission, remembered, rule_for, rule_warnings, verdict, would_allow,
};
pub use picture::PictureKind;
pub use protected::{IN_GIT_FOLDERS, Protected};
pub use recover::recover;
pub use rules::{RULE_PATTERN_CHARS_MAX, RULE_TOOL_CHARS_MAX, RULES_MAX, rules_refusal, with_rule};
pub use scope::{LendRefusal, Scope, ScopeRefusal, covers, is_plain};
pub use sight::{Sight, Sights};
pub use spec::{Guide, Leader, PodSpec, SkillOffer};
pub use state::{
    AGENT_WAY, BackgroundCall, Failing, OpenApproval, OpenBlock, OpenCall, PeerLetter, Pod, ReadOutput, Run, SeenFile,
    Session, Step, WANTED, ask_id,
};
pub use work_tree::WorkTree;
