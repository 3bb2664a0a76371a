//! Sentences that every console uses, and the answers to approvals that it sends.

use protocol::{ApprovalCommand, Decision, ModelFacts, RuleScope};

use crate::Answer;

/// Shown when there is nothing to allow or deny.
pub const NO_APPROVAL: &str = "it has no pending approval";

/// Introduces the list of the sandbox's layers.
pub const WALLS_ABOUT: &str =
    "A Pod's commands run in a sandbox. Where there is none, each command asks for permission.";
/// The explanation of the list of MCP servers.
pub const SERVERS_ABOUT: &str = "Each Pod has its own connection, open from its first use until the Pod is idle. A call asks for permission unless a rule allows it.";
/// Shown if there are none.
pub const NO_SERVERS: &str = "No MCP server is configured. A section [mcp.NAME] of the configuration adds one.";
/// Shown when there is no sandbox to describe.
pub const NO_COMMANDS: &str = "This server runs no commands.";

/// The explanation of peers.
pub const PEERS: [&str; 2] = [
    "Two Pods that are peers find each other in ListPods and can write to each other with SendToPeerPod.",
    "Neither gets the other's files, control or output, and no other Pod sees them. A Pod can be both a child and a \
     peer, with the rights of both.",
];

/// Shown when the name given to `:delete` is not that of the current Pod.
pub fn not_its_name(own: &str) -> String {
    format!("this Pod is {own}; `:delete {own}` asks whether to delete it")
}

/// The warning before a picture is sent to a model that cannot see it; `None` if it can, or if that is unknown.
pub fn blind_words(model: &str, facts: &ModelFacts) -> Option<String> {
    let origin = facts.origin.images.map(|origin| format!(" ({})", origin.as_str())).unwrap_or_default();
    (facts.images == Some(false))
        .then(|| format!("{model} does not see pictures{origin}: it is only told that there is one"))
}

impl From<Answer> for ApprovalCommand {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Once => Self::once(Decision::Allow),
            Answer::Always(meant) => {
                let (scope, pattern) = meant_by(&meant);
                Self { remember: true, scope, pattern, ..Self::once(Decision::Allow) }
            }
            Answer::Deny(reason) => {
                Self { reason: Some(reason).filter(|reason| !reason.is_empty()), ..Self::once(Decision::Deny) }
            }
        }
    }
}

/// Where "always" applies, and to which calls: `everywhere cargo test *`.
fn meant_by(text: &str) -> (Option<RuleScope>, Option<String>) {
    let (first, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let scope = RuleScope::ALL.into_iter().find(|scope| scope.as_str() == first);
    let pattern = if scope.is_some() { rest } else { text };
    (scope, Some(pattern.trim().to_owned()).filter(|pattern| !pattern.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_always_says_where_and_what() {
        let always = |text: &str| ApprovalCommand::from(Answer::Always(text.to_owned()));
        for (text, scope, pattern) in [
            ("", None, None),
            ("cargo test *", None, Some("cargo test *")),
            ("folder", Some(RuleScope::Folder), None),
            ("everywhere cargo test *", Some(RuleScope::Everywhere), Some("cargo test *")),
        ] {
            let command = always(text);
            assert_eq!((command.remember, command.scope, command.pattern.as_deref()), (true, scope, pattern), "{text}");
        }
    }
}
