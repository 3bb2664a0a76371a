//! The folded state of a Pod.

use protocol::{
    AgentOption, Cost, Currency, Event, ModelName, PeerLabel, PodRef, PodState, Seq, Timestamp, ToolBy, Trigger, Usage,
    tool::NETWORK,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::PodSpec;

/// Files whose content a caller is known to have seen; beyond it the oldest is forgotten, and has to be read again.
pub(crate) const SEEN_FILES_MAX: usize = 128;

/// Between a call's id and the place of its question in the id of such a question.
pub(crate) const WAY_OUT: &str = ".out";

/// The same, of what an agent or a server asks in the midst of a call.
pub(crate) const ASK: &str = ".ask";

/// What the ids of what an agent asks yoi for begin with. No call of the agent's own has such an id.
pub const WANTED: &str = "yoi-";

/// Whose alerts are of what a provider does not know.
pub(crate) const PROVIDER: &str = "provider";

/// What a journal comes to. Small: the conversation itself stays in the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pod {
    /// Position of the newest record that is folded in.
    pub head: Seq,
    pub state: PodState,
    pub state_reason: Option<String>,
    /// The run that goes on now.
    pub run: Option<Run>,
    /// Ordinal of the newest run; run ids come from it.
    pub runs: u64,
    /// The newest run ended before its answer did, so `resume` has something to go on with.
    pub resumable: bool,
    /// How many blocks were begun; block and call ids come from it.
    pub blocks: u64,
    /// Blocks whose finished record has not come.
    pub open_blocks: Vec<OpenBlock>,
    /// Calls of the model without a result.
    pub calls: Vec<OpenCall>,
    /// Calls of a person, or of the Pod's agent through our MCP server, without a result; no part of the conversation.
    #[serde(default)]
    pub operator_calls: Vec<OpenCall>,
    /// Questions without an answer.
    pub approvals: Vec<OpenApproval>,
    /// The context is being compacted outside of a run; the state that comes back afterwards.
    #[serde(default)]
    pub compacting_from: Option<PodState>,
    /// Something came in that the model has not been asked with yet, and what it was.
    #[serde(default)]
    pub unread_mail: Option<Trigger>,
    /// Runs that began without an event of the conversation, and in which something came in before their answer: where
    /// they begin, and their ordinal. Without it nobody could tell later what their model had seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bare_runs: Vec<(Seq, u64)>,
    /// Automatic steps between the newest run and a person: 0 when a person began it.
    #[serde(default)]
    pub hops: u32,
    /// Messages of peers that the model has not been asked with, oldest first.
    #[serde(default)]
    pub unread_messages: Vec<PeerLetter>,
    /// Those that it was asked with in the present run.
    #[serde(default)]
    pub read_messages: Vec<PeerLetter>,
    /// Contents of files that a caller has seen, oldest first.
    #[serde(default)]
    pub seen_files: Vec<SeenFile>,
    /// How far the output of each child was read.
    #[serde(default)]
    pub read_outputs: Vec<ReadOutput>,
    /// Tokens of all runs; context of the newest model call.
    pub usage: Usage,
    /// Why the newest run failed, until the next one starts.
    pub failure: Option<String>,
    /// The context as it stands does not fit the model; so many tokens do at most, by our own estimate.
    #[serde(default)]
    pub fits: Option<u64>,
    /// What the provider said instead, when nobody said that the context does not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspicion: Option<String>,
    /// The model's context as an overflow taught it, in tokens; 0 when none did.
    #[serde(default)]
    pub learnt_limit: u64,
    /// The usage limit that its newest run came to, until the next one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What answers in the place of its own model, while the run that it stepped in for goes on or can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<ModelName>,
    /// What was told of budgets that come to their end, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_alerts: Vec<String>,
    /// What was told of things that its providers do not know, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_alerts: Vec<String>,
    /// Runs since the last whole answer that ended without one.
    #[serde(default)]
    pub failures: u32,
    /// The session with its agent, where an agent answers in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
}

