//! The messages that change the model, and the effects that it requests.

use client::{ClientError, StreamItem};
use commands::{PreviewAct, Prompt};
use crossterm::event::KeyEvent;
use protocol::{
    Approval, ApprovalCommand, BackgroundCommand, Changes, CommandId, CompactionPreview, ControlVerb, CreatePod,
    FolderList, GiveKey, HeldDecision, InputCommand, Listing, McpPromptText, McpResource, McpServerItem, PeerAnswer,
    PeerView, PodDetail, PodName, PodRef, Preview, ProviderTest, ProviderView, QueuedInput, Receipt, Record,
    RequestDecision, RewindCommand, ScopeRule, SearchHit, Segment, Seq, Since, ToolAnswer, WallItem,
};

use super::{Asked, Choices, FolderWord, Sending, Whose};

/// Something that changes the model.
#[derive(Debug)]
pub(crate) enum Message {
    Key(KeyEvent),
    Paste(String),
    /// The mouse wheel, in notches; negative is up.
    Wheel(isize),
    Resize(u16, u16),
    Stream(StreamItem),
    /// A subscription was made for the open Pod.
    Subscribed {
        pod: PodRef,
        id: String,
    },
    Resolved {
        target: String,
        done: Result<PodRef, ClientError>,
    },
    Created(Result<PodRef, ClientError>),
    /// An older page of records.
    Older {
        pod: PodRef,
        done: Result<Listing<Record>, ClientError>,
    },
    /// Records that were truncated in the transcript.
    Whole {
        pod: PodRef,
        done: Result<Vec<Record>, ClientError>,
    },
    /// A Pod's queue, its peers, and its approvals.
    Looked {
        pod: PodRef,
        done: Result<Looked, ClientError>,
    },
    /// Files whose path matches `begun`.
    Files {
        pod: PodRef,
        begun: String,
        done: Result<Listing<String>, ClientError>,
        /// Resources of the Pod's MCP servers that match, as far as they are known in time.
        resources: Vec<McpResource>,
    },
    /// The text of a prompt.
    PromptMade {
        pod: PodRef,
        done: Result<McpPromptText, ClientError>,
    },
    /// What a line can name beside the commands of the console.
    Prompts {
        pod: PodRef,
        whose: Whose,
        done: Result<Vec<Prompt>, ClientError>,
    },
    /// A picture or file has been uploaded, and goes with the next message.
    Attached {
        pod: PodRef,
        done: Result<Segment, ClientError>,
    },
    Preview {
        pod: PodRef,
        done: Result<Option<CompactionPreview>, ClientError>,
    },
    Inbox(Result<Vec<Asked>, ClientError>),
    Found {
        words: String,
        done: Result<Vec<SearchHit>, ClientError>,
    },
    Walls(Result<Vec<WallItem>, ClientError>),
    Changed {
        pod: PodRef,
        done: Result<Changes, ClientError>,
    },
    Jobs {
        pod: PodRef,
        done: Result<Vec<BackgroundCommand>, ClientError>,
    },
    /// The choices for a new Pod.
    Choices(Result<Box<Choices>, ClientError>),
    Folders {
        word: FolderWord,
        done: Result<FolderList, ClientError>,
    },
    /// A provider was tested.
    Tested {
        provider: String,
        done: Result<ProviderTest, ClientError>,
    },
    /// A key was tested, and stored if it works.
    KeyGiven {
        provider: String,
        done: Result<ProviderView, ClientError>,
    },
    /// A mode that was walked to has been shown for a moment: the number of the step.
    Rested(u64),
    Servers(Result<Vec<McpServerItem>, ClientError>),
    Sent {
        command_id: CommandId,
        done: Result<Receipt, ClientError>,
    },
    /// A command has completed.
    Done {
        pod: PodRef,
        act: Act,
        done: Result<Answer, ClientError>,
    },
}

/// What is known of a Pod besides its records.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) detail: Box<PodDetail>,
    pub(crate) peers: Vec<PeerView>,
    /// Its open approvals, with their changes to the files as they are now.
    pub(crate) asked: Vec<Approval>,
}

