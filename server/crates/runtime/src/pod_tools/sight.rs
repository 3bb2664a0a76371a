//! Which Pods a Pod sees: itself, its children and its peers, and never the whole host.

use std::sync::Arc;

use pod_store::{ChildRow, FarPeerRow, PodRow};
use protocol::{ApiError, ErrorCode, PodState, RuntimeId, ScopeRule, Target, Visibility, VisiblePod, WorkerId};

use super::Kin;
use crate::{peers::far, view};

/// What a model is told about a Pod that it does not see, and about one that does not exist.
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

/// Exactly what ListPods tells this Pod's model: itself first, then its children, then its peers, oldest first, and
/// then those of other runtimes.
pub(crate) async fn visible(kin: &Kin, worker_id: &WorkerId) -> Result<Vec<VisiblePod>, ApiError> {
    // The result includes states, so after a crash it waits until all Pods have recovered.
    kin.recovered().await;
    let mut seen: Vec<VisiblePod> = all(kin, worker_id).await?.iter().map(Seen::told).collect();
    let own = kin.existing_row(worker_id).await?;
    seen.extend(far::visible(&kin.peers, own.key).await?.into_iter().map(|(_, pod)| pod));
    Ok(seen)
}

async fn all(kin: &Kin, worker_id: &WorkerId) -> Result<Vec<Seen>, ApiError> {
    let row = kin.existing_row(worker_id).await?;
    let children = kin.store.family().children(row.key).await?;
    let links = kin.store.peers().links(row.key).await?;
    let mut seen: Vec<Seen> = std::iter::once(Seen::itself(row)).chain(children.into_iter().map(Seen::child)).collect();
    for link in links {
        // A child that is also a peer is one Pod, visible for both reasons.
        match seen.iter_mut().find(|seen| seen.row.key == link.pod.key) {
            Some(known) => known.visibility.push(Visibility::Peer),
            None => seen.push(Seen { row: link.pod, visibility: vec![Visibility::Peer], scope: Vec::new() }),
        }
    }
    Ok(seen)
}

/// The Pod that a model means, among those that it sees.
pub(super) async fn find(kin: &Kin, worker_id: &WorkerId, name: &str) -> Result<Seen, ApiError> {
    let unseen = || ApiError::new(ErrorCode::NotVisible, NOT_VISIBLE);
    let target: Target = name.parse().map_err(|_| unseen())?;
    let is_meant = |row: &PodRow| match &target {
        Target::Name { name, runtime_id } => {
            row.name == *name && runtime_id.as_ref().is_none_or(|id| *id == protocol::RuntimeId::local())
        }
        Target::Ref(pod) => view::pod_ref(row) == *pod,
    };
    all(kin, worker_id).await?.into_iter().find(|seen| is_meant(&seen.row)).ok_or_else(unseen)
}

/// A peer that a model means.
#[derive(Debug)]
pub(super) enum SeenPeer {
    /// In this runtime; it may also be a child, or no peer at all.
    Here(Box<Seen>),
    /// In another runtime, with its address.
    There(Box<FarPeerRow>, String),
}

/// The Pod that a model wants to write to. A name that several visible Pods have is an error; the full address tells
/// them apart.
pub(super) async fn find_peer(kin: &Kin, worker_id: &WorkerId, name: &str) -> Result<SeenPeer, ApiError> {
    let here = find(kin, worker_id, name).await;
    let mut there = far_named(kin, worker_id, name).await?;
    match (here, there.pop()) {
        (Ok(seen), None) => Ok(SeenPeer::Here(Box::new(seen))),
        (Err(_), Some((row, address))) if there.is_empty() => Ok(SeenPeer::There(Box::new(row), address)),
        (Err(error), None) => Err(error),
        (here, Some(last)) => {
            let local = here.ok().map(|seen| far::address(&seen.row.name, &RuntimeId::local()));
            let addresses = local.into_iter().chain(there.into_iter().chain([last]).map(|(_, address)| address));
            let addresses: Vec<String> = addresses.collect();
            let sentence = format!("several Pods that you see have this name: {}; say which", addresses.join(", "));
            Err(ApiError::new(ErrorCode::AmbiguousName, sentence))
        }
    }
}

/// Peers in other runtimes that a model may mean.
async fn far_named(kin: &Kin, worker_id: &WorkerId, name: &str) -> Result<Vec<(FarPeerRow, String)>, ApiError> {
    let Ok(target) = name.parse::<Target>() else { return Ok(Vec::new()) };
    let own = kin.existing_row(worker_id).await?;
    let is_meant = |pod: &VisiblePod| match &target {
        Target::Name { name, runtime_id } => {
            pod.name == *name && runtime_id.as_ref().is_none_or(|id| *id == pod.pod.runtime_id)
        }
        Target::Ref(address) => pod.pod == *address,
    };
    let seen = far::visible(&kin.peers, own.key).await?.into_iter().filter(|(_, pod)| is_meant(pod));
    Ok(seen.map(|(row, pod)| (row, far::address(&pod.name, &pod.pod.runtime_id))).collect())
}

/// A Pod of this runtime; the error for a peer in another runtime says why that will not do.
pub(super) async fn find_here(kin: &Kin, worker_id: &WorkerId, name: &str) -> Result<Seen, ApiError> {
    match find(kin, worker_id, name).await {
        Err(error) if error.code == ErrorCode::NotVisible => match far_named(kin, worker_id, name).await?.pop() {
            Some((_, address)) => {
                let sentence =
                    format!("{address} is your peer in another runtime; you can write to it with SendToPeerPod");
                Err(ApiError::new(ErrorCode::PermissionDenied, sentence))
            }
            None => Err(error),
        },
        found => found,
    }
}

/// A child of this Pod, or an error that says why the Pod is none.
pub(super) async fn child(kin: &Arc<Kin>, worker_id: &WorkerId, name: &str) -> Result<Seen, ApiError> {
    let seen = find_here(kin, worker_id, name).await?;
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