/// What is known of the session with a Pod's agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Up to here the agent was sent what was said …
    #[serde(default)]
    pub asked_to: Seq,
    /// … and up to here it has begun to answer.
    #[serde(default)]
    pub heard_to: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// What it lets its client choose, as it said last.
    #[serde(default)]
    pub offers: Value,
    /// Its newest plan.
    #[serde(default)]
    pub plan: Value,
    /// What it has cost, as far as the agent told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<Currency>,
}

/// A usage limit of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub until: Timestamp,
    /// The run that came to it had begun by itself, after a limit. It does not go on by itself once more.
    pub is_again: bool,
}

/// The open run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub id: String,
    pub trigger: Trigger,
    /// What this run used so far.
    pub usage: Usage,
    /// Nothing has been asked yet: what comes in now belongs to its beginning.
    #[serde(default)]
    pub is_fresh: bool,
    /// Blocks that were begun before it. While there are no more, the model has given nothing.
    #[serde(default)]
    pub blocks_before: u64,
    /// Where the person's message is that began it.
    #[serde(default)]
    pub input_seq: Option<Seq>,
    /// Where it began, while no event of the conversation tells that it has.
    #[serde(default)]
    pub bare_since: Option<Seq>,
    /// How often all calls of an answer had their results, so that the model was to be asked again.
    #[serde(default)]
    pub rounds: u32,
    /// The call that failed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<Failing>,
    /// How often the question was too long since an answer was whole.
    #[serde(default)]
    pub overflows: u32,
}

/// A call of the model that failed, and how often in answers behind each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    pub name: String,
    pub arguments: Value,
    pub times: u32,
    /// The answer that it was in, by [`Run::rounds`].
    pub round: u32,
}

/// A file whose content a caller has seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    pub by: ToolBy,
    pub path: String,
    pub sha256: String,
}

/// A message of a peer, on its way to being read and answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerLetter {
    pub message_id: String,
    pub from: PeerLabel,
    pub hops: u32,
    /// Where it is in the journal.
    pub seq: Seq,
}

/// How far a child's output was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOutput {
    pub pod: PodRef,
    pub seq: Seq,
}

/// A block that is being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenBlock {
    pub id: String,
    pub kind: BlockKind,
    /// Everything so far: an interruption closes the block with it.
    pub text: String,
    /// Where its chunks begin, for folding.
    pub first_seq: Seq,
    /// The tool that is being called, while its arguments come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockKind {
    Text,
    Reasoning,
    /// Arguments of the n-th call of the present answer.
    ToolArgs(usize),
    ToolOutput,
}

/// A call whose result the model waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenCall {
    pub call_id: String,
    pub block: String,
    pub name: String,
    pub arguments: Value,
    /// The Pod's agent made it through our MCP server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_agents: bool,
    /// A person allowed it while the Pod was paused: it runs when the Pod goes on.
    #[serde(default)]
    pub is_allowed: bool,
    /// When it began to run, as far as the journal tells: what was called runs at once, or when a person allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_at: Option<Timestamp>,
    /// When it wrote something last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote_at: Option<Timestamp>,
    /// By which an agent knows it, that makes it in the midst of its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_call_id: Option<String>,
}

impl OpenCall {
    /// The agent waits for what comes of it: yoi runs it.
    pub fn wanted(&self) -> Option<&str> {
        self.agent_call_id.as_deref().filter(|id| id.starts_with(WANTED))
    }

    /// How long it ran, as far as the journal tells: until the last thing that it wrote.
    pub(crate) fn ran_ms(&self) -> u64 {
        let ran =
            self.began_at.zip(self.wrote_at).map(|(began, wrote)| wrote.as_millisecond() - began.as_millisecond());
        ran.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0)
    }
}

/// A question that waits for a person.
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
    /// Of a question about a way out to the network: the running call that wants it.
    pub fn wants_out(&self) -> Option<&str> {
        let (call_id, _) = self.id.rsplit_once(WAY_OUT).filter(|_| self.tool == NETWORK)?;
        Some(call_id)
    }

    /// Of what an agent asks in the midst of a call: that call, and by what the agent knows its question.
    pub fn agents_ask(&self) -> Option<(&str, &str)> {
        self.id.rsplit_once(ASK)
    }

    /// The running call that asks; none where a call waits to begin.
    pub fn asker(&self) -> Option<&str> {
        self.wants_out().or_else(|| self.agents_ask().map(|(call_id, _)| call_id))
    }
}

