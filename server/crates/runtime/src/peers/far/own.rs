//! This side's Pod of a pair over two stores: it is held while its side of the pair is written.

use pod_store::{FarChange, PodRow};
use protocol::{ApiError, ErrorCode, WorkerId};

use crate::{
    actor::Held,
    error,
    hold::{Together, Wanted},
    peers::{Peers, link},
    view,
};

pub(super) async fn hold(peers: &Peers, own: &PodRow) -> Result<Held, ApiError> {
    let mut holding = peers.pods.hold(&[&own.worker_id]).await?;
    holding.remove(&own.worker_id).ok_or_else(|| error::no_such_pod(&own.worker_id))
}

/// Holds the Pod. `None` if its record cannot be read: then it cannot be told, but the rest of the change still
/// applies.
pub(super) async fn hold_readable(peers: &Peers, own: &PodRow) -> Result<Option<Held>, ApiError> {
    if view::open(own).is_err() {
        return Ok(None);
    }
    Ok(for_the_other_side(hold(peers, own).await)?.ok())
}

/// Holds the Pod that another store means. The inner error is what that store is told if there is no such Pod.
pub(super) async fn meant(peers: &Peers, worker_id: &WorkerId) -> Result<Result<(PodRow, Held), ApiError>, ApiError> {
    let meant = async {
        let own = link::readable(peers, worker_id).await?;
        let held = hold(peers, &own).await?;
        Ok((own, held))
    };
    for_the_other_side(meant.await)
}

/// Separates permanent errors about the Pod, which the other side is told (inner), from others, which may pass (outer).
fn for_the_other_side<T>(found: Result<T, ApiError>) -> Result<Result<T, ApiError>, ApiError> {
    match found {
        Err(error) if !matches!(error.code, ErrorCode::PodNotFound | ErrorCode::NotRestorable) => Err(error),
        found => Ok(found),
    }
}

/// Writes the changes, together with those of the Pod if it is held.
pub(super) async fn write(
    peers: &Peers,
    held: Option<Held>,
    wanted: Wanted,
    far: Vec<FarChange>,
) -> Result<(), ApiError> {
    let orders = held.map(|held| (held, wanted)).into_iter().collect();
    peers.pods.commit_together(orders, Together { far, ..Together::default() }).await.map(drop)
}
