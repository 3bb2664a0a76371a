//! A Pod's row as clients see it.

use pod::{Pod, PodSpec};
use pod_store::{InboxRow, PodRow};
use protocol::{PodDetail, PodRef, PodState, PodSummary, QueuedInput, Relations, RuntimeId};

/// The parts of a row that are JSON, read.
#[derive(Debug, Clone)]
pub(crate) struct Opened {
    pub(crate) spec: PodSpec,
    pub(crate) pod: Pod,
}

/// Reads a row's recipe and checkpoint. The sentence of the error is fit for `state_reason`.
pub(crate) fn open(row: &PodRow) -> Result<Opened, String> {
    let spec = serde_json::from_str(&row.spec).map_err(|error| format!("its recipe cannot be read: {error}"))?;
    let pod = serde_json::from_str(&row.checkpoint).map_err(|error| format!("its state cannot be read: {error}"))?;
    Ok(Opened { spec, pod })
}

pub(crate) fn pod_ref(row: &PodRow) -> PodRef {
    PodRef::new(RuntimeId::local(), row.worker_id.clone())
}

/// A Pod in a list. One that cannot be read is shown as broken, and harms no other.
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
        state: pod.state,
        state_reason: pod.state_reason.clone(),
        provider: spec.provider.clone(),
        model: spec.model.clone(),
        cwd: spec.cwd.clone(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        head_seq: pod.head,
        activity: activity(pod),
        needs_you: pod.needs_you(),
        unread: row.unread,
        relations: Relations::default(),
        usage: pod.usage,
    }
}

fn broken(row: &PodRow, reason: String) -> PodSummary {
    PodSummary {
        pod: pod_ref(row),
        name: row.name.clone(),
        state: PodState::Broken,
        state_reason: Some(reason),
        provider: String::new(),
        model: String::new(),
        cwd: String::new(),
        created_at: row.created_at,
        updated_at: row.updated_at,
        head_seq: row.checkpoint_seq,
        activity: None,
        needs_you: true,
        unread: row.unread,
        relations: Relations::default(),
        usage: protocol::Usage::default(),
    }
}

/// What a Pod does now, in its own words.
fn activity(pod: &Pod) -> Option<String> {
    match pod.state {
        PodState::Running => Some(match pod.calls.first() {
            Some(call) => format!("running {}", call.name),
            None => "answering".to_owned(),
        }),
        PodState::Waiting => pod.approvals.first().map(|open| format!("asks: {}", open.tool)),
        _ => pod.failure.as_ref().map(|failure| format!("failed: {failure}")),
    }
}

pub(crate) fn detail(row: &PodRow, inbox: Vec<InboxRow>) -> PodDetail {
    let summary = summary(row);
    let spec = open(row).map(|opened| opened.spec).ok();
    let queued = inbox
        .into_iter()
        .map(|row| QueuedInput { command_id: row.command_id.to_string(), segments: row.segments, at: row.at })
        .collect();
    PodDetail {
        summary,
        profile: spec.as_ref().and_then(|spec| spec.profile.clone()),
        instructions: spec.as_ref().and_then(|spec| spec.instructions.clone()),
        scope: spec.as_ref().map(|spec| spec.scope.clone()).unwrap_or_default(),
        peer_policy: spec.as_ref().map(|spec| spec.peer_policy).unwrap_or_default(),
        wake_on_peer: spec.as_ref().is_none_or(|spec| spec.wake_on_peer),
        permissions: spec.as_ref().map(|spec| spec.permissions.clone()).unwrap_or_default(),
        reasoning: spec.as_ref().map(|spec| spec.reasoning).unwrap_or_default(),
        queued,
    }
}
