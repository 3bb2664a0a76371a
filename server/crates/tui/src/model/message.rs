//! What happens to the model, and what it wants done outside.

use client::{ClientError, StreamItem};
use commands::PreviewAct;
use crossterm::event::KeyEvent;
use protocol::{
    Approval, ApprovalCommand, CommandId, CompactionPreview, ControlVerb, CreatePod, FolderList, GiveKey, HeldDecision,
    InputCommand, Listing, PeerAnswer, PeerView, PodDetail, PodName, PodRef, Preview, ProviderTest, ProviderView,
    QueuedInput, Receipt, Record, RequestDecision, RewindCommand, ScopeRule, SearchHit, Segment, Seq, ToolAnswer,
    WallItem,
};

use super::{Asked, Choices, FolderWord, Sending};

/// What happens to the model.
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
    /// A page of records before those that are here.
    Older {
        pod: PodRef,
        done: Result<Listing<Record>, ClientError>,
    },
    /// Records that are cut in the transcript.
    Whole {
        pod: PodRef,
        done: Result<Vec<Record>, ClientError>,
    },
    /// The queue of a Pod, whom it knows, and what it asks.
    Looked {
        pod: PodRef,
        done: Result<Looked, ClientError>,
    },
    /// Files whose path fits what was `begun`.
    Files {
        pod: PodRef,
        begun: String,
        done: Result<Listing<String>, ClientError>,
    },
    /// A picture or a file is kept on the server, and goes with the next message.
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
    /// What a Pod can be made of.
    Choices(Result<Box<Choices>, ClientError>),
    Folders {
        word: FolderWord,
        done: Result<FolderList, ClientError>,
    },
    /// A provider was asked whether it works.
    Tested {
        provider: String,
        done: Result<ProviderTest, ClientError>,
    },
    /// A key works and is kept, or is not.
    KeyGiven {
        provider: String,
        done: Result<ProviderView, ClientError>,
    },
    Sent {
        command_id: CommandId,
        done: Result<Receipt, ClientError>,
    },
    /// A command has come to its end.
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
    /// Its open questions, with what they would do to the files of now.
    pub(crate) asked: Vec<Approval>,
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    Subscribe(PodRef),
    Unsubscribe(String),
    /// Into the clipboard of the terminal.
    Copy(String),
    Resolve(String),
    Create {
        command_id: CommandId,
        create: Box<CreatePod>,
    },
    LoadOlder {
        pod: PodRef,
        before: Seq,
    },
    /// These records as they are, and not as a page has room for them.
    LoadWhole {
        pod: PodRef,
        seqs: Vec<Seq>,
    },
    /// Its queue and whom it knows.
    Look(PodRef),
    Preview(PodRef),
    /// Keeps a file of this machine on the server.
    Attach {
        pod: PodRef,
        path: String,
    },
    /// Files that the Pod may read, by the beginning of a name.
    FindFiles {
        pod: PodRef,
        begun: String,
    },
    /// What these Pods ask, and all requests.
    LoadInbox(Vec<PodRef>),
    /// What stands between commands and the machine.
    LoadWalls,
    /// What a Pod can be made of.
    LoadChoices,
    FindFolders(FolderWord),
    TestProvider(String),
    GiveKey {
        provider: String,
        given: GiveKey,
    },
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

impl Effect {
    /// A command under a fresh id.
    pub(crate) fn act(pod: PodRef, act: Act) -> Self {
        Self::Do { pod, command_id: CommandId::random(), act }
    }
}

/// A command to one Pod.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Act {
    Control(ControlVerb),
    /// `name`, `name@runtime_id` or `runtime_id/worker_id`.
    Introduce(String),
    Unlink(String),
    Rename(PodName),
    /// What its commands reach.
    Network(protocol::NetworkPolicy),
    /// The model that answers, and its provider where that one changes too.
    Model(String, Option<String>),
    /// The mode of its agent.
    Mode(String),
    Think(protocol::Thinking),
    /// What it may use at most.
    Budget(Option<protocol::Budget>),
    AutoResume(bool),
    /// What its commands serve.
    Preview(PreviewAct),
    /// Its name, as a confirmation.
    Delete(String),
    Answer {
        approval: String,
        command: ApprovalCommand,
    },
    Decide {
        request_id: String,
        decision: RequestDecision,
    },
    Spawn(Spawn),
    Rewind(RewindCommand),
    /// The whole transcript into a file of this name.
    Export(String),
    /// A message from the last line.
    Say(InputCommand),
    /// A message that waits is taken out of the queue.
    TakeBack {
        queued: CommandId,
        then: Then,
    },
    /// A message between this Pod and another one that is held back.
    Held {
        message_id: String,
        decision: HeldDecision,
    },
}

/// What becomes of a message that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// Into the composer.
    Edit,
    Forget,
    /// Sent again, into the present run.
    Steer,
}

/// A child that is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spawn {
    pub(crate) name: String,
    pub(crate) task: String,
    pub(crate) scope: Vec<ScopeRule>,
}

/// What a command came to.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// It is on the server's disk.
    Accepted,
    Peer(PeerAnswer),
    Tool(ToolAnswer),
    /// The ports that are listened on or shown; of one that was opened, that one, with the link.
    Previews(Vec<Preview>),
    /// The file that was written.
    File(String),
    /// What was taken back.
    Returned(QueuedInput),
    /// It was taken back, and could not be sent again.
    NotSteered {
        input: QueuedInput,
        why: ClientError,
    },
}
