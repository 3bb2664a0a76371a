//! The folded state of a Pod.

use protocol::{
    AgentOption, Cost, Currency, Event, ModelName, PeerLabel, PlanEntry, PodRef, PodState, Seq, Timestamp, ToolBy,
    Trigger, Usage,
    tool::{AGENT_TOOLS, NETWORK},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PodSpec;

/// How many files are remembered whose content a caller has seen; beyond that the oldest is forgotten and has to be
/// read again.
pub(crate) const SEEN_FILES_MAX: usize = 128;

/// How many background commands are remembered, and how many tasks: far more than a Pod can have, for journals from
/// elsewhere.
pub(crate) const BACKGROUND_MAX: usize = 64;
pub(crate) const TASKS_MAX: usize = 200;

/// In the id of a network approval: separates the call's id from the approval's number.
pub(crate) const WAY_OUT: &str = ".out";
/// In the place of a call's id: the Pod's agent itself asks for network access. No call and no MCP server has this name.
pub const AGENT_WAY: &str = "~agent";
/// The same for a question that a tool's server or the Pod's agent asks in the middle of a call.
pub(crate) const ASK: &str = ".ask";

/// Returns the id of a question that a tool's server asks. The number distinguishes the questions of one call.
pub fn ask_id(call_id: &str, number: u64) -> String {
    format!("{call_id}{ASK}{number}")
}

/// The prefix of the ids under which an agent asks yoi for tools. No call of the agent's own has such an id.
pub const WANTED: &str = "yoi-";

/// The source of alerts about what a provider does not know.
pub(crate) const PROVIDER: &str = "provider";

/// The result of folding a journal. Small: the conversation itself stays in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pod {
    /// The position of the newest record that is folded in.
    pub head: Seq,
    pub state: PodState,
    pub state_reason: Option<String>,
    /// The current run.
    pub run: Option<Run>,
    /// The number of the newest run; run ids are made from it.
    pub runs: u64,
    /// The newest run ended before its answer did, so there is something to resume.
    pub resumable: bool,
    /// Where the text or reasoning begins with which the conversation ends, if its run did not end normally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_answer: Option<Seq>,
    /// The conversation ends with an answer, or is empty. False where that is not known: after a rewind or a compaction,
    /// and in what an older yoi has stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
    /// Something that the current answer does not know came in while it was given; it goes after that answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_late_mail: bool,
    /// How many blocks were begun; block and call ids are made from it.
    pub blocks: u64,
    /// Blocks without a finished record.
    pub open_blocks: Vec<OpenBlock>,
    /// Calls of the model without a result.
    pub calls: Vec<OpenCall>,
    /// Calls of a person, or of the Pod's agent through our MCP server, without a result; not part of the conversation.
    #[serde(default)]
    pub operator_calls: Vec<OpenCall>,
    /// Commands that were started in the background and of whose end nothing is recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<BackgroundCall>,
    /// The task list of its model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<PlanEntry>,
    /// Open approvals.
    pub approvals: Vec<OpenApproval>,
    /// If the context is being compacted outside of a run: the state to return to afterwards.
    #[serde(default)]
    pub compacting_from: Option<PodState>,
    /// The kind of mail that has come in since the model was last asked, if any.
    #[serde(default)]
    pub unread_mail: Option<Trigger>,
    /// Runs that began without an event of the conversation and received mail before their answer: where they began,
    /// and their number. Otherwise nobody could tell later what their model had seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bare_runs: Vec<(Seq, u64)>,
    /// Automatic steps between the newest run and a person: 0 if a person began it.
    #[serde(default)]
    pub hops: u32,
    /// Peer messages that the model has not been asked with, oldest first.
    #[serde(default)]
    pub unread_messages: Vec<PeerLetter>,
    /// Peer messages that it was asked with in the current run.
    #[serde(default)]
    pub read_messages: Vec<PeerLetter>,
    /// File contents that a caller has seen, oldest first.
    #[serde(default)]
    pub seen_files: Vec<SeenFile>,
    /// The position up to which each child's output was read.
    #[serde(default)]
    pub read_outputs: Vec<ReadOutput>,
    /// The tokens of all runs, and the context of the newest model call.
    pub usage: Usage,
    /// Why the newest run failed, until the next one starts.
    pub failure: Option<String>,
    /// If the current context does not fit the model: the most that does, in tokens by our own estimate.
    #[serde(default)]
    pub fits: Option<u64>,
    /// If an overflow is only suspected: what the provider said instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<String>,
    /// The model's context limit as learned from an overflow, in tokens; 0 if there was none.
    #[serde(default)]
    pub learnt_limit: u64,
    /// The usage limit that its newest run ran into, until the next one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The model that replaces its own one, as long as the run that it stepped in for is in progress or can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<ModelName>,
    /// Budget alerts that have been raised, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_alerts: Vec<String>,
    /// Provider alerts that have been raised, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_alerts: Vec<String>,
    /// The number of runs that ended without a complete answer since the last one that had one.
    #[serde(default)]
    pub failures: u32,
    /// The session with the agent, if an agent answers in the Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// What is known about the session with a Pod's agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The agent was sent everything up to this record …
    #[serde(default)]
    pub asked_to: Seq,
    /// … and has begun to answer everything up to this one.
    #[serde(default)]
    pub heard_to: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What the agent last offered for its client to choose.
    #[serde(default)]
    pub offers: Value,
    /// The agent's newest plan.
    #[serde(default)]
    pub plan: Value,
    /// What the session has cost, as far as the agent reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// A usage limit of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub until: Timestamp,
    /// The run that reached it had itself resumed after a limit, so it does not resume by itself again.
    pub is_again: bool,
}

