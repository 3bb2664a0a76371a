//! The options of each verb.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use protocol::{Access, Mode, NetworkPolicy, PeerPolicy, ReasoningPolicy, RuleScope, Since, Thinking, WorktreeVerb};

use super::{
    changes::{LEVELS, MODES, NETWORKS, POLICIES, SCOPES, one_of, parse_scope, reasoning, switch},
    names::{model_names, pod_names, profile_names, provider_names},
};

#[derive(Debug, Args)]
pub(crate) struct TargetOption {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Also restore its stopped children
    #[arg(long)]
    pub(crate) tree: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PromptOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// The command; default: list all of them
    pub(crate) command: Option<String>,
    /// Its arguments
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PsOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// A command's id: print what it wrote; default: list all of them
    pub(crate) id: Option<String>,
    /// Print what it writes until it ends
    #[arg(long, short, requires = "id", conflicts_with = "stop")]
    pub(crate) follow: bool,
    /// Stop it
    #[arg(long, requires = "id")]
    pub(crate) stop: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RewindOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Last record that stays in the context
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) seq: i64,
    /// Fail if this is not the Pod's newest record; default: not checked
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) head: Option<i64>,
    /// Also undo what the Pod's calls after that record changed on the disk
    #[arg(long)]
    pub(crate) files: bool,
    /// With --files: also where somebody else has changed a file since
    #[arg(long, requires = "files")]
    pub(crate) overwrite: bool,
    /// Only print what it would do
    #[arg(long, conflicts_with = "overwrite")]
    pub(crate) preview: bool,
}

/// What files are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SinceWord {
    /// The files before the Pod's first call that could change them
    #[default]
    Start,
    /// The files when its newest turn began
    Turn,
    /// The commit at which its branch began
    Branch,
}

impl From<SinceWord> for Since {
    fn from(word: SinceWord) -> Self {
        match word {
            SinceWord::Start => Self::Start,
            SinceWord::Turn => Self::Turn,
            SinceWord::Branch => Self::Branch,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ChangesOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// What to compare with
    #[arg(long, value_enum, default_value_t)]
    pub(crate) since: SinceWord,
}

#[derive(Debug, Args)]
pub(crate) struct RevertOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// The file, as `yoi changes` names it
    pub(crate) path: String,
    /// Only this hunk; `yoi changes` prints its id after `@@`
    #[arg(long, value_name = "ID")]
    pub(crate) hunk: Option<String>,
    /// What the file becomes again
    #[arg(long, value_enum, default_value_t)]
    pub(crate) since: SinceWord,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// A comment on a line of a file as it is now; can be repeated
    #[arg(long, num_args = 2, value_names = ["PATH:LINE", "COMMENT"], action = clap::ArgAction::Append)]
    pub(crate) on: Vec<String>,
    /// A note to go with them
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ForkOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Name of the new Pod
    #[arg(value_name = "NEWNAME")]
    pub(crate) name: String,
    /// Last record of its history; default: the newest one
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) at: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeArguments {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Merge its branch into the branch that it came from, or remove the work tree with its branch
    #[arg(value_name = "merge|discard", value_parser = one_of::<WorktreeVerb>(&["merge", "discard"]))]
    pub(crate) verb: WorktreeVerb,
    /// Merge into this branch instead
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// Discard it even if commits or changes are lost
    #[arg(long, conflicts_with = "into")]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CommitOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// The commit's message
    #[arg(long, short)]
    pub(crate) message: String,
    /// Only these files, relative to the Pod's folder; default: everything that is changed in it
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PeerOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "A", add = ArgValueCandidates::new(pod_names))]
    pub(crate) source: String,
    /// Its new peer
    #[arg(value_name = "B", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Note for whoever answers the request; no model sees it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PairOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "A", add = ArgValueCandidates::new(pod_names))]
    pub(crate) source: String,
    /// The other Pod
    #[arg(value_name = "B", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
}