/// An event with the run it belongs to, before it has a place in the journal.
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
            blocks: 0,
            open_blocks: Vec::new(),
            calls: Vec::new(),
            operator_calls: Vec::new(),
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
    /// A person has to look: a question is open, the last run failed, or a crash cut it.
    pub fn needs_you(&self) -> bool {
        !self.approvals.is_empty()
            || self.failure.is_some()
            || (self.state == PodState::Paused && self.state_reason.is_some())
    }

    /// The run waits for a person. What a person's own command asks holds no run up.
    pub(crate) fn is_asking(&self) -> bool {
        self.approvals.iter().any(|open| !self.is_of_operator(open))
    }

    /// A call of the model runs, or has run: no person is asked for it, and it does not wait for the Pod to go on.
    pub(crate) fn has_begun(&self, call: &OpenCall) -> bool {
        let is_asked = self.approvals.iter().any(|open| open.call_id == call.call_id && open.asker().is_none());
        let waits_for_the_pod = call.is_allowed && self.is_paused();
        !(is_asked || waits_for_the_pod)
    }

    /// A call that a person made by hand asks, or one of the Pod's agent is asked for.
    pub(crate) fn is_of_operator(&self, open: &OpenApproval) -> bool {
        let asker = open.asker().unwrap_or(&open.call_id);
        self.operator_calls.iter().any(|call| call.call_id == asker)
    }

    /// As people see it: one at rest waits while a command asks that somebody runs by hand.
    pub fn shown_state(&self) -> PodState {
        match self.state {
            PodState::Idle if !self.approvals.is_empty() => PodState::Waiting,
            state => state,
        }
    }

    /// When it goes on by itself after a usage limit; none when a person has to say so.
    pub fn resumes_at(&self, spec: &PodSpec) -> Option<Timestamp> {
        let limit = self.limit.filter(|limit| !limit.is_again && spec.auto_resume && self.is_paused())?;
        Some(limit.until)
    }

    /// A restart has to look at this Pod.
    pub fn is_open(&self) -> bool {
        self.run.is_some() || self.compacting_from.is_some() || !self.operator_calls.is_empty()
    }

    /// A run goes on in which the model answers, or a tool that it called runs.
    pub(crate) fn is_answering(&self) -> bool {
        self.state == PodState::Running && self.run.is_some()
    }

    /// Pieces of an answer are taken: a model's while it is not asked for anything, an agent's also while it waits for a person.
    pub(crate) fn takes_pieces(&self) -> bool {
        self.is_answering() || (self.session.is_some() && self.state == PodState::Waiting && self.run.is_some())
    }

    /// An open call, by the id that its agent knows.
    pub(crate) fn agent_call(&self, id: &str) -> Option<&OpenCall> {
        self.calls.iter().find(|call| call.agent_call_id.as_deref() == Some(id))
    }

    /// It goes on when a person says so, and no earlier; its context may be compacted meanwhile.
    pub(crate) fn is_paused(&self) -> bool {
        self.compacting_from.unwrap_or(self.state) == PodState::Paused
    }

    /// The newest block that the model itself is writing.
    pub(crate) fn model_block(&self) -> Option<&OpenBlock> {
        self.open_blocks.iter().rev().find(|open| open.kind != BlockKind::ToolOutput)
    }

    /// Automatic steps between a person and what this call does: none when a person makes it by hand, whatever began the
    /// newest run.
    pub fn hops_of_call(&self, call_id: &str) -> u32 {
        match self.operator_calls.iter().any(|call| call.call_id == call_id && !call.is_agents) {
            true => 0,
            false => self.hops,
        }
    }

    /// How far the output of this Pod was read.
    pub fn output_read(&self, pod: &PodRef) -> Seq {
        self.read_outputs.iter().find(|read| read.pod == *pod).map_or(Seq(0), |read| read.seq)
    }

    /// Id of the run that goes on, or of the newest one.
    pub fn run_id(&self) -> Option<String> {
        (self.runs > 0).then(|| format!("run-{}", self.runs))
    }
}
