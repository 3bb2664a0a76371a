//! Making a Pod.

use std::sync::Arc;

use jiff::Timestamp;
use pod::{Pod, PodSpec, Step};
use pod_store::{Batch, CommandRow, Committed, NewPod, PodChange, PodUpdate};
use protocol::{
    Access, ApiError, AuditEntry, ControlEvent, CreatePod, ErrorCode, PodState, PodSummary, RuntimeId, ScopeRule, Seq,
    WorkerId,
};

use crate::{
    CommandKey, Origin, clock, encode, error,
    host::{Inner, Profile},
    pod_task, view,
};

/// Makes a Pod, or gives the first answer again when the command is known.
pub(crate) async fn create(
    inner: &Arc<Inner>,
    key: CommandKey,
    origin: &Origin,
    create: CreatePod,
) -> Result<PodSummary, ApiError> {
    if let Some(row) = inner.store.command_find(&key.id).await.map_err(error::store_failed)? {
        return read_answer(&pod_task::repeated(row, &key)?);
    }
    let spec = resolve(inner, &create)?;
    let now = clock::now();
    let worker_id = WorkerId::from(uuid::Uuid::now_v7());
    let state = Step { run_id: None, event: ControlEvent::Status { state: PodState::Idle, state_reason: None }.into() };
    let record = encode::record(Seq(1), &encode::timestamp(now), &state);
    let mut pod = Pod::default();
    pod.evolve(Seq(1), &state.event);
    let checkpoint = pod_task::checkpoint(&pod);
    let new = NewPod {
        worker_id: worker_id.clone(),
        name: create.name.clone(),
        spec: serde_json::to_string(&spec).expect("a recipe always encodes"),
        checkpoint: checkpoint.json.clone(),
        state: PodState::Idle,
        created_at: now,
    };
    let summary = summary_of(&new, &pod);
    let answer = serde_json::to_string(&summary).expect("a summary always encodes");
    let change = PodChange {
        key: None,
        create: Some(new),
        records: vec![record],
        folds: Vec::new(),
        inbox_put: Vec::new(),
        inbox_taken: Vec::new(),
        update: Some(PodUpdate { checkpoint: Some(checkpoint), ..PodUpdate::default() }),
        delete: false,
    };
    let batch = Batch {
        command: Some(CommandRow { id: key.id.clone(), fingerprint: key.fingerprint, answer, at: now }),
        changes: vec![change],
        audit: vec![audit(now, origin, "pod_create", create.name.to_string())],
    };
    match inner.store.commit(batch).await.map_err(error::store_failed)? {
        Committed::Done { .. } => {
            inner.list.tell_changed(&worker_id);
            Ok(summary)
        }
        Committed::Repeated(row) => read_answer(&pod_task::repeated(row, &key)?),
    }
}

fn read_answer(answer: &str) -> Result<PodSummary, ApiError> {
    serde_json::from_str(answer)
        .map_err(|error| ApiError::new(ErrorCode::Internal, format!("a stored answer cannot be read: {error}")))
}

fn summary_of(new: &NewPod, pod: &Pod) -> PodSummary {
    view::summary(&pod_store::PodRow {
        key: pod_store::PodKey(0),
        worker_id: new.worker_id.clone(),
        name: new.name.clone(),
        created_at: new.created_at,
        updated_at: new.created_at,
        state: new.state,
        open: false,
        spec: new.spec.clone(),
        checkpoint: new.checkpoint.clone(),
        checkpoint_seq: pod.head,
        unread: 0,
    })
}

/// An audit row of something that was done.
pub(crate) fn audit(at: Timestamp, origin: &Origin, action: &str, target: String) -> AuditEntry {
    AuditEntry {
        at,
        by: origin.by.clone(),
        client: origin.client.clone(),
        action: action.to_owned(),
        target: Some(target),
        result: "done".to_owned(),
        code: None,
    }
}

/// Fills in the profile and the defaults: the command's own fields first, then the profile's, then ours.
fn resolve(inner: &Inner, create: &CreatePod) -> Result<PodSpec, ApiError> {
    if let Some(runtime_id) = create.runtime_id.as_ref().filter(|id| **id != RuntimeId::local()) {
        return Err(ApiError::new(ErrorCode::RuntimeNotFound, format!("no runtime is called \"{runtime_id}\"")));
    }
    let profile = profile(inner, create.profile.as_deref())?;
    let provider = create
        .provider
        .clone()
        .or_else(|| profile.provider.clone())
        .unwrap_or_else(|| inner.providers.default_name().to_owned());
    if inner.providers.get(&provider).is_none() {
        return Err(ApiError::invalid(format!(
            "no provider is called \"{provider}\"; GET /api/v1/providers lists those that are"
        )));
    }
    let model = create
        .model
        .clone()
        .or_else(|| profile.model.clone())
        .or_else(|| inner.providers.default_model(&provider))
        .filter(|model| !model.trim().is_empty())
        .ok_or_else(|| ApiError::invalid(format!("name a model: the provider \"{provider}\" has no default one")))?;
    let cwd = cwd(inner, create.cwd.as_deref())?;
    let scope = match &create.scope {
        None => vec![ScopeRule { path: cwd.clone(), access: Access::Write, recursive: true }],
        Some(rules) => checked_scope(rules)?,
    };
    Ok(PodSpec {
        provider,
        model,
        profile: create.profile.clone(),
        instructions: create.instructions.clone().or_else(|| profile.instructions.clone()),
        cwd,
        scope,
        peer_policy: create.peer_policy.or(profile.peer_policy).unwrap_or_default(),
        wake_on_peer: create.wake_on_peer.or(profile.wake_on_peer).unwrap_or(true),
        permissions: profile.permissions.clone().unwrap_or_default(),
        reasoning: create.reasoning.or(profile.reasoning).unwrap_or_default(),
        tools: profile.tools.clone(),
    })
}

fn profile(inner: &Inner, name: Option<&str>) -> Result<Profile, ApiError> {
    let Some(name) = name else { return Ok(Profile::default()) };
    inner.profiles.get(name).cloned().ok_or_else(|| {
        let known = inner.profiles.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none is configured".to_owned() } else { format!("there are {known}") };
        ApiError::invalid(format!("no profile is called \"{name}\"; {known}"))
    })
}

fn cwd(inner: &Inner, asked: Option<&str>) -> Result<String, ApiError> {
    let Some(asked) = asked else { return Ok(inner.cwd.clone()) };
    let path = std::path::Path::new(asked);
    if !path.is_absolute() || asked.contains('\0') {
        return Err(ApiError::invalid("the working directory has to be an absolute path"));
    }
    match path.is_dir() {
        true => Ok(asked.to_owned()),
        false => Err(ApiError::invalid("the working directory does not exist, or is not a directory")),
    }
}

fn checked_scope(rules: &[ScopeRule]) -> Result<Vec<ScopeRule>, ApiError> {
    let is_good = |rule: &ScopeRule| rule.path.starts_with('/') && !rule.path.contains('\0');
    match rules.iter().all(is_good) {
        true => Ok(rules.to_vec()),
        false => Err(ApiError::invalid("each path of a scope has to be absolute")),
    }
}