#[derive(Debug, Args)]
pub(crate) struct RequestsOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER; default: all Pods
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RequestOptions {
    /// Pod that got the request: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Request id; `yoi requests` lists them
    #[arg(value_name = "REQUEST_ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct MessageOptions {
    /// Sender: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "FROM", add = ArgValueCandidates::new(pod_names))]
    pub(crate) source: String,
    /// Receiver, a peer of the sender
    #[arg(value_name = "TO", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// The message; a single - reads it from standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct HeldOptions {
    /// Either of the two Pods: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Message id, as in its record and in the output of `yoi message`
    #[arg(value_name = "MESSAGE_ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ApprovalsOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER; default: all Pods
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: Option<String>,
    /// Include answered and withdrawn ones
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: Option<String>,
    /// Approval id; `yoi approvals` lists them. Without it, the only pending approval: of this Pod, or of all
    pub(crate) id: Option<String>,
    /// Deny it instead
    #[arg(long)]
    pub(crate) deny: bool,
    /// Always give this answer, by a rule: for this Pod and exactly this call, unless --scope and --pattern say otherwise
    #[arg(long, visible_alias = "always")]
    pub(crate) remember: bool,
    /// Which calls the rule means, such as 'cargo test *'; `yoi approvals` lists what fits a question
    #[arg(long, value_name = "PATTERN", requires = "remember")]
    pub(crate) pattern: Option<String>,
    /// Where the rule applies: pod, folder or everywhere
    #[arg(long, value_name = "SCOPE", requires = "remember", value_parser = one_of::<RuleScope>(&SCOPES))]
    pub(crate) scope: Option<RuleScope>,
    /// Reason; the model sees it if the call is denied
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// What a tool's server has asked for, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) content: Option<String>,
    /// One of the options that an agent offers, by its id
    #[arg(long, value_name = "ID")]
    pub(crate) option: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DenyOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: Option<String>,
    /// Approval id; `yoi approvals` lists them. Without it, the only pending approval: of this Pod, or of all
    pub(crate) id: Option<String>,
    /// Always give this answer, by a rule: for this Pod and exactly this call, unless --scope and --pattern say otherwise
    #[arg(long, visible_alias = "always")]
    pub(crate) remember: bool,
    /// Which calls the rule means, such as 'cargo test *'; `yoi approvals` lists what fits a question
    #[arg(long, value_name = "PATTERN", requires = "remember")]
    pub(crate) pattern: Option<String>,
    /// Where the rule applies: pod, folder or everywhere
    #[arg(long, value_name = "SCOPE", requires = "remember", value_parser = one_of::<RuleScope>(&SCOPES))]
    pub(crate) scope: Option<RuleScope>,
    /// Reason; the model sees it
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// One of the options that an agent offers, by its id
    #[arg(long, value_name = "ID")]
    pub(crate) option: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ToolOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Tool name, such as Read
    pub(crate) tool: String,
    /// Tool arguments
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

#[derive(Debug, Args)]
pub(crate) struct NewOptions {
    /// A-Z a-z 0-9 . _ -, at most 64 characters
    pub(crate) name: String,
    /// Provider of its model; default: the server's first one
    #[arg(long, add = ArgValueCandidates::new(provider_names))]
    pub(crate) provider: Option<String>,
    /// An agent that answers instead of a provider's model; `yoi agents` lists them
    #[arg(long, conflicts_with = "provider")]
    pub(crate) agent: Option<String>,
    /// Model to use; default: the provider's first one
    #[arg(long, add = ArgValueCandidates::new(model_names))]
    pub(crate) model: Option<String>,
    /// Thinking level, one that the model supports
    #[arg(long, value_name = "LEVEL", value_parser = one_of::<Thinking>(&LEVELS))]
    pub(crate) thinking: Option<Thinking>,
    /// Profile from the server's configuration
    #[arg(long, add = ArgValueCandidates::new(profile_names))]
    pub(crate) profile: Option<String>,
    /// Working directory; default: the current one or, if the server is on another machine, the one that it was
    /// started in
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Work in a git work tree of its own, made from the folder's repository, on this new branch; without a value, the
    /// branch is named after the Pod
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, require_equals = true)]
    pub(crate) worktree: Option<Option<String>>,
    /// Branch, tag or commit that the work tree starts from; default: what is checked out in the folder
    #[arg(long, value_name = "REVISION", requires = "worktree")]
    pub(crate) from: Option<String>,
    /// Instructions for the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// Runtime to create it on; default: this server
    #[arg(long, value_name = "ID")]
    pub(crate) runtime: Option<String>,
    /// Folder it may use: read:PATH, write:PATH or deny:PATH; repeatable. Default: write access to its --cwd
    #[arg(long, value_name = "ACCESS:PATH", value_parser = parse_scope)]
    pub(crate) scope: Vec<(Access, String)>,
    /// Who may become its peer: anyone, anyone you accept, no one
    #[arg(long, value_name = "POLICY", value_parser = one_of::<PeerPolicy>(&POLICIES))]
    pub(crate) peer_policy: Option<PeerPolicy>,
    /// Whether a peer's message starts a run when the Pod is idle
    #[arg(long, value_name = "on|off", value_parser = switch())]
    pub(crate) wake: Option<bool>,
    /// Network access of its commands
    #[arg(long, value_name = "none|ask|open", value_parser = one_of::<NetworkPolicy>(&NETWORKS))]
    pub(crate) network: Option<NetworkPolicy>,
    /// What it does without asking
    #[arg(long, value_name = "MODE", value_parser = one_of::<Mode>(&MODES))]
    pub(crate) mode: Option<Mode>,
    /// How much of its reasoning is shown
    #[arg(long, value_name = "HOW_MUCH", value_parser = reasoning())]
    pub(crate) reasoning: Option<ReasoningPolicy>,
}

