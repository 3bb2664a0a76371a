//! A Pod's row as clients see it.

use pod::{Pod, PodSpec};
use pod_store::{ChildRow, InboxRow, PodRow};
use protocol::{
    AgentView, ChildView, PeerLabel, PodDetail, PodLabel, PodRef, PodState, PodSummary, QueuedInput, Relations,
    RuntimeId, ScopeRule, Segment,
};

use crate::git;

/// The most bytes of text shown of all queued inputs together,
const WAITING_BYTES_MAX: usize = 64 * 1024;
/// and of each of them in any case.
const WAITING_BYTES_EACH: usize = 1_024;

/// The JSON parts of a row, parsed.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) spec: PodSpec,
    pub(crate) pod: Pod,
}

/// Parses a row's spec and checkpoint. The error is a sentence for `state_reason`.
pub(crate) fn open(row: &PodRow) -> Result<Opened, String> {
    let spec = serde_json::from_str(&row.spec).map_err(|error| format!("its recipe cannot be read: {error}"))?;
    let pod = serde_json::from_str(&row.checkpoint).map_err(|error| format!("its state cannot be read: {error}"))?;
    Ok(Opened { spec, pod })
}

pub(crate) fn pod_ref(row: &PodRow) -> PodRef {
    PodRef::new(RuntimeId::local(), row.worker_id.clone())
}

/// A Pod in a list. One that cannot be read is shown as broken and does not affect the others.
pub(crate) fn summary(row: &PodRow) -> PodSummary {
    match open(row) {
        Ok(opened) => healthy(row, &opened),
        Err(reason) => broken(row, reason),
    }
}

fn healthy(row: &PodRow, Opened { spec, pod }: &Opened) -> PodSummary {
    PodSummary {
        pod: pod_ref(row),
        name: row.name.clone(),
        state: pod.shown_state(),
        state_reason: pod.state_reason.clone(),
        provider: spec.provider.clone(),
        model: model_of(spec, pod),
        agent: spec.agent.clone(),
        cwd: spec.cwd.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        head_seq: row.head,
        activity: activity(pod),
        needs_you: pod.needs_you(),
        nothing_to_retry: pod.has_nothing_to_retry(),
        unread: row.unread,
        queued_count: row.queued,
        relations: relations(row),
        usage: pod.usage,
        budget: spec.budget,
        git: git::listed(spec, &row.worker_id),
    }
}

/// Returns what answers. For an agent that is the model that it reports, or else the requested one, or else the agent's
/// name.
fn model_of(spec: &PodSpec, pod: &Pod) -> String {
    let Some(agent) = &spec.agent else { return spec.model.clone() };
    let said = pod.session.as_ref().and_then(|session| session.offers.get("model")?.as_str());
    let asked = Some(spec.model.as_str()).filter(|model| !model.is_empty());
    said.or(asked).unwrap_or(agent).to_owned()
}

/// Returns what is known about the session with a Pod's agent.
fn session(spec: &PodSpec, pod: &Pod) -> Option<AgentView> {
    spec.agent.as_ref()?;
    let session = pod.session.clone().unwrap_or_default();
    Some(AgentView {
        title: session.title,
        version: session.version,
        confined: false,
        beyond: Vec::new(),
        mode: session.mode.or_else(|| spec.agent_mode.clone()),
        offers: serde_json::from_value(session.offers).unwrap_or_default(),
        plan: serde_json::from_value(session.plan).unwrap_or_default(),
    })
}

