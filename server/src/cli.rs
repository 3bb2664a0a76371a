//! The command line as it is typed. [`crate::config`] supplies what flags leave out.

mod changes;
mod names;
mod options;
mod server;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use protocol::ControlVerb;

pub(crate) use self::{changes::*, options::*, server::*};
use crate::options::{CommonOptions, ServeOptions};

/// A console for durable LLM agents. Without a verb: the same as `yoi serve`.
#[derive(Debug, Parser)]
#[command(name = "yoi", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start the server (the default)
    Serve(ServeOptions),
    /// Print the token
    Token(TokenOptions),
    /// Open the console in a browser, logged in
    Open(OpenOptions),
    /// List the Pods
    Ls(LsOptions),
    /// Print a Pod's state and settings
    Show(TargetOption),
    /// Print a Pod's address
    Resolve(TargetOption),
    /// Create a Pod
    New(NewOptions),
    /// Send a message to a Pod
    Send(SendOptions),
    /// Print the records of a Pod
    Log(LogOptions),
    /// Follow the events of all Pods
    Events(EventsOptions),
    /// Pause a Pod's run
    Pause(TargetOption),
    /// Resume a paused run
    Resume(TargetOption),
    /// Ask a Pod's model again after a failure, a cancel or a rewind
    Retry(TargetOption),
    /// Cancel a Pod's run
    Cancel(TargetOption),
    /// Stop a Pod; `restore` brings it back
    Stop(TargetOption),
    /// Restore a stopped Pod
    Restore(RestoreOptions),
    /// List a Pod's queued messages
    Queue(TargetOption),
    /// Take back a queued message
    Unqueue(UnqueueOptions),
    /// List your own commands for a Pod, or send the message of one
    Prompt(PromptOptions),
    /// List a Pod's background commands, print what one wrote, or stop it
    Ps(PsOptions),
    /// Preview a port that a Pod's command serves, in one browser; without a port, list previews
    Preview(PreviewOptions),
    /// Rename a Pod
    Rename(RenameOptions),
    /// Set who may become a peer of a Pod
    Policy(PolicyOptions),
    /// Set the network access of a Pod's commands
    Network(NetworkOptions),
    /// Print a Pod's model, or change the model and its thinking level
    Model(ModelOptions),
    /// Print what a Pod does without asking, or change it
    Mode(ModeOptions),
    /// Print or set the budget of a Pod and its children
    Budget(BudgetOptions),
    /// Set a Pod's instructions, scope or profile
    Set(SetOptions),
    /// Set whether a peer's message starts a run
    Wake(WakeOptions),
    /// List a Pod's permission rules, or set them
    Permissions(PermissionsOptions),
    /// List the rules of Pods, of folders and of the server, or take one back
    Rules(RulesOptions),
    /// Summarise the older part of a Pod's context
    Compact(CompactOptions),
    /// Remove everything after a record from a Pod's context
    Rewind(RewindOptions),
    /// Print what changed in a Pod's folders, as a unified diff
    Changes(ChangesOptions),
    /// Revert a change, or all changes of a file
    Revert(RevertOptions),
    /// Send comments on changed lines to a Pod, as one message
    Review(ReviewOptions),
    /// Create a Pod with another one's history and settings
    Fork(ForkOptions),
    /// Merge the branch of a Pod's own work tree, or remove both
    Worktree(WorktreeArguments),
    /// Commit what is changed in a Pod's folder
    Commit(CommitOptions),
    /// Make two Pods peers
    Peer(PeerOptions),
    /// Remove a peer, or withdraw a peer request
    Unpeer(PairOptions),
    /// List a Pod's peers
    Peers(TargetOption),
    /// List the Pods that a Pod's model can see
    Visible(TargetOption),
    /// List the files that a message to a Pod can name
    Files(FilesOptions),
    /// Print a Pod's context as its model would get it now
    History(TargetOption),
    /// Print the messages between two Pods
    Exchange(ExchangeOptions),
    /// List pending peer requests
    Requests(RequestsOptions),
    /// Accept a peer request
    Accept(RequestOptions),
    /// Decline a peer request
    Decline(RequestOptions),
    /// Send a message from a Pod to one of its peers
    Message(MessageOptions),
    /// Deliver a held message
    Release(HeldOptions),
    /// Refuse a held message
    Drop(HeldOptions),
    /// List pending approvals
    Approvals(ApprovalsOptions),
    /// Allow a pending approval: the only one, or one by its Pod and id
    Approve(ApproveOptions),
    /// Deny a pending approval: the only one, or one by its Pod and id
    Deny(DenyOptions),
    /// List the tools and their default permissions
    Tools,
    /// List the walls around the commands of the server's Pods, and whether each is in place
    Walls,
    /// Run a tool as a Pod would
    Tool(ToolOptions),
    /// Search all transcripts
    Search(SearchOptions),
    /// Print a Pod's whole transcript
    Export(ExportOptions),
    /// Create a stopped Pod from an exported transcript
    Import(ImportOptions),
    /// Print tokens and cost
    Usage,
    /// Print the audit log
    Audit(AuditOptions),
    /// Delete a Pod and its records
    Rm(RmOptions),
    /// List the runtimes and their state; add another server, or remove one
    Runtimes(RuntimesOptions),
    /// List the model providers, or test them
    Providers(ProvidersOptions),
    /// Store or delete a model provider's key
    #[command(subcommand)]
    Key(KeyVerb),
    /// List the models with their limits and prices, and where each fact comes from
    Models,
    /// List the agents that can answer in Pods
    Agents,
    /// List the profiles: templates for new Pods
    Profiles,
    /// List the logged-in browsers
    Sessions,
    /// Sign a browser out
    SignOut(SignOutOptions),
    /// Check the configuration and the environment
    Doctor(DoctorOptions),
    /// Run yoi as a systemd user service; needs no root
    #[command(subcommand)]
    Service(ServiceVerb),
    /// Print shell completions; they complete Pod names too
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all verbs
    Man(ManOptions),
    /// Serve MCP on standard input and output, for clients that start their servers themselves; with a verb: the MCP servers that
    /// Pods use
    Mcp(McpOptions),
    /// Serve ACP on standard input and output: a Pod in an editor
    Acp(AcpOptions),
    /// Open the console in this terminal
    Tui(TuiOptions),
}

impl Verb {
    /// The control verb and its target, for verbs that are nothing more than that.
    pub(crate) fn as_control(&self) -> Option<(ControlVerb, &str)> {
        let (verb, option) = match self {
            Self::Pause(option) => (ControlVerb::Pause, option),
            Self::Resume(option) => (ControlVerb::Resume, option),
            Self::Retry(option) => (ControlVerb::Retry, option),
            Self::Cancel(option) => (ControlVerb::Cancel, option),
            Self::Stop(option) => (ControlVerb::Stop, option),
            Self::Compact(CompactOptions { target, preview: false }) => return Some((ControlVerb::Compact, target)),
            _ => return None,
        };
        Some((verb, &option.target))
    }
}

#[cfg(test)]
mod tests;
