//! Ending a pair of peers or a request.

use pod_store::{PeerChange, PodKey, PodRow};
use protocol::{ApiError, WorkerId};

use super::{
    handshake::{Ending, News, Step, decide},
    link::{Kind, Tell, commit_both, standing},
};
use crate::{asked::Asked, hold::Together, peers::Peers, view};

/// Ends a pair of peers or an open request between two Pods of this store. If there is neither, does nothing.
pub(super) async fn unlink(
    peers: &Peers,
    asked: Option<&Asked<'_>>,
    own: &PodRow,
    other: &WorkerId,
    note: Option<&str>,
) -> Result<(), ApiError> {
    let Some(other) = peers.settled_row(other).await? else { return Ok(()) };
    if own.key == other.key {
        return Ok(());
    }
    // A Pod whose record cannot be read cannot be told, but the other one is released nevertheless.
    let readable: Vec<_> = [own, &other].into_iter().filter(|row| view::open(row).is_ok()).collect();
    let holding = peers.pods.hold(&readable.iter().map(|row| &row.worker_id).collect::<Vec<_>>()).await?;
    let link = peers.store.peers().link(own.key, other.key).await?;
    let request = peers.store.peers().request_of(own.key, other.key).await?;
    let by = asked.map_or_else(|| "yoi".to_owned(), |asked| asked.origin.by.clone());
    let (written, tell) = match decide(standing(own.key, link.as_ref(), request.as_ref()), News::End) {
        Step::End(ending) => {
            let note = ending.note(note);
            let request_id = request.map(|request| request.id);
            let change = match &request_id {
                Some(id) => PeerChange::RequestDone { id: id.clone() },
                None => PeerChange::Unlink { a: own.key, b: other.key },
            };
            let kind = if ending == Ending::Unlinked { Kind::Unlinked } else { Kind::Declined };
            (vec![change], Some(Tell { kind, by, request_id, note }))
        }
        _ => (Vec::new(), None),
    };
    let target = format!("{} {}", view::pod_ref(own), view::pod_ref(&other));
    let command = asked.map(|asked| asked.together("unpeer", target, &())).unwrap_or_default();
    let together = Together { peers: written, ..command };
    commit_both(peers, holding, (own, &other), tell, together).await.map(drop)
}

/// The peers of a Pod, and the Pods with which it has a request, expired or not.
pub(super) async fn others(peers: &Peers, pod: PodKey) -> Result<Vec<PodRow>, ApiError> {
    let links = peers.store.peers().links(pod).await?;
    let requests = peers.store.peers().requests(pod).await?;
    let asked = requests.into_iter().map(|request| if request.to.key == pod { request.from } else { request.to });
    Ok(links.into_iter().map(|link| link.pod).chain(asked).collect())
}
