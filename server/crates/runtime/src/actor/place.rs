//! The place of a tool call: what it may touch, and what its caller has seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use pod::{Pod, PodSpec, Scope};
use pod_store::PodKey;
use protocol::{Access, ApiError, ScopeRule, ToolBy, WorkerId};

use super::Actors;
use crate::{ground::Ground, view};

/// What a Pod may touch now: its scope rules, minus what it has lent, and never yoi's own files.
pub(crate) async fn scope(inner: &Actors, key: PodKey, spec: &PodSpec) -> Result<Scope, ApiError> {
    let hidden = inner.equipment.hidden.iter().map(|path| ScopeRule {
        path: path.clone(),
        access: Access::Deny,
        recursive: true,
    });
    let rules = spec.scope.iter().cloned().chain(hidden);
    let scope = Scope::new(rules, loans(inner, key).await?).with_protected(Arc::clone(&inner.equipment.protected));
    Ok(scope.with_work_tree(spec.worktree.clone()))
}

/// Everything lent to children, including read access.
pub(crate) async fn loans(ground: &Ground, key: PodKey) -> Result<Vec<ScopeRule>, ApiError> {
    let children = ground.patiently(|| ground.store.family().children(key)).await?;
    Ok(children.iter().flat_map(view::lent).collect())
}

/// The file contents that a caller has seen, by path. A person's call may also rely on what the model has seen.
pub(crate) fn seen(pod: &Pod, by: ToolBy) -> BTreeMap<String, BTreeSet<String>> {
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in pod.seen_files.iter().filter(|file| file.by == by || by == ToolBy::Operator) {
        seen.entry(file.path.clone()).or_default().insert(file.sha256.clone());
    }
    seen
}

impl Actors {
    /// The folder for the long outputs of a Pod's tools.
    pub(crate) fn outputs_of(&self, worker_id: &WorkerId) -> PathBuf {
        self.equipment.outputs.join(worker_id.as_str())
    }

    /// The folder for the snapshots of a Pod's files.
    pub(crate) fn snapshots_of(&self, worker_id: &WorkerId) -> PathBuf {
        self.equipment.snapshots.join(worker_id.as_str())
    }
}
