//! Spawning a child with a task and a part of the parent's scope.

use pod::{LendRefusal, PodSpec, Scope, WorkTree};
use pod_store::{InboxRow, ParentLink, PodChange, PodKey};
use protocol::{
    Access, ApiError, CommandId, ControlEvent, ErrorCode, PodLabel, PodLimits, PodName, ScopeRule, Segment, WorkerId,
    WorktreeOptions,
};

use super::{audit_only, stop::needs_stop};
use crate::{
    Origin,
    actor::{Held, place},
    clock,
    create::Newborn,
    error,
    family::Family,
    hold::Wanted,
    recipe::{self, ChildAsked, Recipes},
    trees::Grown,
};

/// The child that a Pod asks for.
#[derive(Debug, Clone)]
pub(crate) struct Spawn {
    pub(crate) name: PodName,
    pub(crate) task: String,
    pub(crate) scope: Vec<ScopeRule>,
    pub(crate) profile: Option<String>,
    pub(crate) model: Option<String>,
    /// A git work tree of its own.
    pub(crate) worktree: Option<WorktreeOptions>,
}

/// A child that was created.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) child: PodLabel,
    /// What is lent to it.
    pub(crate) scope: Vec<ScopeRule>,
    /// Its own work tree.
    pub(crate) tree: Option<WorkTree>,
}

/// Creates the child, lends it its scope and gives it its first task, or leaves everything unchanged.
pub(crate) async fn spawn(
    family: &Family,
    parent: &WorkerId,
    origin: &Origin,
    spawn: Spawn,
) -> Result<Spawned, ApiError> {
    let mut holding = family.pods.hold(&[parent]).await?;
    let held = holding.remove(parent).ok_or_else(|| error::no_such_pod(parent))?;
    check_room(family, held.key).await?;
    let _seat = family.seat().await?;
    let scope = lend(family, &held, &spawn.scope).await?;
    let grown = match &spawn.worktree {
        Some(wish) => Some(grow(family, &held, &spawn.name, wish).await?),
        None => None,
    };
    let made = born(family, held, origin, spawn, scope, grown.as_ref()).await;
    if let (Err(_), Some(grown)) = (&made, &grown) {
        family.recipes.trees.undo(grown).await;
    }
    made
}

/// Writes the child with its loan and its task.
async fn born(
    family: &Family,
    held: Held,
    origin: &Origin,
    spawn: Spawn,
    scope: Vec<ScopeRule>,
    grown: Option<&Grown>,
) -> Result<Spawned, ApiError> {
    let asked = ChildAsked { profile: spawn.profile, model: spawn.model, scope: scope.clone(), grown: grown.cloned() };
    let spec = recipe::of_child(&family.recipes, &held.spec, asked).await?;
    let newborn = newborn(&family.recipes, &held, spec, spawn.name, spawn.task, &scope)?;
    let child = PodLabel { pod: newborn.summary.pod.clone(), name: newborn.summary.name.clone() };
    let event = ControlEvent::ChildSpawned { child: child.clone(), scope: scope.clone() };
    let order = Wanted { events: vec![event], ..Wanted::default() };
    let mut together = audit_only(origin, "pod_create", child.name.to_string());
    together.others.push(newborn.change);
    together.wakes.push(child.pod.worker_id.clone());
    family.pods.commit_together(vec![(held, order)], together).await?;
    Ok(Spawned { child, scope, tree: grown.map(|grown| grown.tree.clone()) })
}

/// A work tree of the repository that the parent works in. Its commands write the repository, so the parent has to hold
/// that: in a work tree of its own, or by its scope.
async fn grow(family: &Family, held: &Held, name: &PodName, wish: &WorktreeOptions) -> Result<Grown, ApiError> {
    let cwd = &held.spec.cwd;
    if let Some(common) = recipe::repository_of(cwd).await {
        let shares = held.spec.worktree.as_ref().is_some_and(|own| own.common == common);
        let loans = place::loans(family, held.key).await?;
        let scope = Scope::new(held.spec.scope.iter().cloned(), loans.iter().cloned());
        let rule = ScopeRule { path: common, access: Access::Write, recursive: true };
        if !shares && scope.lend(&[rule], &loans).is_err() {
            let sentence = format!(
                "the repository that {cwd} is in is not in your scope for writing, so you can give no child a work tree of \
                 it; ask a person to create the Pod"
            );
            return Err(ApiError::new(ErrorCode::ScopeNotHeld, sentence));
        }
    }
    family.recipes.trees.grow(cwd, name, wish).await
}

