//! Options of the verbs that change a Pod's settings or inspect it.

use ::commands::Sign;
use clap::{
    ArgAction, Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use clap_complete::engine::ArgValueCandidates;
use protocol::{Access, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, ReasoningPolicy, Thinking};
use serde::de::DeserializeOwned;

use super::names::pod_names;

#[derive(Debug, Default, Args)]
pub(crate) struct LsOptions {
    /// Only Pods in this state
    #[arg(long, value_name = "STATE", value_parser = sign())]
    pub(crate) state: Option<Sign>,
    /// Only Pods whose name or folder contains this
    #[arg(long, short = 'q', value_name = "TEXT")]
    pub(crate) find: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RenameOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// A-Z a-z 0-9 . _ -, at most 64 characters
    #[arg(value_name = "NEW_NAME")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Who may become a peer: anyone, anyone you accept, no one
    #[arg(value_parser = one_of::<PeerPolicy>(&POLICIES))]
    pub(crate) policy: PeerPolicy,
}

#[derive(Debug, Args)]
pub(crate) struct NetworkOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// No network, only hosts that a rule or you allow, or full network access
    #[arg(value_parser = one_of::<NetworkPolicy>(&NETWORKS))]
    pub(crate) network: NetworkPolicy,
}

#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Model to use from the next call on; without it and without options, the current one is printed
    pub(crate) model: Option<String>,
    /// Provider of the model; without a model, the provider's default model is used
    #[arg(long)]
    pub(crate) provider: Option<String>,
    /// Thinking level, one that the model supports
    #[arg(long, value_name = "LEVEL", value_parser = one_of::<Thinking>(&LEVELS))]
    pub(crate) thinking: Option<Thinking>,
}

#[derive(Debug, Args)]
pub(crate) struct BudgetOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// '$5', '50000 tokens', '$5 or 50000 tokens', '$5 a day', none; without it the current budget is printed
    #[arg(value_name = "AMOUNT")]
    pub(crate) amount: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ModeOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// ask, accept_edits, plan or free, from its next call on; or a mode that its agent offers; without it, both are printed
    pub(crate) mode: Option<String>,
    /// Take it as a mode of its agent, even if the Pod has a mode of that name
    #[arg(long, requires = "mode")]
    pub(crate) agent: bool,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct RulesOptions {
    #[command(subcommand)]
    pub(crate) verb: Option<RulesVerb>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesVerb {
    /// Take a rule back
    Rm {
        /// The rule; `yoi rules` lists them
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SetOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Instructions for the model; an empty text removes them
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// Folder it may use from now on: read:PATH, write:PATH or deny:PATH; repeatable
    #[arg(long, value_name = "ACCESS:PATH", value_parser = parse_scope)]
    pub(crate) scope: Vec<(Access, String)>,
    /// Profile from the server's configuration whose settings to apply
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Whether it continues by itself, once, when a provider's usage limit ends
    #[arg(long, value_name = "on|off", action = ArgAction::Set, value_parser = switch())]
    pub(crate) auto_resume: Option<bool>,
}

#[derive(Debug, Args)]
pub(crate) struct WakeOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Whether a peer's message starts a run when the Pod is idle
    #[arg(value_name = "on|off", action = ArgAction::Set, value_parser = switch())]
    pub(crate) wakes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PermissionsOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// All rules of the Pod, in order; the first match decides: 'allow Bash cargo *' 'ask Bash'; 'allow Bash@/work cargo *' applies in one folder
    #[arg(value_name = "RULE", value_parser = parse_rule)]
    pub(crate) rules: Vec<PermissionRule>,
    /// Remove all rules
    #[arg(long, conflicts_with = "rules")]
    pub(crate) clear: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompactOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Only show what it would do
    #[arg(long)]
    pub(crate) preview: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PreviewOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Port that a command of the Pod listens on
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Close this preview
    #[arg(long, requires = "port")]
    pub(crate) close: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UnqueueOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Message to take back; `yoi queue` lists them
    #[arg(value_name = "COMMAND_ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ExchangeOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "A", add = ArgValueCandidates::new(pod_names))]
    pub(crate) source: String,
    /// The other Pod
    #[arg(value_name = "B", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// How many of the newest messages to print
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
    /// Continue before the previous page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
}

pub(super) const MODES: [&str; 4] = ["ask", "accept_edits", "plan", "free"];
pub(super) const SCOPES: [&str; 3] = ["pod", "folder", "everywhere"];
pub(super) const NETWORKS: [&str; 3] = ["none", "ask", "open"];
pub(super) const LEVELS: [&str; 5] = ["off", "low", "medium", "high", "max"];
pub(super) const POLICIES: [&str; 3] = ["open", "ask", "closed"];
pub(super) const REASONING: [&str; 3] = ["full", "summary", "hidden"];

/// One of the protocol's words.
pub(super) fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<T>(word.into()))
}

/// A state by the name that lists give it.
fn sign() -> impl TypedValueParser<Value = Sign> {
    let known = |word: String| Sign::all().find(|sign| sign.word() == word).ok_or("there is no such state");
    PossibleValuesParser::new(Sign::all().map(Sign::word)).try_map(known)
}

pub(super) fn switch() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// `DECISION TOOL[@FOLDER] [PATTERN]`.
fn parse_rule(text: &str) -> Result<PermissionRule, String> {
    let mut words = text.trim().splitn(3, char::is_whitespace).map(str::trim);
    let decision = match words.next() {
        Some("allow") => PermissionDecision::Allow,
        Some("ask") => PermissionDecision::Ask,
        Some("deny") => PermissionDecision::Deny,
        _ => {
            return Err(
                "a rule is allow, ask or deny, then a tool, then perhaps a pattern: 'allow Bash cargo *'".into()
            );
        }
    };
    match words.next().filter(|tool| !tool.is_empty()) {
        Some(tool) => Ok(PermissionRule {
            tool: tool.split('@').next().unwrap_or_default().to_owned(),
            pattern: words.next().map(str::to_owned),
            folder: tool.split_once('@').map(|(_, folder)| folder.to_owned()),
            pod: None,
            decision,
        }),
        None => Err("the rule names no tool, such as Bash".to_owned()),
    }
}

/// `read:PATH`, `write:PATH` or `deny:PATH`.
pub(super) fn parse_scope(text: &str) -> Result<(Access, String), String> {
    let wrong = || "a folder is given as read:PATH, write:PATH or deny:PATH".to_owned();
    let (access, path) = text.split_once(':').filter(|(_, path)| !path.is_empty()).ok_or_else(wrong)?;
    let access = serde_json::from_value(access.into()).map_err(|_| wrong())?;
    Ok((access, path.to_owned()))
}

/// The values of `--reasoning`.
pub(super) fn reasoning() -> impl TypedValueParser<Value = ReasoningPolicy> {
    one_of(&REASONING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_decision_a_tool_and_perhaps_a_pattern() {
        let rule = parse_rule("allow Bash cargo test *").unwrap();
        assert_eq!((rule.tool.as_str(), rule.pattern.as_deref()), ("Bash", Some("cargo test *")));
        assert_eq!(parse_rule("deny Bash").unwrap().pattern, None);
        for bad in ["", "allow", "perhaps Bash"] {
            assert!(parse_rule(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_folder_has_an_access_before_its_path() {
        assert_eq!(parse_scope("write:/a:b").unwrap(), (Access::Write, "/a:b".to_owned()));
        for bad in ["/a", "all:/a", "read:"] {
            assert!(parse_scope(bad).is_err(), "{bad:?}");
        }
    }
}