fn broken(row: &PodRow, reason: String) -> PodSummary {
    PodSummary {
        pod: pod_ref(row),
        name: row.name.clone(),
        state: PodState::Broken,
        state_reason: Some(reason),
        provider: String::new(),
        model: String::new(),
        agent: None,
        cwd: String::new(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        head_seq: row.head,
        activity: None,
        needs_you: true,
        nothing_to_retry: false,
        unread: row.unread,
        queued_count: row.queued,
        relations: relations(row),
        usage: protocol::Usage::default(),
        budget: None,
        git: None,
    }
}

fn relations(row: &PodRow) -> Relations {
    let parent = row.parent.as_ref().map(|parent| PodRef::new(RuntimeId::local(), parent.worker_id.clone()));
    Relations { parent, children: row.children, peers: row.peers }
}

/// How records name this Pod.
pub(crate) fn label(row: &PodRow) -> PodLabel {
    PodLabel { pod: pod_ref(row), name: row.name.clone() }
}

/// How records name a peer.
pub(crate) fn peer_label(pod: &PodLabel) -> PeerLabel {
    PeerLabel { runtime_id: pod.pod.runtime_id.clone(), worker_id: pod.pod.worker_id.clone(), name: pod.name.clone() }
}

/// What is lent to a child now; nothing if it was taken back.
pub(crate) fn lent(child: &ChildRow) -> Vec<ScopeRule> {
    if child.is_lent { lent_last(child) } else { Vec::new() }
}

/// What was last lent to a child, whether it is still lent or not.
pub(crate) fn lent_last(child: &ChildRow) -> Vec<ScopeRule> {
    serde_json::from_str(&child.scope).unwrap_or_else(|error| {
        tracing::error!(%error, child = %child.pod.name, "what is lent to a Pod cannot be read");
        Vec::new()
    })
}

/// What a Pod is doing now, as a short text.
fn activity(pod: &Pod) -> Option<String> {
    match pod.shown_state() {
        PodState::Running if pod.compacting_from.is_some() => Some("compacting its context".to_owned()),
        PodState::Running => Some(match pod.calls.first() {
            Some(call) => format!("running {}", in_short(&call.name, &call.arguments)),
            None => "answering".to_owned(),
        }),
        PodState::Waiting => {
            pod.approvals.first().map(|open| format!("asks: {}", in_short(&open.tool, &open.arguments)))
        }
        _ => pod.failure.as_ref().map(|failure| format!("failed: {failure}")),
    }
}

/// A call in a few words: the tool and its main argument.
fn in_short(tool: &str, arguments: &serde_json::Value) -> String {
    const ARGUMENT_CHARS_MAX: usize = 60;
    let argument = pod::main_argument(tool, arguments).lines().next().unwrap_or_default();
    match argument.char_indices().nth(ARGUMENT_CHARS_MAX) {
        _ if argument.is_empty() => tool.to_owned(),
        Some((at, _)) => format!("{tool} {}…", &argument[..at]),
        None => format!("{tool} {argument}"),
    }
}

pub(crate) fn detail(row: &PodRow, inbox: Vec<InboxRow>, children: &[ChildRow]) -> PodDetail {
    let summary = summary(row);
    let opened = open(row).ok();
    let session = opened.as_ref().and_then(|opened| session(&opened.spec, &opened.pod));
    let tasks = opened.as_ref().map(|opened| opened.pod.tasks.clone()).unwrap_or_default();
    let spec = opened.map(|opened| opened.spec);
    let queued = waiting(inbox);
    let permissions = spec.as_ref().map(|spec| spec.permissions.clone()).unwrap_or_default();
    PodDetail {
        summary,
        profile: spec.as_ref().and_then(|spec| spec.profile.clone()),
        instructions: spec.as_ref().and_then(|spec| spec.instructions.clone()),
        thinking: spec.as_ref().and_then(|spec| spec.thinking),
        budget_used: None,
        scope: spec.as_ref().map(|spec| spec.scope.clone()).unwrap_or_default(),
        peer_policy: spec.as_ref().map(|spec| spec.peer_policy).unwrap_or_default(),
        fallback: spec.as_ref().map(|spec| spec.fallback.clone()).unwrap_or_default(),
        auto_resume: spec.as_ref().is_some_and(|spec| spec.auto_resume),
        wake_on_peer: spec.as_ref().is_none_or(|spec| spec.wake_on_peer),
        warnings: pod::rule_warnings(&permissions),
        permissions,
        network: spec.as_ref().map(|spec| spec.network).unwrap_or_default(),
        mode: spec.as_ref().map(|spec| spec.mode).unwrap_or_default(),
        reasoning: spec.as_ref().map(|spec| spec.reasoning).unwrap_or_default(),
        queued,
        children: children.iter().map(child).collect(),
        session,
        tasks,
    }
}

/// The queued inputs as they are shown: the first ones in full, and only the beginning of those that do not fit.
fn waiting(inbox: Vec<InboxRow>) -> Vec<QueuedInput> {
    let mut room = WAITING_BYTES_MAX;
    let shown = inbox.into_iter().map(|row| {
        let mut input = queued(row);
        if let Some((segments, cut)) = protocol::cut_segments(&input.segments, room.max(WAITING_BYTES_EACH)) {
            (input.segments, input.cut) = (segments, Some(cut));
        }
        room = room.saturating_sub(Segment::bytes(&input.segments));
        input
    });
    shown.collect()
}

/// A queued input.
pub(crate) fn queued(row: InboxRow) -> QueuedInput {
    let InboxRow { command_id, segments, by: _, at, steers, blobs: _ } = row;
    QueuedInput { command_id: command_id.to_string(), segments, at, steer: steers, cut: None }
}

fn child(child: &ChildRow) -> ChildView {
    let state = open(&child.pod).map_or(PodState::Broken, |opened| opened.pod.shown_state());
    ChildView { pod: pod_ref(&child.pod), name: child.pod.name.clone(), state, scope: lent(child) }
}