/// Checks the limits on live Pods: the children of this parent, and the whole family that it belongs to.
async fn check_room(family: &Family, parent: PodKey) -> Result<(), ApiError> {
    let PodLimits { children_max, family_max, .. } = family.limits;
    let mut top = parent;
    while let Some(child) = family.store.family().child(top).await? {
        let Some(above) = child.pod.parent else { break };
        top = above.key;
    }
    let (mut all, mut own, mut left) = (0_u64, 0_u64, vec![top]);
    while let Some(key) = left.pop() {
        for child in family.store.family().children(key).await?.iter().filter(|child| needs_stop(child)) {
            all += 1;
            own += u64::from(key == parent);
            left.push(child.pod.key);
        }
        let is_of_its_own = own >= children_max;
        if is_of_its_own || all >= family_max {
            let (has, max, key) = match is_of_its_own {
                true => ("it has", children_max, "children_max"),
                false => ("its family has", family_max, "family_max"),
            };
            let sentence = format!(
                "{has} {max} children that are not stopped, which is the maximum; stop one first, or ask a person to \
                 raise {key} in [pods] of config.toml"
            );
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
    }
    Ok(())
}

/// The scope of the child: what was asked for, if the parent may lend it. A refusal names paths as they were asked for;
/// for a path outside the scope it reveals neither whether it exists nor where a link leads.
async fn lend(family: &Family, held: &Held, asked: &[ScopeRule]) -> Result<Vec<ScopeRule>, ApiError> {
    let wanted = asked.iter().map(recipe::real_rule).collect::<Result<Vec<_>, _>>()?;
    check_idle(held, &wanted)?;
    let loans = place::loans(family, held.key).await?;
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

/// A command runs with the scope that its Pod had when it began, so write access cannot be lent until the command has
/// ended.
pub(super) fn check_idle(lender: &Held, lent: &[ScopeRule]) -> Result<(), ApiError> {
    if !lender.runs_command || lent.iter().all(|rule| rule.access != Access::Write) {
        return Ok(());
    }
    let name = &lender.label.name;
    let sentence = format!(
        "a command of {name} is running that can write to what is to be lent; wait until it has ended, or end it: cancel \
         the run, or for a background command use BashStop or `yoi ps {name} ID --stop`"
    );
    Err(ApiError::new(ErrorCode::Busy, sentence))
}

pub(super) fn refused(refusal: &LendRefusal) -> ApiError {
    let code = match refusal {
        LendRefusal::BadPath(_) => ErrorCode::InvalidInput,
        LendRefusal::NotHeld(_) => ErrorCode::ScopeNotHeld,
        LendRefusal::Conflict(_) => ErrorCode::ScopeConflict,
    };
    ApiError::new(code, refusal.to_string())
}

/// The child with its parent, its loan and its first task, all in the change that creates it.
fn newborn(
    recipes: &Recipes,
    parent: &Held,
    spec: PodSpec,
    name: PodName,
    task: String,
    scope: &[ScopeRule],
) -> Result<Newborn, ApiError> {
    let now = clock::now();
    let newborn = Newborn::of(recipes, spec, name, now);
    let id = format!("task-{}", newborn.summary.pod.worker_id);
    let task = InboxRow {
        command_id: CommandId::parse(&id).map_err(|error| ApiError::invalid(error.to_string()))?,
        segments: vec![Segment::text(task)],
        by: format!("pod:{}", parent.label.name),
        at: now,
        steers: false,
        blobs: protocol::Blobs::default(),
    };
    let link = ParentLink { parent: parent.key, scope: serde_json::to_string(scope).expect("rules always encode") };
    let change = PodChange { parent: Some(link), inbox_put: vec![task], ..newborn.change };
    Ok(Newborn { change, summary: newborn.summary })
}
