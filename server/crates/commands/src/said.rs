//! Sentences that every console says, and the answers that it sends.

use protocol::{ApprovalCommand, Decision, ModelFacts};

use crate::Answer;

/// Said where there is nothing to allow or deny.
pub const NO_APPROVAL: &str = "it has no pending approval";

/// What the list of walls is about.
pub const WALLS_ABOUT: &str =
    "A Pod's commands run in a sandbox. Where there is none, each command asks for permission.";
/// Said where there are no walls to list.
pub const NO_COMMANDS: &str = "This server runs no commands.";

/// What peers are, first and foremost.
pub const PEERS: [&str; 2] = [
    "Two Pods that are peers find each other in ListPods and can write to each other with SendToPeerPod.",
    "Neither gets the other's files, control or output, and no other Pod sees them. A Pod can be both a child and a \
     peer, with the rights of both.",
];

/// Said when `:delete` has another name than that of the Pod at hand.
pub fn not_its_name(own: &str) -> String {
    format!("this Pod is {own}; `:delete {own}` asks whether to delete it")
}

/// Said before a picture is sent to a model that sees none; none where it sees them, or that is not known.
pub fn blind_words(model: &str, facts: &ModelFacts) -> Option<String> {
    let origin = facts.origin.images.map(|origin| format!(" ({})", origin.as_str())).unwrap_or_default();
    (facts.images == Some(false))
        .then(|| format!("{model} sees no pictures{origin}: it is told only that one is there"))
}

impl From<Answer> for ApprovalCommand {
    fn from(answer: Answer) -> Self {
        let (decision, remember, reason) = match answer {
            Answer::Once => (Decision::Allow, false, None),
            Answer::Always => (Decision::Allow, true, None),
            Answer::Deny(reason) => (Decision::Deny, false, Some(reason).filter(|reason| !reason.is_empty())),
        };
        Self { decision, remember, reason, option: None }
    }
}