/// Something to be done outside the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    Subscribe(PodRef),
    Unsubscribe(String),
    /// Copy to the terminal's clipboard.
    Copy(String),
    Resolve(String),
    Create {
        command_id: CommandId,
        create: Box<CreatePod>,
    },
    /// Create a Pod with the history in a local file.
    Import {
        command_id: CommandId,
        importing: Importing,
    },
    /// Create a Pod with this one's history.
    Fork {
        command_id: CommandId,
        pod: PodRef,
        name: PodName,
    },
    LoadOlder {
        pod: PodRef,
        before: Seq,
    },
    /// Load these records without truncation.
    LoadWhole {
        pod: PodRef,
        seqs: Vec<Seq>,
    },
    /// Load the Pod's queue, peers and approvals.
    Look(PodRef),
    Preview(PodRef),
    /// Upload a local file to the server.
    Attach {
        pod: PodRef,
        path: String,
    },
    /// Read a resource and upload it.
    AttachResource {
        pod: PodRef,
        resource: McpResource,
    },
    /// Have an MCP server make the text of a prompt.
    MakePrompt {
        pod: PodRef,
        name: String,
        words: String,
    },
    /// List what a line can name beside the commands of the console.
    FindPrompts {
        pod: PodRef,
        whose: Whose,
    },
    /// Find files that the Pod may read, by the beginning of a name.
    FindFiles {
        pod: PodRef,
        begun: String,
    },
    /// Load the approvals of these Pods, and all peer requests.
    LoadInbox(Vec<PodRef>),
    /// Load what has changed in a Pod's folders.
    LoadChanges(PodRef, Since),
    /// Load a Pod's background commands.
    LoadJobs(PodRef),
    /// Load the state of the sandbox.
    LoadWalls,
    /// Load the choices for a new Pod.
    LoadChoices,
    FindFolders(FolderWord),
    TestProvider(String),
    GiveKey {
        provider: String,
        given: GiveKey,
    },
    /// Wait a moment after this step through the modes.
    Rest(u64),
    /// Load the MCP servers.
    LoadServers,
    Search(String),
    Send {
        pod: PodRef,
        message: Sending,
    },
    Do {
        pod: PodRef,
        command_id: CommandId,
        act: Act,
    },
}

/// A Pod that is made with the history in a file of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Importing {
    pub(crate) name: PodName,
    /// The file's path, from where the console was started.
    pub(crate) path: String,
    /// The Pod's folder on the server; `None`: the one where the console was started, or the server's default.
    pub(crate) cwd: Option<String>,
}

impl Effect {
    /// A command under a fresh id.
    pub(crate) fn act(pod: PodRef, act: Act) -> Self {
        Self::Do { pod, command_id: CommandId::random(), act }
    }
}

/// A command on one Pod.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Control(ControlVerb),
    /// `name`, `name@runtime_id` or `runtime_id/worker_id`.
    Introduce(String),
    Unlink(String),
    Rename(PodName),
    /// Commit what is changed in its folder.
    Commit(protocol::CommitCommand),
    /// Merge its work tree or remove it.
    Worktree(protocol::WorktreeCommand),
    /// How much of the network its commands can reach.
    Network(protocol::NetworkPolicy),
    /// The model, and its provider if that changes too.
    Model(String, Option<String>),
    /// The mode of the agent.
    Mode(String),
    Think(protocol::Thinking),
    /// The limit of its usage.
    Budget(Option<protocol::Budget>),
    AutoResume(bool),
    /// The previews of what its commands serve.
    Preview(PreviewAct),
    /// Delete it; the name serves as confirmation.
    Delete(String),
    Answer {
        approval: String,
        command: Box<ApprovalCommand>,
    },
    Decide {
        request_id: String,
        decision: RequestDecision,
    },
    Spawn(Spawn),
    Rewind(RewindCommand),
    /// Export the whole transcript into a file with this base name.
    Export(String),
    /// A message typed in the last line.
    Say(InputCommand),
    /// Take a waiting message out of the queue.
    TakeBack {
        queued: CommandId,
        then: Then,
    },
    /// Send the message that a command of the person's own stands for.
    Own {
        name: String,
        arguments: String,
    },
    /// End the run and take its queued messages back.
    StopRun,
    /// End the background command with this id.
    StopJob(String),
    /// Release or drop a held message between this Pod and a peer.
    Held {
        message_id: String,
        decision: HeldDecision,
    },
}

/// What happens to a message that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Put it into the composer.
    Edit,
    Forget,
    /// Send it again, into the current run.
    Steer,
}

/// A child to be spawned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spawn {
    pub(crate) name: String,
    pub(crate) task: String,
    pub(crate) scope: Vec<ScopeRule>,
}

/// The result of a command.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// It is on the server's disk.
    Accepted,
    Peer(PeerAnswer),
    Tool(ToolAnswer),
    /// The ports listened on or previewed; after opening one, that one with its link.
    Previews(Vec<Preview>),
    /// The file that was written.
    File(String),
    /// The message that was taken back.
    Returned(QueuedInput),
    /// The run was ended; these messages were taken back.
    Stopped(Vec<QueuedInput>),
    /// It was taken back and could not be sent again.
    NotSteered {
        input: QueuedInput,
        why: ClientError,
    },
}
