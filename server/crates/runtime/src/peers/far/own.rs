//! The own Pod of a pair of two stores: it stands still while its side of the pair is written.

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

/// None of one whose record cannot be read: it cannot be told, and what is known beside it is true all the same.
pub(super) async fn hold_readable(peers: &Peers, own: &PodRow) -> Result<Option<Held>, ApiError> {
    if view::open(own).is_err() {
        return Ok(None);
    }
    Ok(for_the_other_side(hold(peers, own).await)?.ok())
}

/// The Pod that another store means. What it is told when there is none is the inner error.
pub(super) async fn meant(peers: &Peers, worker_id: &WorkerId) -> Result<Result<(PodRow, Held), ApiError>, ApiError> {
    let meant = async {
        let own = link::readable(peers, worker_id).await?;
        let held = hold(peers, &own).await?;
        Ok((own, held))
    };
    for_the_other_side(meant.await)
}

/// What is about the Pod that is meant, and stays so, is for the other side to know; anything else may pass.
fn for_the_other_side<T>(found: Result<T, ApiError>) -> Result<Result<T, ApiError>, ApiError> {
    match found {
        Err(error) if !matches!(error.code, ErrorCode::PodNotFound | ErrorCode::NotRestorable) => Err(error),
        found => Ok(found),
    }
}

/// Writes what follows, for the Pod if it stands still, and beside it.
pub(super) async fn write(
    peers: &Peers,
    held: Option<Held>,
    wanted: Wanted,
    far: Vec<FarChange>,
) -> Result<(), ApiError> {
    let orders = held.map(|held| (held, wanted)).into_iter().collect();
    peers.pods.commit_together(orders, Together { far, ..Together::default() }).await.map(drop)
}
