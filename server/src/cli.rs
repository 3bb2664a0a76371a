//! The command line, as it is typed. What a flag leaves out, [`crate::config`] fills in.

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
    /// Print what a Pod is, and how it is set up
    Show(TargetOption),
    /// Print the address that a name stands for
    Resolve(TargetOption),
    /// Make a Pod
    New(NewOptions),
    /// Send a message to a Pod
    Send(SendOptions),
    /// Print the records of a Pod
    Log(LogOptions),
    /// Follow what happens in all Pods
    Events(EventsOptions),
    /// Pause the run of a Pod
    Pause(TargetOption),
    /// Go on with a paused run
    Resume(TargetOption),
    /// End the run of a Pod
    Cancel(TargetOption),
    /// Stop a Pod; `restore` brings it back
    Stop(TargetOption),
    /// Bring a stopped Pod back
    Restore(RestoreOptions),
    /// List the messages that wait for a Pod's present run to end
    Queue(TargetOption),
    /// Take a message back that waits
    Unqueue(UnqueueOptions),
    /// Show what a Pod's command serves on a port, at an address for one browser; without a port, list what is shown
    Preview(PreviewOptions),
    /// Give a Pod another name
    Rename(RenameOptions),
    /// Say who may introduce itself to a Pod
    Policy(PolicyOptions),
    /// Say what commands of a Pod reach of the network
    Network(NetworkOptions),
    /// Say whether a peer's message begins a run
    Wake(WakeOptions),
    /// List what a Pod may do without asking, or set it
    Permissions(PermissionsOptions),
    /// List the Pods that have rules of their own
    Rules,
    /// Put a summary in the place of a Pod's older conversation
    Compact(CompactOptions),
    /// Take what came after a record out of a Pod's conversation
    Rewind(RewindOptions),
    /// Introduce two Pods to each other
    Peer(PeerOptions),
    /// End what two Pods are to each other, or withdraw a request
    Unpeer(PairOptions),
    /// List whom a Pod knows
    Peers(TargetOption),
    /// List the Pods that a Pod's model is told of
    Visible(TargetOption),
    /// List files that a message to a Pod may name
    Files(FilesOptions),
    /// Print what a Pod's model would be sent now
    History(TargetOption),
    /// Print what two Pods wrote to each other
    Exchange(ExchangeOptions),
    /// List the introductions that wait for an answer
    Requests(RequestsOptions),
    /// Accept an introduction
    Accept(RequestOptions),
    /// Decline an introduction
    Decline(RequestOptions),
    /// Send a message from one Pod to another that it knows
    Message(MessageOptions),
    /// Deliver a message that is held
    Release(HeldOptions),
    /// Refuse a message that is held
    Drop(HeldOptions),
    /// List what Pods ask
    Approvals(ApprovalsOptions),
    /// Answer what a Pod asks: allow it
    Approve(ApproveOptions),
    /// Answer what a Pod asks: deny it
    Deny(DenyOptions),
    /// List the tools, and what happens to a call that no rule is about
    Tools,
    /// Run a tool as a Pod would
    Tool(ToolOptions),
    /// Find words in what all Pods said, called and read
    Search(SearchOptions),
    /// Print a Pod's whole transcript
    Export(ExportOptions),
    /// Make a stopped Pod with the history of an export
    Import(ImportOptions),
    /// Print the tokens that were used
    Usage,
    /// Print who did what
    Audit(AuditOptions),
    /// Remove a Pod with all that it holds
    Rm(RmOptions),
    /// List where Pods live, and whether it answers; add another server, or remove one
    Runtimes(RuntimesOptions),
    /// List the providers of models, or ask them whether they work
    Providers(ProvidersOptions),
    /// List the recipes for new Pods
    Profiles,
    /// List the browsers that are logged in
    Sessions,
    /// End a browser's login
    SignOut(SignOutOptions),
    /// Say what is configured, what works, what is ignored, and why
    Doctor(DoctorOptions),
    /// Have yoi started by systemd for this account, without root
    #[command(subcommand)]
    Service(ServiceVerb),
    /// Print completions for a shell to source; they know the names of the Pods
    Completions {
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual, or write the pages of all verbs
    Man(ManOptions),
    /// The console in this terminal
    Tui(TuiOptions),
}

impl Verb {
    /// The control verb and its target, for those that are no more than that.
    pub(crate) fn as_control(&self) -> Option<(ControlVerb, &str)> {
        let (verb, option) = match self {
            Self::Pause(option) => (ControlVerb::Pause, option),
            Self::Resume(option) => (ControlVerb::Resume, option),
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