/// The open run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub trigger: Trigger,
    /// What this run has used so far.
    pub usage: Usage,
    /// Nothing has been requested yet: what comes in now belongs to its beginning.
    #[serde(default)]
    pub is_fresh: bool,
    /// The number of blocks begun before it. As long as there are no more, the model has produced nothing.
    #[serde(default)]
    pub blocks_before: u64,
    /// The position of the person's message that began it.
    #[serde(default)]
    pub input_seq: Option<Seq>,
    /// Where it began, as long as no event of the conversation shows that it has.
    #[serde(default)]
    pub bare_since: Option<Seq>,
    /// How often all calls of an answer got their results, so that the model was to be asked again.
    #[serde(default)]
    pub rounds: u32,
    /// The call that failed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<Failing>,
    /// How often the request was too long since the last complete answer.
    #[serde(default)]
    pub overflows: u32,
    /// How often hooks at its end have sent the model on.
    #[serde(default)]
    pub hook_turns: u32,
}

/// A call of the model that failed, and in how many consecutive answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    pub name: String,
    pub arguments: Value,
    pub times: u32,
    /// The answer that it was in, as a value of [`Run::rounds`].
    pub round: u32,
}

/// A file whose content a caller has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    pub by: ToolBy,
    pub path: String,
    pub sha256: String,
}

/// A peer's message, on its way to being read and answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerLetter {
    pub message_id: String,
    pub from: PeerLabel,
    pub hops: u32,
    /// Its position in the journal.
    pub seq: Seq,
}

/// The position up to which a child's output was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOutput {
    pub pod: PodRef,
    pub seq: Seq,
}

/// A block being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenBlock {
    pub id: String,
    pub kind: BlockKind,
    /// Everything so far; an interruption closes the block with it.
    pub text: String,
    /// Where its chunks begin, for folding.
    pub first_seq: Seq,
    /// The tool being called, while its arguments arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a block contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    Text,
    Reasoning,
    /// Arguments of the n-th call of the current answer.
    ToolArgs(usize),
    ToolOutput,
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    pub call_id: String,
    pub block: String,
    pub name: String,
    pub arguments: Value,
    /// Made by the Pod's agent through our MCP server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_agents: bool,
    /// A person allowed it while the Pod was paused: it runs when the Pod resumes.
    #[serde(default)]
    pub is_allowed: bool,
    /// When it began to run, as far as the journal tells: at once, or when a person allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<Timestamp>,
    /// When it last wrote something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote_at: Option<Timestamp>,
    /// The id that the agent uses, for a call that it makes during its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_call_id: Option<String>,
    /// What the agent asked about this call when a person allowed it: the arguments of its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<Value>,
}

