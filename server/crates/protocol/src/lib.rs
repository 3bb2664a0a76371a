//! The nouns on the wire: everything that a client sends to yoi or receives from it.
//!
//! This crate has types and their JSON, and no logic beyond reading them: names, sealed cursors, duplicate keys,
//! truncated texts. It builds for the server and for the browser. No path, socket, endpoint or secret of ours has a
//! place in these types.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod agent;
mod approval;
mod background;
mod blob;
mod budget;
mod changes;
mod command;
mod currency;
mod cursor;
mod cut;
mod error;
mod event;
mod frame;
mod history;
mod ids;
mod limits;
mod link;
mod listing;
mod mcp;
mod misread;
mod mode;
mod model;
mod money;
pub mod operation;
pub mod operations;
mod own_command;
mod peer;
mod preview;
mod segment;
mod settings;
mod summary;
mod task;
mod terminal;
#[cfg(any(target_arch = "wasm32", test))]
mod timestamp;
pub mod tool;
mod unambiguous;
mod wall;
mod worktree;

pub use agent::{
    ACP, AgentChoice, AgentItem, AgentOffers, AgentOption, AgentOptions, AgentState, AgentView, PlanEntry,
};
pub use approval::{
    ANSWERS_MAX, AnsweredQuestion, AnsweredQuestions, Approval, ApprovalCommand, ApprovalsCommand, CallPreview,
    CommandReach, OpenApproval, PatternOffer, PreviewHunk, QuestionId, RuleItem, RuleScope,
};
pub use background::{BackgroundCommand, BackgroundOutput, CommandState};
pub use blob::{BLOB_BYTES_MAX, BLOB_NAME_BYTES_MAX, BLOBS_OF_MESSAGE_MAX, BlobId, BlobView, Blobs};
pub use budget::{Budget, BudgetPer, BudgetUse};
pub use changes::{
    COMMENT_BYTES_MAX, COMMENTS_MAX, Changes, DraftsKept, FileChange, FileStatus, Hunk, LeftOut, RevertCommand,
    Reverted, ReviewCommand, ReviewComment, ReviewDrafts, RewindPreview, RewoundFile, RewoundMessage, SEEN_BYTES_MAX,
    SEEN_MAX, Since, UndoCommand,
};
pub use command::{
    ControlVerb, CreatePod, ForkCommand, ImportCommand, ImportFormat, InputCommand, Interrupted, PatchPod, Receipt,
    RestoreCommand, RestoreLine, RewindCommand, ToolAnswer, ToolCommand,
};
pub use currency::{Currency, CurrencyError, Priced, both_priced};
pub use cursor::{open_cursor, seal_cursor};
pub use cut::{CUT_BYTES_MAX, SHOWN_BYTES_MAX, cut_record, cut_segments};
pub use error::{ApiError, Candidate, ErrorCode};
pub use event::{
    AlertLevel, ChildChange, ControlEvent, Decision, Event, Outcome, PeerLabel, PodLabel, Proof, ReceiptState, Record,
    Seen, ToolBy, Trigger, TurnEvent,
};
pub use frame::{ClientFrame, DiagnosticCode, ServerFrame};
pub use history::{Attachment, History, Message, Role, THOUGHT_OF_WORDS, Thought, ToolCall};
pub use ids::{
    CommandId, CommandIdError, NameError, POD_NAME_BYTES_MAX, PodName, PodRef, RuntimeId, Seq, Target, WorkerId,
};
pub use limits::PodLimits;
pub use link::{LINK_ITEMS_MAX, LINK_WAIT_MS_MAX, LinkAnswer, LinkCard, LinkExchange, LinkItem, LinkNews};
pub use listing::{
    AuditAbout, AuditEntry, AuditRow, CompactionPreview, FolderList, Gathered, Listing, RuntimeKind, RuntimeState,
    RuntimeView, SearchHit, UsageDay, UsageOfLink, UsageOfModel, UsageOfPod, UsageOfTree, UsageReport, Visibility,
    VisiblePod,
};
pub use mcp::{
    McpArgument, McpContent, McpLog, McpLogin, McpPrompt, McpPromptText, McpResource, McpServerItem, McpServerState,
};
pub use misread::misread;
pub use mode::{Mode, ModeError};
pub use model::{
    FactOrigin, FactOrigins, ModelFacts, ModelItem, ModelName, ModelView, Prices, ProviderView, Providers, Thinking,
    ThinkingError, UnconfiguredProvider,
};
pub use money::{AmountError, Cost, Price};
pub use own_command::{OwnCommand, OwnMessage};
pub use peer::{
    ExchangeMessage, HeldCommand, HeldDecision, Introduced, MessageAnswer, MessageCommand, OpenRequest, PeerAnswer,
    PeerCommand, PeerLink, PeerView, RequestCommand, RequestDecision,
};
pub use preview::{Preview, PreviewCommand};
pub use segment::{Access, Cut, ScopeRule, Segment};
pub use settings::{About, AddRuntime, GiveKey, LoginCode, ProfileView, ProviderTest, SessionView, ToolDefault};
pub use summary::{
    ChildView, GitView, NetworkPolicy, PeerPolicy, PermissionDecision, PermissionRule, PodDetail, PodState, PodSummary,
    QueuedInput, ReasoningPolicy, Relations, Usage,
};
pub use task::Task;
pub use terminal::{TerminalAsk, TerminalEnd, TerminalPlace, TerminalSize, TerminalTold};
#[cfg(target_arch = "wasm32")]
pub use timestamp::{Timestamp, TimestampError};
pub use unambiguous::unambiguous;
pub use wall::{Wall, WallItem, WallState};
pub use worktree::{
    CommitAnswer, CommitCommand, WorktreeAnswer, WorktreeCommand, WorktreeDone, WorktreeOptions, WorktreeSwitch,
    WorktreeVerb, WorktreeWish,
};

/// A moment in time. In the browser's half this is a small type of our own.
#[cfg(not(target_arch = "wasm32"))]
pub use jiff::Timestamp;

/// The version of the frames and records in this crate, sent in the `hello` frame.
pub const PROTOCOL_VERSION: u32 = 1;

/// The largest text of a message between Pods, in bytes of UTF-8.
pub const MESSAGE_BYTES_MAX: usize = 65_536;

/// The largest input from a person, in bytes of UTF-8: a paste of 2 MiB, plus as much text as a message between Pods.
pub const INPUT_BYTES_MAX: usize = 2 * 1024 * 1024 + MESSAGE_BYTES_MAX;

/// The approximate limit of the records in a page, a snapshot or a frame, in bytes; there is always room for one
/// record.
pub const PAGE_BYTES_MAX: usize = 900_000;

/// The largest request body, in bytes.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The largest journal that can be imported, as JSONL, in bytes.
pub const IMPORT_BYTES_MAX: usize = 64 * 1024 * 1024;
