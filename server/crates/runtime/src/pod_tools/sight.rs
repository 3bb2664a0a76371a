//! Whom a Pod sees: itself, its children and its peers, and never the whole host.

use std::sync::Arc;

use pod_store::{ChildRow, PodRow};
use protocol::{ApiError, ErrorCode, PodState, ScopeRule, Target, Visibility, VisiblePod, WorkerId};

use crate::{error, host::Inner, view};

/// What a model is told of a Pod that it does not see, and of one that does not exist.
pub(super) const NOT_VISIBLE: &str = "you see no Pod of this name; ListPods shows those that you see";

/// A Pod that another one sees.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) row: PodRow,
    pub(super) visibility: Vec<Visibility>,
    pub(super) scope: Vec<ScopeRule>,
}

impl Seen {
    pub(super) fn is(&self, visibility: Visibility) -> bool {
        self.visibility.contains(&visibility)
    }

    fn itself(row: PodRow) -> Self {
        let scope = view::open(&row).map(|opened| opened.spec.scope).unwrap_or_default();
        Self { row, visibility: vec![Visibility::Itself], scope }
    }

    fn child(child: ChildRow) -> Self {
        let scope = view::lent(&child);
        Self { row: child.pod, visibility: vec![Visibility::SpawnedChild], scope }
    }

    fn told(&self) -> VisiblePod {
        let summary = view::summary(&self.row);
        VisiblePod {
            name: summary.name,
            pod: summary.pod,
            visibility: self.visibility.clone(),
            state: summary.state,
            restorable: summary.state == PodState::Stopped,
            reason: summary.state_reason,
            scope: self.scope.clone(),
            children: summary.relations.children,
        }
    }
}

/// Exactly what ListPods tells the model of this Pod: itself first, then its children, then its peers, oldest first.
pub(crate) async fn visible(inner: &Inner, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
    Ok(all(inner, worker_id).await?.iter().map(Seen::told).collect())
}

async fn all(inner: &Inner, worker_id: &WorkerId) -> Result<Vec<Seen>, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let children = inner.store.children(row.key).await.map_err(error::store_failed)?;
    let links = inner.store.peer_links(row.key).await.map_err(error::store_failed)?;
    let mut seen: Vec<Seen> = std::iter::once(Seen::itself(row)).chain(children.into_iter().map(Seen::child)).collect();
    for link in links {
        // A child that is a peer, too, is one Pod with both reasons.
        match seen.iter_mut().find(|seen| seen.row.key == link.pod.key) {
            Some(known) => known.visibility.push(Visibility::Peer),
            None => seen.push(Seen { row: link.pod, visibility: vec![Visibility::Peer], scope: Vec::new() }),
        }
    }
    Ok(seen)
}

/// The Pod that a model means, among those that it sees.
pub(super) async fn find(inner: &Inner, worker_id: &WorkerId, name: &str) -> Result<Seen, ApiError> {
    let unseen = || ApiError::new(ErrorCode::NotVisible, NOT_VISIBLE);
    let target: Target = name.parse().map_err(|_| unseen())?;
    let is_meant = |row: &PodRow| match &target {
        Target::Name { name, runtime_id } => {
            row.name == *name && runtime_id.as_ref().is_none_or(|id| *id == protocol::RuntimeId::local())
        }
        Target::Ref(pod) => view::pod_ref(row) == *pod,
    };
    all(inner, worker_id).await?.into_iter().find(|seen| is_meant(&seen.row)).ok_or_else(unseen)
}

/// A child of this Pod, or why it is none.
pub(super) async fn child(inner: &Arc<Inner>, worker_id: &WorkerId, name: &str) -> Result<Seen, ApiError> {
    let seen = find(inner, worker_id, name).await?;
    match seen.is(Visibility::SpawnedChild) {
        true => Ok(seen),
        false => {
            let who = match seen.is(Visibility::Itself) {
                true => "you are this Pod yourself",
                false => "it is your peer and no child of yours",
            };
            let sentence = format!("{who}; this tool is for the children that you spawned");
            Err(ApiError::new(ErrorCode::PermissionDenied, sentence))
        }
    }
}