impl OpenCall {
    /// Returns the agent's id for the call if yoi runs it and the agent waits for the outcome.
    pub fn wanted(&self) -> Option<&str> {
        self.agent_call_id.as_deref().filter(|id| id.starts_with(WANTED))
    }

    /// How long it ran, as far as the journal tells: until its last output.
    pub(crate) fn ran_ms(&self) -> u64 {
        let ran =
            self.began_at.zip(self.wrote_at).map(|(began, wrote)| wrote.as_millisecond() - began.as_millisecond());
        ran.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0)
    }
}

/// A command that a call has started in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundCall {
    pub call_id: String,
    pub command: String,
    pub by: ToolBy,
}

/// An approval that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenApproval {
    pub id: String,
    pub call_id: String,
    pub tool: String,
    pub arguments: Value,
    /// The answers that an agent offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
}

impl OpenApproval {
    /// Returns the running call during which this is asked: about network access, by a tool's server, or by the Pod's
    /// agent. `None` if a call is waiting to begin.
    pub fn asker(&self) -> Option<&str> {
        let between = if self.tool == NETWORK { WAY_OUT } else { ASK };
        self.id.rsplit_once(between).map(|(call_id, _)| call_id)
    }

    /// Returns the form of what a tool's server asks for.
    pub fn form(&self) -> Option<&Value> {
        self.asker().filter(|_| self.tool != NETWORK && !self.is_by_agent())?;
        self.arguments.get("schema")
    }

    /// For a question that an agent asks in the middle of a call, returns that call and the agent's id for the
    /// question.
    pub fn agents_ask(&self) -> Option<(&str, &str)> {
        self.id.rsplit_once(ASK).filter(|_| self.is_by_agent())
    }

    /// What an agent does by itself is named after its kind; no tool that yoi runs has such a name.
    fn is_by_agent(&self) -> bool {
        AGENT_TOOLS.iter().any(|known| known.name == self.tool)
    }
}

/// An event with the run it belongs to, before it has a position in the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub run_id: Option<String>,
    pub event: Event,
}

impl Default for Pod {
    fn default() -> Self {
        Self {
            head: Seq(0),
            state: PodState::Idle,
            state_reason: None,
            run: None,
            runs: 0,
            resumable: false,
            cut_answer: None,
            is_answered: true,
            has_late_mail: false,
            blocks: 0,
            open_blocks: Vec::new(),
            calls: Vec::new(),
            operator_calls: Vec::new(),
            background: Vec::new(),
            tasks: Vec::new(),
            approvals: Vec::new(),
            compacting_from: None,
            unread_mail: None,
            bare_runs: Vec::new(),
            hops: 0,
            unread_messages: Vec::new(),
            read_messages: Vec::new(),
            seen_files: Vec::new(),
            read_outputs: Vec::new(),
            usage: Usage::default(),
            failure: None,
            fits: None,
            suspicion: None,
            learnt_limit: 0,
            limit: None,
            stand_in: None,
            budget_alerts: Vec::new(),
            provider_alerts: Vec::new(),
            failures: 0,
            session: None,
        }
    }
}

impl Pod {
    /// True if a person has to look: there is an open approval, the last run failed, or a crash interrupted it.
    pub fn needs_you(&self) -> bool {
        !self.approvals.is_empty()
            || self.failure.is_some()
            || (self.state == PodState::Paused && self.state_reason.is_some())
    }

    /// True if the Pod is at rest and a retry would be refused: every message has its answer, or calls wait for the Pod
    /// to resume.
    pub fn has_nothing_to_retry(&self) -> bool {
        let is_at_rest = matches!(self.state, PodState::Idle | PodState::Paused);
        is_at_rest && (!self.calls.is_empty() || (self.is_answered && self.cut_answer.is_none()))
    }

