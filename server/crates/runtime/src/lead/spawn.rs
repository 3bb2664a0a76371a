//! A Pod makes another one, with a task and a part of its own scope.

use std::sync::Arc;

use pod::{LendRefusal, PodSpec, Scope};
use pod_store::{InboxRow, ParentLink, PodChange};
use protocol::{ApiError, CommandId, ControlEvent, ErrorCode, PodLabel, PodName, ScopeRule, Segment, WorkerId};

use super::audit_only;
use crate::{
    Origin, clock,
    create::Newborn,
    error,
    hold::Wanted,
    host::Inner,
    place,
    pod_task::Held,
    recipe::{self, ChildAsked},
};

/// What a Pod wants.
#[derive(Debug)]
pub(crate) struct Spawn {
    pub(crate) name: PodName,
    pub(crate) task: String,
    pub(crate) scope: Vec<ScopeRule>,
    pub(crate) profile: Option<String>,
    pub(crate) model: Option<String>,
}

/// Makes the child, lends it its scope and gives it its first task, or leaves everything as it was.
pub(crate) async fn spawn(
    inner: &Arc<Inner>,
    parent: &WorkerId,
    origin: &Origin,
    spawn: Spawn,
) -> Result<(PodLabel, Vec<ScopeRule>), ApiError> {
    let mut holding = inner.hold(&[parent]).await?;
    let held = holding.remove(parent).ok_or_else(|| error::no_such_pod(parent))?;
    let scope = lend(inner, &held, &spawn.scope).await?;
    let asked = ChildAsked { profile: spawn.profile, model: spawn.model, scope: scope.clone() };
    let spec = recipe::of_child(inner, &held.spec, asked)?;
    let newborn = newborn(&held, spec, spawn.name, spawn.task, &scope)?;
    let child = PodLabel { pod: newborn.summary.pod.clone(), name: newborn.summary.name.clone() };
    let event = ControlEvent::ChildSpawned { child: child.clone(), scope: scope.clone() };
    let order = Wanted { events: vec![event], ..Wanted::default() };
    let mut together = audit_only(origin, "pod_create", child.name.to_string());
    together.others.push(newborn.change);
    together.wakes.push(child.pod.worker_id.clone());
    inner.commit_together(vec![(held, order)], together).await?;
    Ok((child, scope))
}

/// What the child holds: what was asked for, if its parent may lend it. A refusal names paths as they were asked for,
/// and says of none outside the scope whether it exists or where a link leads.
async fn lend(inner: &Inner, held: &Held, asked: &[ScopeRule]) -> Result<Vec<ScopeRule>, ApiError> {
    let wanted = asked.iter().map(recipe::real_rule).collect::<Result<Vec<_>, _>>()?;
    let loans = place::loans(inner, held.key).await?;
    let scope = Scope::new(held.spec.scope.iter().cloned(), loans.iter().cloned());
    let as_asked = |path: String| match wanted.iter().position(|rule| rule.path == path) {
        Some(at) => asked[at].path.clone(),
        None => path,
    };
    let lent = scope.lend(&wanted, &loans).map_err(|refusal| match refusal {
        LendRefusal::BadPath(path) => refused(&LendRefusal::BadPath(as_asked(path))),
        LendRefusal::NotHeld(path) => refused(&LendRefusal::NotHeld(as_asked(path))),
        LendRefusal::Conflict(path) => refused(&LendRefusal::Conflict(as_asked(path))),
    })?;
    asked.iter().try_for_each(|rule| recipe::real_existing_rule(rule).map(drop))?;
    Ok(lent)
}

pub(super) fn refused(refusal: &LendRefusal) -> ApiError {
    let code = match refusal {
        LendRefusal::BadPath(_) => ErrorCode::InvalidInput,
        LendRefusal::NotHeld(_) => ErrorCode::ScopeNotHeld,
        LendRefusal::Conflict(_) => ErrorCode::ScopeConflict,
    };
    ApiError::new(code, refusal.to_string())
}

/// The child with its parent, its loan and its first task, all in the change that makes it.
fn newborn(
    parent: &Held,
    spec: PodSpec,
    name: PodName,
    task: String,
    scope: &[ScopeRule],
) -> Result<Newborn, ApiError> {
    let now = clock::now();
    let newborn = Newborn::of(spec, name, now);
    let id = format!("task-{}", newborn.summary.pod.worker_id);
    let task = InboxRow {
        command_id: CommandId::parse(&id).map_err(|error| ApiError::invalid(error.to_string()))?,
        segments: vec![Segment::text(task)],
        by: format!("pod:{}", parent.label.name),
        at: now,
        steers: false,
    };
    let link = ParentLink { parent: parent.key, scope: serde_json::to_string(scope).expect("rules always encode") };
    let change = PodChange { parent: Some(link), inbox_put: vec![task], ..newborn.change };
    Ok(Newborn { change, summary: newborn.summary })
}
