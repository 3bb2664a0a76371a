//! The list of the API's operations: the single place where each is defined.
//!
//! `commands` change a Pod or relations between Pods, and `queries` read; a runtime's port carries out both. What a
//! server does by itself, for whoever is logged in, is in `server`.
//!
//! Each entry has: what it does, its name, its id in the OpenAPI document, method, path and tag there, its fields
//! with their places in a request (`operation/field.rs`), and the answer on success. For a command these are preceded
//! by the word that its key is bound to, and its name in the audit.

use crate::{
    About, AgentItem, AnsweredQuestions, ApiError, Approval, ApprovalCommand, ApprovalsCommand, AuditRow,
    BackgroundCommand, BackgroundOutput, Changes, CommandId, CommitAnswer, CommitCommand, CompactionPreview,
    ControlVerb, CreatePod, DraftsKept, ExchangeMessage, FolderList, ForkCommand, Gathered, GiveKey, HeldCommand,
    History, ImportCommand, InputCommand, Interrupted, Introduced, LinkAnswer, LinkExchange, Listing, LoginCode,
    McpContent, McpLog, McpLogin, McpPrompt, McpPromptText, McpResource, McpServerItem, MessageAnswer, MessageCommand,
    ModelItem, OpenRequest, OwnCommand, OwnMessage, PatchPod, PeerAnswer, PeerCommand, PeerView, PodDetail, PodName,
    PodRef, PodState, PodSummary, Preview, PreviewCommand, ProfileView, ProviderTest, ProviderView, Providers,
    QueuedInput, Receipt, RequestCommand, RestoreCommand, RevertCommand, Reverted, ReviewCommand, ReviewDrafts,
    RewindCommand, RewindPreview, RuleItem, RuntimeId, RuntimeView, SearchHit, Seq, SessionView, Since, ToolAnswer,
    ToolCommand, ToolDefault, UndoCommand, UsageReport, VisiblePod, WallItem, WorktreeAnswer, WorktreeCommand,
    operation::{
        Answered, Facts, Filled, Limit, Loose, NoFields, Operation, Page, Request, at_pod,
        list::{answers, operations},
        operation,
    },
};

/// How much of what a user wrote goes into the audit if it is not a Pod, in characters. An address has at most 97.
const TARGET_CHARS_MAX: usize = 100;

/// An operation that changes something. It has an id from its caller, and happens once per id.
pub trait ToCommand: Operation<Answer: TryFrom<Answer>> + Into<Command> {}

/// An operation that only reads.
pub trait ToQuery: Operation<Answer: TryFrom<Answer>> + Into<Query> {}

/// A visitor of all commands.
pub trait EachCommand {
    fn see<O: ToCommand>(&mut self);
}

/// A visitor of all queries.
pub trait EachQuery {
    fn see<O: ToQuery>(&mut self);
}

/// A visitor of the server's own operations.
pub trait EachOwn {
    fn see<O: Operation>(&mut self);
}

answers! {
    Nothing(()),
    Receipt(Receipt),
    Queued(QueuedInput),
    Interrupted(Interrupted),
    Summary(PodSummary),
    Detail(PodDetail),
    Tool(ToolAnswer),
    Approval(Approval),
    Answers(AnsweredQuestions),
    Worktree(WorktreeAnswer),
    Committed(CommitAnswer),
    Introduced(Introduced),
    Peer(PeerAnswer),
    Message(MessageAnswer),
    Pods(Listing<PodSummary>),
    Address(PodRef),
    Changes(Changes),
    ReviewDrafts(ReviewDrafts),
    DraftsKept(DraftsKept),
    Reverted(Reverted),
    RewindPreview(RewindPreview),
    Files(Listing<String>),
    Prompts(Listing<McpPrompt>),
    PromptText(McpPromptText),
    Resources(Listing<McpResource>),
    Content(McpContent),
    Folders(FolderList),
    Peers(Listing<PeerView>),
    Requests(Listing<OpenRequest>),
    Exchange(Listing<ExchangeMessage>),
    History(History),
    Compaction(Option<CompactionPreview>),
    Approvals(Listing<Approval>),
    Visible(Listing<VisiblePod>),
    Hits(Gathered<SearchHit>),
    Usage(UsageReport),
    Rules(Gathered<RuleItem>),
    Audit(Gathered<AuditRow>),
    Background(BackgroundCommand),
    BackgroundList(Listing<BackgroundCommand>),
    BackgroundOutput(BackgroundOutput),
    OwnCommands(Listing<OwnCommand>),
    OwnMessage(OwnMessage),
}