#[derive(Debug, Args)]
pub(crate) struct SendOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// The message; a single - reads it from standard input; none with --attach
    #[arg(required_unless_present = "attach")]
    pub(crate) text: Vec<String>,
    /// Attach a picture or a file from this machine; repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<std::path::PathBuf>,
    /// Fail instead of queueing when a run is in progress
    #[arg(long)]
    pub(crate) no_queue: bool,
    /// Send it into the current run, at the next model call, instead of queueing it
    #[arg(long, conflicts_with = "no_queue")]
    pub(crate) steer: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Follow new records until interrupted; on a terminal, text is printed as it arrives
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// With --follow: print text as it arrives even if the output is not a terminal
    #[arg(long, requires = "follow")]
    pub(crate) partial: bool,
    /// Number of newest records to print
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,
    /// Print records before this one instead of the newest; `next` of the previous page
    #[arg(long, value_name = "SEQ", conflicts_with = "follow", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) before: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct FilesOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// A few letters of a path; without them, the nearest files
    #[arg(value_name = "LETTERS", default_value = "", hide_default_value = true)]
    pub(crate) begun: String,
}

#[derive(Debug, Args)]
pub(crate) struct EventsOptions {
    /// Start after this cursor, in the Pod that it belongs to, instead of now
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchOptions {
    /// Words to find; the last may be the beginning of a word
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only in this Pod: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) pod: Option<String>,
    /// Only this runtime
    #[arg(long, value_name = "RUNTIME")]
    pub(crate) runtime: Option<String>,
    /// Continue after the previous page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// markdown for people, or jsonl: one record per line, which `yoi import` reads; --json means jsonl
    #[arg(long, value_parser = ["markdown", "jsonl"])]
    pub(crate) format: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportOptions {
    /// The file, or the new Pod's name and the file; a single - reads standard input
    ///
    /// Output of `yoi export --format jsonl` or `opencode export`, or a session file of Claude Code or Codex.
    #[arg(value_name = "[NAME] FILE", num_args = 0..=2)]
    pub(crate) what: Vec<String>,
    /// Name of the new Pod; the first words of the session by default
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Program that wrote the file; default: detected from its content
    #[arg(long, value_parser = ["claude", "codex", "opencode", "yoi"])]
    pub(crate) format: Option<String>,
    /// Folder of the new Pod
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// List the sessions of other agents in your home folder, newest first
    #[arg(long, conflicts_with_all = ["what", "name", "format", "cwd", "last"])]
    pub(crate) list: bool,
    /// Import this agent's newest session in this folder
    #[arg(long, value_name = "AGENT", value_parser = ["claude", "codex"], conflicts_with_all = ["what", "format"])]
    pub(crate) last: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AuditOptions {
    /// Only this action, such as input
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Only this result
    #[arg(long, value_parser = ["done", "refused", "failed"])]
    pub(crate) result: Option<String>,
    /// Only this target: a Pod, or a value of the TARGET column
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Only this runtime
    #[arg(long, value_name = "RUNTIME")]
    pub(crate) runtime: Option<String>,
    /// Continue after the previous page, with the cursor that it printed
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RmOptions {
    /// NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: String,
    /// Do not ask for confirmation; this cannot be undone
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuiOptions {
    /// Pod to open: NAME, NAME@RUNTIME or RUNTIME/WORKER
    #[arg(value_name = "NAME", conflicts_with_all = ["runtime", "worker"], add = ArgValueCandidates::new(pod_names))]
    pub(crate) target: Option<String>,
    /// Runtime of the Pod to open
    #[arg(long, value_name = "ID", requires = "worker")]
    pub(crate) runtime: Option<String>,
    /// The Pod to open, by its id
    #[arg(long, value_name = "ID", requires = "runtime")]
    pub(crate) worker: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AcpOptions {
    /// Pod to use for the editor's sessions: NAME, NAME@RUNTIME or RUNTIME/WORKER; default: a new one for each session
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(pod_names))]
    pub(crate) pod: Option<String>,
}