    /// True if the run waits for a person. Approvals for a person's own command hold up no run.
    pub(crate) fn is_asking(&self) -> bool {
        self.approvals.iter().any(|open| !self.is_of_operator(open))
    }

    /// True if a call of the model is running or has run: it does not wait for an approval, nor for the Pod to resume.
    pub(crate) fn has_begun(&self, call: &OpenCall) -> bool {
        let is_asked = self.approvals.iter().any(|open| open.call_id == call.call_id && open.asker().is_none());
        let waits_for_the_pod = call.is_allowed && self.is_paused();
        !(is_asked || waits_for_the_pod)
    }

    /// True while a run is in progress, whether or not it waits for a person.
    pub fn is_working(&self) -> bool {
        matches!(self.state, PodState::Running | PodState::Waiting) && self.run.is_some()
    }

    /// True if the approval is for a call that a person runs by hand, or for one of the Pod's agent.
    pub(crate) fn is_of_operator(&self, open: &OpenApproval) -> bool {
        let asker = open.asker().unwrap_or(&open.call_id);
        self.operator_calls.iter().any(|call| call.call_id == asker)
    }

    /// The state as people see it: an idle Pod counts as waiting while a command run by hand needs an approval.
    pub fn shown_state(&self) -> PodState {
        match self.state {
            PodState::Idle if !self.approvals.is_empty() => PodState::Waiting,
            state => state,
        }
    }

    /// When it resumes by itself after a usage limit; `None` if a person has to resume it.
    pub fn resumes_at(&self, spec: &PodSpec) -> Option<Timestamp> {
        let limit = self.limit.filter(|limit| !limit.is_again && spec.auto_resume && self.is_paused())?;
        Some(limit.until)
    }

    /// True if a restart has to recover this Pod.
    pub fn is_open(&self) -> bool {
        let has_calls = !self.operator_calls.is_empty() || !self.background.is_empty();
        self.run.is_some() || self.compacting_from.is_some() || has_calls
    }

    /// True during a run in which the model answers or one of its tool calls runs.
    pub(crate) fn is_answering(&self) -> bool {
        self.state == PodState::Running && self.run.is_some()
    }

    /// Returns whether pieces of an answer are accepted: a model's while it is answering, an agent's also while a
    /// person is being asked.
    pub(crate) fn takes_pieces(&self) -> bool {
        self.is_answering() || (self.has_agent() && self.state == PodState::Waiting && self.run.is_some())
    }

    /// True once an agent answers here: it has a session, or asks for network access before it has one.
    pub(crate) fn has_agent(&self) -> bool {
        self.session.is_some() || self.approvals.iter().any(|open| open.asker() == Some(AGENT_WAY))
    }

    /// Finds an open call by the agent's id for it.
    pub(crate) fn agent_call(&self, id: &str) -> Option<&OpenCall> {
        self.calls.iter().find(|call| call.agent_call_id.as_deref() == Some(id))
    }

    /// True if it only continues when a person says so; its context may be compacted meanwhile.
    pub(crate) fn is_paused(&self) -> bool {
        self.compacting_from.unwrap_or(self.state) == PodState::Paused
    }

    /// The newest block that the model itself is writing.
    pub(crate) fn model_block(&self) -> Option<&OpenBlock> {
        self.open_blocks.iter().rev().find(|open| open.kind != BlockKind::ToolOutput)
    }

    /// Automatic steps between a person and what this call does: none if a person makes it by hand, whatever began the
    /// newest run.
    pub fn hops_of_call(&self, call_id: &str) -> u32 {
        match self.operator_calls.iter().any(|call| call.call_id == call_id && !call.is_agents) {
            true => 0,
            false => self.hops,
        }
    }

    /// The position up to which this Pod's output was read.
    pub fn output_read(&self, pod: &PodRef) -> Seq {
        self.read_outputs.iter().find(|read| read.pod == *pod).map_or(Seq(0), |read| read.seq)
    }

    /// The id of the current or newest run.
    pub fn run_id(&self) -> Option<String> {
        (self.runs > 0).then(|| format!("run-{}", self.runs))
    }
}