operations! {
    commands {
        /// Creates a Pod.
        Create "create" "pod_create" "pod_create": Post "/api/v1/pods", "pods" {
            body body: CreatePod,
        } -> 201 "The Pod" PodSummary;

        /// Renames a Pod, or changes its settings.
        Patch "patch" "rename" "rename": Patch at_pod!(""), "pods" {
            pod pod: PodRef,
            body body: PatchPod,
        } -> 200 "The Pod after the change" PodDetail;

        /// Stops a Pod and deletes it together with its journal.
        Delete "delete" "delete" "delete": Delete at_pod!(""), "pods" {
            pod pod: PodRef,
            /// The Pod's name, as a confirmation.
            needed confirm: Option<String>,
        } -> 204 "It is gone" ();

        /// Creates a stopped Pod with the history of another one, or of a session of Claude Code, Codex or opencode.
        ///
        /// The file is sent as a string in a JSON object, or as the body itself: then `name`, `format` and `cwd` go into
        /// the query, and the body may have up to 64 MiB.
        Import "import" "import" "import": Post "/api/v1/import", "pods" {
            body body: ImportCommand,
        } -> 201 "The Pod" PodSummary;

        /// Makes a Pod with this one's history up to a record and with its settings; it is idle, and nothing ties it to another Pod.
        ///
        /// A record inside a run in progress is `busy`, one inside an answer or a tool call `invalid_input`, and both say where
        /// a fork can begin. A history may have up to 64 MiB.
        Fork "fork" "fork" "fork": Post at_pod!("/fork"), "pods" {
            pod pod: PodRef,
            body body: ForkCommand,
        } -> 201 "The Pod" PodSummary;

        /// Sends a message. Its run appears in the Pod's stream, with the same command id.
        Input "input" "input" "input": Post at_pod!("/input"), "commands" {
            pod pod: PodRef,
            body body: InputCommand,
        } -> 202 "It is on disk" Receipt;

        /// Takes a queued message back: removes it from the queue and returns it. For one whose run has begun, the
        /// error is `already_answered`.
        TakeBack "take_back" "take_back" "input": Delete at_pod!("/input/{command_id}"), "commands" {
            pod pod: PodRef,
            path command_id: CommandId,
        } -> 200 "What was taken back" QueuedInput;

        /// Pauses a running Pod. What it has said so far stays.
        Pause "pause" "pause" "pause": Post at_pod!("/pause"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on disk" Receipt;

        /// Resumes a paused Pod's run.
        Resume "resume" "resume" "resume": Post at_pod!("/resume"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on disk" Receipt;

        /// Ends the current run.
        Cancel "cancel" "cancel" "cancel": Post at_pod!("/cancel"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on disk" Receipt;

        /// Ends the current run and takes every queued message back, in one step, so that none of them begins another run.
        ///
        /// The answer has them whole and in their order; sent again with the same key, the command gives the same
        /// answer. Without a run: `not_running`, and the queue stays.
        Interrupt "interrupt" "interrupt" "cancel": Post at_pod!("/interrupt"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 200 "The run has ended; these messages were taken back" Interrupted;

        /// Stops a Pod; restore brings it back.
        Stop "stop" "stop" "stop": Post at_pod!("/stop"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on disk" Receipt;

        /// Restores a stopped Pod; with `tree`, also the stopped Pods below it, and the receipt reports on each of them.
        Restore "restore" "restore" "restore": Post at_pod!("/restore"), "commands" {
            pod pod: PodRef,
            maybe body: RestoreCommand,
        } -> 202 "It is on disk" Receipt;

        /// Replaces everything before the newest turn with a summary in the context. The journal keeps all of it.
        Compact "compact" "compact" "compact": Post at_pod!("/compact"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on disk" Receipt;

        /// Asks the model again, without a new message: after a run that failed, was interrupted, was cancelled or hit a limit, and
        /// after a rewind that left a message unanswered.
        ///
        /// The part of an answer that was cut off leaves the model's context. Tool calls that have a result are not repeated. Where
        /// nothing is left to answer: `nothing_to_retry`.
        Retry "retry" "retry" "retry": Post at_pod!("/retry"), "commands" {
            pod pod: PodRef,
            bare body: NoFields,
        } -> 202 "It is on the disk" Receipt;

        /// Removes everything after a record from the context. The journal keeps all of it, and its head only grows.
        ///
        /// With `files`, what the Pod's calls after that record changed on the disk is undone, too. Files that somebody else has
        /// changed since are named in the error `files_changed`, unless `overwrite` is set; then nothing is undone.
        Rewind "rewind" "rewind" "rewind": Post at_pod!("/rewind"), "commands" {
            pod pod: PodRef,
            body body: RewindCommand,
        } -> 202 "It is on disk" Receipt;

        /// Merges the branch of the Pod's own work tree, or removes both.
        ///
        /// `merge` puts it into the branch that it came from: by a fast-forward or a merge commit. Where that branch is
        /// checked out, the files there follow. Nothing is done and the error says why if the Pod is working (`busy`),
        /// if something is not committed in the work tree or in the other folder (`not_committed`, with `paths`), or
        /// if the changes are in conflict (`merge_conflict`, with `paths`). Hooks do not run.
        ///
        /// `discard` removes the folder and the branch. If commits that are on no other branch or changes that are not
        /// committed would be lost, the error is `not_merged`, and `force` does it nevertheless.
        ChangeWorktree "change_worktree" "worktree" "worktree": Post at_pod!("/worktree"), "changes" {
            pod pod: PodRef,
            body body: WorktreeCommand,
        } -> 200 "What was done" WorktreeAnswer;

        /// Commits what is changed in the Pod's folder: the files that its scope lets it write.
        ///
        /// The author comes from git's settings, or is `yoi` if there is none. Hooks do not run, and nothing is
        /// signed. Without changes: `nothing_to_commit`.
        CommitChanges "commit_changes" "commit" "commit": Post at_pod!("/changes/commit"), "changes" {
            pod pod: PodRef,
            body body: CommitCommand,
        } -> 200 "The commit" CommitAnswer;

        /// Takes one change back, or all changes of a file. If the file or the hunk has changed since `GET P/changes`: `changed`.
        Revert "revert" "revert" "revert": Post at_pod!("/changes/revert"), "changes" {
            pod pod: PodRef,
            body body: RevertCommand,
        } -> 200 "It is reverted, on the disk" Reverted;

        /// Undoes a revert. If the file has changed since: `changed`.
        UndoRevert "undo" "undo_revert" "revert": Post at_pod!("/changes/undo"), "changes" {
            pod pod: PodRef,
            body body: UndoCommand,
        } -> 200 "It is as before the revert" Reverted;

        /// Sends comments on changes as one message, each with its line. If a run is in progress, the message is queued.
        Review "review" "review" "input": Post at_pod!("/changes/review"), "changes" {
            pod pod: PodRef,
            body body: ReviewCommand,
        } -> 202 "It is on disk" Receipt;

        /// Keeps the comments that are not sent yet and the files that were seen, in place of those before.
        ///
        /// If they have another `version` by now: `changed`. It is not in the audit. Sending a review takes what is sent
        /// out of the drafts.
        KeepDrafts "keep_drafts" "drafts" "drafts": Put at_pod!("/changes/drafts"), "changes" {
            pod pod: PodRef,
            body body: ReviewDrafts,
        } -> 200 "They are kept" DraftsKept;

        /// Runs a tool as the Pod would, under its scope and its deny rules.
        ///
        /// Where a rule asks, your call counts as the approval. The call is in the transcript with `by: operator`,
        /// and no model is told of it. A tool that fails is an answer with `is_error` and a `code`, not an error of
        /// the request.
        RunTool "run" "tool" "tool": Post at_pod!("/tools/{name}"), "tools" {
            pod pod: PodRef,
            path name: String,
            body body: ToolCommand,
        } -> 200 "How the call ended" ToolAnswer;

        /// Answers an approval; the first answer counts.
        AnswerApproval "answer" "approve" "approve": Post at_pod!("/approvals/{id}"), "tools" {
            pod pod: PodRef,
            path id: String,
            body body: ApprovalCommand,
        } -> 200 "The approval with its answer" Approval;

        /// Ends a background command and everything that it started: with SIGTERM, and with SIGKILL 2 s later. One that has ended
        /// stays as it is.
        StopCommand "stop_command" "stop_command" "stop_command": Post at_pod!("/commands/{id}/stop"), "tools" {
            pod pod: PodRef,
            /// The id of the call that started it
            path id: String,
            bare body: NoFields,
        } -> 200 "The command; it has ended, unless something of it does not end" BackgroundCommand;

        /// Gives several questions the same answer, for this once; each is answered by itself, and the answer says what
        /// became of each.
        AnswerApprovals "answer_all" "approve_all" "approve": Post "/api/v1/approvals", "tools" {
            body body: ApprovalsCommand,
        } -> 200 "What became of each, in the order of the request" AnsweredQuestions;

        /// Takes a rule back. Calls that it allowed are asked for again.
        RemoveRule "remove_rule" "rule_remove" "rule_remove": Delete "/api/v1/rules/{id}", "lists" {
            /// The rule's id, from the list of rules
            path id: String,
        } -> 204 "It is gone" ();

        /// Makes the Pod and another one peers. They then see each other and can send each other messages; nothing
        /// else changes, and neither context is touched.
        Introduce "introduce" "peer" "peer": Post at_pod!("/peers"), "peers" {
            pod pod: PodRef,
            body body: PeerCommand,
        } -> 201 "They are peers now" Introduced;

        /// Ends the relation between the two on both sides: they are no longer peers, or the pending request is withdrawn.
        Unlink "unlink" "unpeer" "unpeer": Delete at_pod!("/peers/{peer_runtime_id}/{peer_worker_id}"), "peers" {
            pod pod: PodRef,
            path peer: PodRef,
        } -> 204 "They are not peers now, whether they were before or not" ();

        /// Answers a peer request to this Pod; the first answer counts.
        DecideRequest "decide_request" "peer_decide" "peer_decide": Post at_pod!("/peers/requests/{request_id}"), "peers" {
            pod pod: PodRef,
            path request_id: String,
            body body: RequestCommand,
        } -> 200 "The relation between the two now" PeerAnswer;

        /// Sends a message from this Pod to a peer on your behalf. It is then on disk at the receiver, or held.
        SendMessage "send" "message" "message": Post at_pod!("/messages"), "peers" {
            pod pod: PodRef,
            body body: MessageCommand,
        } -> 202 "It is on disk" MessageAnswer;

        /// Releases or drops a held message, on either side; the first decision counts.
        DecideHeld "decide_held" "message_decide" "message_decide": Post at_pod!("/messages/{message_id}"), "peers" {
            pod pod: PodRef,
            path message_id: String,
            body body: HeldCommand,
        } -> 200 "The state of the message now" MessageAnswer;
    }

    queries {
        /// Summaries of the Pods of all runtimes.
        Pods "pods": Get "/api/v1/pods", "pods" {
            /// Exactly this name.
            query name: Filled<PodName>,
            /// Only Pods in this state.
            query state: Filled<PodState>,
            /// Part of a name, working directory, model or activity; case-insensitive.
            query q: Loose,
            /// `next` of the previous page.
            query after: Loose,
            /// The maximum number of items; 500 when absent, never more than 1,000.
            query limit: Limit<500, 1000>,
        } -> 200 "One page of them" Listing<PodSummary>;

        /// Turns what a person wrote into a Pod's address.
        Resolve "resolve": Get "/api/v1/pods/resolve", "pods" {
            /// `name`, `name@runtime_id` or `runtime_id/worker_id`.
            needed target: Option<String>,
        } -> 200 "The address" PodRef;

        /// Folders that a new Pod can work in: those whose path begins with what was typed, and the default.
        ///
        /// At most 50, and only those found within 300 ms, as this server's user sees them; none if the folder before
        /// the last `/` cannot be read. Hidden folders are listed if the last name begins with a dot.
        Folders "folders": Get "/api/v1/folders", "pods" {
            /// The beginning of an absolute path; when absent, nothing is listed.
            query prefix: Loose,
            /// The runtime to look on; this server when absent.
            query runtime: Filled<RuntimeId>,
        } -> 200 "Folders" FolderList;

        /// A Pod, with everything that its page shows.
        Pod "pod": Get at_pod!(""), "pods" {
            pod pod: PodRef,
        } -> 200 "The Pod" PodDetail;

        /// The Pod's open approvals, oldest first.
        Approvals "approvals": Get at_pod!("/approvals"), "tools" {
            pod pod: PodRef,
            /// Also those that were answered or withdrawn.
            query all: bool,
            part page: Page,
        } -> 200 "The approvals" Listing<Approval>;

        /// The commands that the Pod runs in the background, oldest first, and those that ended last.
        Commands "commands": Get at_pod!("/commands"), "tools" {
            pod pod: PodRef,
            part page: Page,
        } -> 200 "The commands" Listing<BackgroundCommand>;

        /// What a background command wrote: at most 64 KiB from a position on. Only the newest part is kept, at least 256 KiB.
        CommandOutput "command_output": Get at_pod!("/commands/{id}"), "tools" {
            pod pod: PodRef,
            /// The id of the call that started it
            path id: String,
            /// `next` of the previous answer; 0 when absent.
            query after: Filled<u64>,
        } -> 200 "The command and its output" BackgroundOutput;

        /// Commands of your own for this Pod: the Markdown files in `.yoi/commands` of its folder, of the folders above it up to the
        /// repository's root, and in `commands` of your configuration folder. The nearest of a name counts.
        OwnCommands "own_commands": Get at_pod!("/own-commands"), "commands" {
            pod pod: PodRef,
            part page: Page,
        } -> 200 "The commands" Listing<OwnCommand>;

        /// The message that a command of your own stands for, with its arguments filled in; send it as any other.
        OwnMessageOf "own_message": Get at_pod!("/own-commands/{name}"), "commands" {
            pod pod: PodRef,
            /// The command's name
            path name: String,
            /// The text after the command.
            query arguments: Loose,
        } -> 200 "The message" OwnMessage;

        /// The Pods that this one sees: itself, its children and its peers. ListPods tells its model exactly this.
        Visible "visible": Get at_pod!("/visible"), "tools" {
            pod pod: PodRef,
            part page: Page,
        } -> 200 "The Pods" Listing<VisiblePod>;

        /// Everything that changed in the Pod's folders, by whatever means, as files and hunks.
        ///
        /// Files that git ignores are left out. The answer has at most 1 MB; its `notes` say what did not fit.
        ChangesOf "changes": Get at_pod!("/changes"), "changes" {
            pod pod: PodRef,
            /// What to compare with; `start` when absent.
            query since: Filled<Since>,
        } -> 200 "What changed" Changes;

        /// The comments on the Pod's changes that are not sent yet, and the files that were seen.
        DraftsOf "drafts": Get at_pod!("/changes/drafts"), "changes" {
            pod pod: PodRef,
        } -> 200 "What is noted" ReviewDrafts;

        /// What a rewind to a record would take out of the context, and what a rewind with `files` would do on the disk.
        PreviewRewind "rewind_preview": Get at_pod!("/rewind/preview"), "commands" {
            pod pod: PodRef,
            /// The last record that would stay in the context.
            query to_seq: Seq,
        } -> 200 "What would change" RewindPreview;

        /// Files that the Pod may read and whose path matches, best match first; only as many as a list shows, so
        /// there is no next page.
        ///
        /// A message names one with a segment `{ "type": "file_ref", "path": … }`.
        Files "files": Get at_pod!("/files"), "tools" {
            pod pod: PodRef,
            /// A few letters of a path; when absent, all files nearby.
            query q: Loose,
        } -> 200 "Paths, relative to the working directory where they are inside it" Listing<String>;

        /// The prompts of the MCP servers that the Pod uses. Servers that are away are left out; others are started for
        /// it, and a list counts for a minute.
        Prompts "prompts": Get at_pod!("/prompts"), "tools" {
            pod pod: PodRef,
            part page: Page,
        } -> 200 "The prompts, by name" Listing<McpPrompt>;

        /// Has an MCP server make the text of a prompt. Nothing is sent to the Pod: the text is for a person, who may
        /// send it as a message.
        PromptMade "prompt": Get at_pod!("/prompts/{name}"), "tools" {
            pod pod: PodRef,
            /// The prompt's name, `SERVER__prompt`
            path name: String,
            /// Its arguments: a JSON object of texts
            query arguments: Loose,
            /// Its arguments as a person types them: in their order, each one word or in double quotes, or `name=value`
            query words: Loose,
        } -> 200 "The text" McpPromptText;

        /// The resources of the MCP servers that the Pod uses, whose name or address contains `q`. Servers that are away
        /// are left out; others are started for it, and a list counts for a minute.
        ///
        /// Templates of addresses are listed with their beginning as `uri`. If `q` is the beginning of a template's
        /// address, what may come next is listed, with the values that the server names for the variable. An item with
        /// `template` is not whole: it is asked for again with its `uri` and more letters as `q`.
        Resources "resources": Get at_pod!("/resources"), "tools" {
            pod pod: PodRef,
            /// A few letters, or the beginning of an address; when absent, all of them.
            query q: Loose,
            part page: Page,
        } -> 200 "The resources, by server and address" Listing<McpResource>;

        /// Reads a resource of an MCP server, for a person, who may attach it to a message.
        ResourceContent "resource": Get at_pod!("/resources/content"), "tools" {
            pod pod: PodRef,
            /// The server's name
            query server: Loose,
            /// The resource's address
            query uri: Loose,
        } -> 200 "Its content" McpContent;

        /// The Pod's peers, then its pending peer requests in both directions.
        Peers "peers": Get at_pod!("/peers"), "peers" {
            pod pod: PodRef,
            part page: Page,
        } -> 200 "The peers" Listing<PeerView>;

        /// The messages between two Pods, newest first, with the state of each.
        Exchange "peer_messages": Get at_pod!("/peers/{peer_runtime_id}/{peer_worker_id}/messages"), "peers" {
            pod pod: PodRef,
            path peer: PodRef,
            /// Only older messages: `next` of the previous page.
            query before: Loose,
            /// The maximum number of items; 100 when absent, never more than 1,000.
            query limit: Limit<100, 1000>,
        } -> 200 "One page" Listing<ExchangeMessage>;

        /// Every pending peer request, oldest first.
        OpenRequests "open_requests": Get "/api/v1/requests", "peers" {
            /// Only those of this runtime; those of all runtimes when absent.
            query runtime: Filled<RuntimeId>,
            part page: Page,
        } -> 200 "The requests of all Pods" Listing<OpenRequest>;

        /// What this Pod's model would be sent now: its context. The same journal gives the same bytes.
        HistoryOf "history": Get at_pod!("/history"), "journal" {
            pod pod: PodRef,
        } -> 200 "The messages" History;

        /// What compacting the Pod now would drop and what it would keep. Changes nothing.
        PreviewCompaction "compaction_preview": Get at_pod!("/compact"), "journal" {
            pod pod: PodRef,
        } -> 200 "What it would do" Option<CompactionPreview>;

        /// Finds words in the journals of all Pods, of one runtime, or of one Pod; newest first.
        Search "search": Get "/api/v1/search", "lists" {
            /// The words to find; the last one also matches the beginning of a word.
            needed q: Option<String>,
            /// Only in this Pod's journal: `runtime_id/worker_id`.
            query pod: Filled<PodRef>,
            /// Only in the journals of this runtime.
            query runtime: Filled<RuntimeId>,
            /// `next` of the previous page.
            query after: Loose,
            /// The maximum number of items; 50 when absent, never more than 200.
            query limit: Limit<50, 200>,
        } -> 200 "One page of hits" Gathered<SearchHit>;

        /// Tokens and cost: in total, per Pod, per day (UTC), per tree and per pair; of all runtimes, or of one.
        Usage "usage": Get "/api/v1/usage", "lists" {
            /// Only of this runtime.
            query runtime: Filled<RuntimeId>,
        } -> 200 "What was used" UsageReport;

        /// Who did what, from where, and with what result.
        Audit "audit": Get "/api/v1/audit", "lists" {
            /// Only rows of this action, such as `input`.
            query action: Filled,
            /// Only rows with this result: `done`, `refused` or `failed`.
            query result: Filled,
            /// Only rows about this target; a Pod's is `runtime_id/worker_id`.
            query target: Filled,
            /// Only rows of this runtime's server.
            query runtime: Filled<RuntimeId>,
            /// `next` of the previous page.
            query after: Loose,
            /// The maximum number of items; 200 when absent, never more than 1,000.
            query limit: Limit<200, 1000>,
        } -> 200 "One page" Gathered<AuditRow>;

        /// The rules that stand: those of Pods, of at most 500 Pods per runtime, those of folders and those that apply
        /// everywhere. Rules of profiles and of the configuration are elsewhere.
        Rules "rules": Get "/api/v1/rules", "lists" {
            /// Only those of this runtime.
            query runtime: Filled<RuntimeId>,
            part page: Page,
        } -> 200 "The rules of each Pod in the order in which they are tried, then the shared ones, newest first" Gathered<RuleItem>;
    }

    server {
        /// The runtimes that this server reaches; never their addresses.
        Runtimes "runtimes": Get "/api/v1/runtimes", "runtimes" {
            part page: Page,
        } -> 200 "All of them" Listing<RuntimeView>;

        /// Which server this is. Other servers use it to check whether they can talk to it, and whether they know it already.
        WhoAreYou "about": Get "/api/v1/about", "runtimes" {} -> 200 "Its protocol, its name and the id of its database" About;

        /// One exchange with another yoi: the items it sends are accepted, and the items for it are the answer. It
        /// answers at once when there are items in either direction; otherwise it waits, for at most `wait_ms`. Each
        /// item is accepted once, however often it arrives.
        Link "exchange_link": Post "/api/v1/link", "runtimes" {
            body body: LinkExchange,
        } -> 200 "What was accepted, and the items for the caller" LinkAnswer;

        /// The model providers: what was found, with which models, and what is missing; never a key.
        ModelProviders "providers": Get "/api/v1/providers", "runtimes" {
            part page: Page,
        } -> 200 "All of them" Providers;

        /// The models of all providers, with what is known about each and from where. Suggestions only: any name may be used.
        Models "models": Get "/api/v1/models", "runtimes" {
            part page: Page,
        } -> 200 "All of them" Listing<ModelItem>;

        /// Asks a provider now for the list of its models; answers within 10 s, even when the provider does not.
        TestProvider "test_provider": Post "/api/v1/providers/{name}/test", "runtimes" {
            /// A provider's name
            path name: String,
        } -> 200 "How it answered; `is_ok` says whether it works" ProviderTest;

        /// Gives a provider its key and tries it at once by asking the vendor for the list of its models; answers within 10 s.
        ///
        /// If the vendor rejects the key or does not answer, that is an error with the vendor's words, and nothing is
        /// stored. The key is stored in the data folder, readable only by its owner, used from the next model call
        /// on, and never shown. A provider of this name in the configuration or the environment takes precedence; the
        /// error is then `name_taken`.
        SetKey "set_key": Put "/api/v1/providers/{name}/key", "runtimes" {
            /// A provider's name
            path name: String,
            body body: GiveKey,
        } -> 200 "The provider, which now works" ProviderView;

        /// Forgets the key that was given to a provider, and the provider with it.
        ForgetKey "forget_key": Delete "/api/v1/providers/{name}/key", "runtimes" {
            /// A provider's name
            path name: String,
        } -> 204 "It is gone" ();

        /// The agents that can answer in Pods: those of the configuration, and those known by name whose program is there. Never a
        /// command or what is in its environment.
        Agents "agents": Get "/api/v1/agents", "runtimes" {
            part page: Page,
        } -> 200 "All of them, by name" Listing<AgentItem>;

        /// The configured profiles: templates for new Pods.
        Profiles "profiles": Get "/api/v1/profiles", "runtimes" {
            part page: Page,
        } -> 200 "All of them, by name" Listing<ProfileView>;

        /// The walls around the commands of this server's own Pods.
        Walls "walls": Get "/api/v1/walls", "runtimes" {
            part page: Page,
        } -> 200 "Every wall, whether it is in place, and why" Listing<WallItem>;

        /// The tools, and what happens to a call that no rule matches.
        Tools "tools": Get "/api/v1/tools", "runtimes" {
            part page: Page,
        } -> 200 "All of them, by name" Listing<ToolDefault>;

        /// The configured MCP servers, whether each is there for the Pods that use it, and its tools. Never an address, a secret or an
        /// environment.
        McpServers "mcp_servers": Get "/api/v1/mcp", "mcp" {
            part page: Page,
        } -> 200 "All of them, by name" Listing<McpServerItem>;

        /// Ends the connections of an MCP server and its processes; the Pods that use it get new ones.
        RestartMcpServer "restart": Post "/api/v1/mcp/{name}/restart", "mcp" {
            /// The server's name
            path name: String,
        } -> 200 "The server's state" McpServerItem;

        /// What an MCP server's processes wrote on their standard error: the newest 64 KiB.
        McpServerLog "log": Get "/api/v1/mcp/{name}/log", "mcp" {
            /// The server's name
            path name: String,
        } -> 200 "Its log" McpLog;

        /// Begins a login to an MCP server that is reached at an address and wants one. A person continues at `url` in a browser, which
        /// comes back to `/mcp/oauth/callback/{name}` of this server; after that the Pods that use the server get new connections.
        LogInToMcpServer "log_in": Post "/api/v1/mcp/{name}/login", "mcp" {
            /// The server's name
            path name: String,
        } -> 200 "Where a person logs in" McpLogin;

        /// Forgets the login to an MCP server. The Pods that use it get new connections.
        LogOutOfMcpServer "log_out": Delete "/api/v1/mcp/{name}/login", "mcp" {
            /// The server's name
            path name: String,
        } -> 200 "The server afterwards" McpServerItem;

        /// The browsers that are logged in, most recently seen first; at most 200. Never a secret.
        Sessions "sessions": Get "/api/v1/sessions", "sessions" {
            part page: Page,
        } -> 200 "All of them" Listing<SessionView>;

        /// Ends a login. Its open pages get `unauthorized`.
        EndSession "end": Delete "/api/v1/sessions/{id}", "sessions" {
            /// The login's id
            path id: String,
        } -> 204 "It has ended" ();

        /// Ends every login except the caller's own; called with a token instead of a login, all of them.
        EndOtherSessions "end_others": Delete "/api/v1/sessions", "sessions" {} -> 204 "They have ended" ();

        /// Creates a code that logs one browser in, once and within a minute. This takes the token; a login cannot create another.
        MakeLoginCode "login_code": Post "/api/v1/login-codes", "sessions" {} -> 201 "The code, and where to use it" LoginCode;

        /// The ports that the Pod's commands listen on and those with an open preview, lowest first.
        Previews "previews": Get at_pod!("/previews"), "previews" {
            pod pod: PodRef,
        } -> 200 "The ports that can be shown, and those that are" Listing<Preview>;

        /// Opens a preview of a port of the Pod's commands, on an origin of its own. The address in the answer lets
        /// one browser in, once and within a minute; opening the preview again gives another address.
        ///
        /// Nothing has to listen on the port yet. A preview is open until it is closed, or until the server or the
        /// Pod ends.
        OpenPreview "open": Post at_pod!("/previews"), "previews" {
            pod pod: PodRef,
            body body: PreviewCommand,
        } -> 200 "It is open" Preview;

        /// Closes a preview: its address no longer shows anything, and open connections through it end.
        ClosePreview "close": Delete at_pod!("/previews/{port}"), "previews" {
            pod pod: PodRef,
            path port: u16,
        } -> 204 "It is closed" ();
    }
}

impl Command {
    /// The runtime that carries it out.
    pub fn runtime_id(&self) -> RuntimeId {
        match (self, self.pod()) {
            (Self::Create(Create { body: CreatePod { runtime_id: Some(runtime_id), .. } }), _) => runtime_id.clone(),
            (Self::RemoveRule(remove), _) => RuleItem::place_of(&remove.id).0,
            (_, Some(pod)) => pod.runtime_id.clone(),
            (_, None) => RuntimeId::local(),
        }
    }

    /// Its name in the audit.
    pub fn action(&self) -> &'static str {
        match self {
            Self::Patch(patch) if patch.body.name.is_none() => "settings",
            command => command.usual_action(),
        }
    }

    /// Its target, as named in the audit.
    pub fn target(&self) -> String {
        let (pod, other) = match self {
            Self::Create(create) => return create.body.name.to_string(),
            Self::Import(import) => return import.body.name.to_string(),
            Self::Fork(fork) => (&fork.pod, fork.body.name.to_string()),
            Self::Introduce(introduce) => (&introduce.pod, introduce.body.target.clone()),
            Self::Unlink(unlink) => (&unlink.pod, unlink.peer.to_string()),
            Self::DecideRequest(decide) => (&decide.pod, decide.request_id.clone()),
            Self::SendMessage(send) => (&send.pod, send.body.to.clone()),
            Self::StopCommand(stop) => (&stop.pod, stop.id.clone()),
            Self::DecideHeld(decide) => (&decide.pod, decide.message_id.clone()),
            Self::RemoveRule(remove) => return remove.id.chars().take(TARGET_CHARS_MAX).collect(),
            one => return one.pod().map(PodRef::to_string).unwrap_or_default(),
        };
        let other: String = other.chars().take(TARGET_CHARS_MAX).collect();
        format!("{pod} {other}")
    }
}

/// All Pods, starting with the first page.
impl Default for Pods {
    fn default() -> Self {
        let (name, state, q, after) = Default::default();
        Self { name, state, q, after, limit: Limit::default() }
    }
}

/// The newest rows.
impl Default for Audit {
    fn default() -> Self {
        let (action, result, target, runtime, after) = Default::default();
        Self { action, result, target, runtime, after, limit: Limit::default() }
    }
}

impl Search {
    /// The newest matches of these words, in all journals.
    pub fn of(words: impl Into<String>) -> Self {
        let (pod, runtime, after) = Default::default();
        Self { q: Some(words.into()), pod, runtime, after, limit: Limit::default() }
    }
}

impl ControlVerb {
    /// This verb as a command on a Pod.
    pub fn of(self, pod: PodRef) -> Command {
        let body = NoFields {};
        match self {
            Self::Pause => Pause { pod, body }.into(),
            Self::Resume => Resume { pod, body }.into(),
            Self::Cancel => Cancel { pod, body }.into(),
            Self::Stop => Stop { pod, body }.into(),
            Self::Restore => Restore { pod, body: RestoreCommand::default() }.into(),
            Self::Compact => Compact { pod, body }.into(),
            Self::Retry => Retry { pod, body }.into(),
        }
    }
}
