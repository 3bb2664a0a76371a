//! The line between two stores, as a server that carries it sees it: what there is to tell, and what the other side told.

use std::{sync::Arc, time::Duration};

use pod_store::{Batch, FarChange, FarPosition};
use protocol::{ApiError, ErrorCode, LINK_ITEMS_MAX, LinkItem};

use super::receive::{self, Taken};
use crate::{error, peers::Peers};

/// Bytes of items in one exchange; a single one may be longer.
const EXCHANGE_BYTES_MAX: usize = 1024 * 1024;
/// Another process on the same database moves no watch of ours.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Characters of a store's id.
const STORE_ID_CHARS_MAX: usize = 64;

/// What there is to tell a store after the last item that it has; waits for it when there is nothing. What it has is
/// forgotten here.
pub(crate) async fn outgoing(
    peers: &Peers,
    store: &str,
    after: i64,
    wait: Duration,
) -> Result<Vec<LinkItem>, ApiError> {
    check_store(peers, store)?;
    let position = peers.store.far().position(store).await?;
    check_after(&position, after)?;
    if after > position.acked {
        let far = vec![FarChange::Acked { store: store.to_owned(), seq: after }];
        peers.store.commit(Batch { far, ..Batch::default() }).await?;
    }
    let ends = tokio::time::Instant::now() + wait;
    let mut moved = peers.store.far().moved();
    loop {
        moved.mark_unchanged();
        let items = items(peers, store, after).await?;
        let left = ends.saturating_duration_since(tokio::time::Instant::now());
        if !items.is_empty() || left.is_zero() {
            return Ok(items);
        }
        tokio::select! {
            () = peers.stopping.cancelled() => return Err(error::stopping()),
            _ = tokio::time::timeout(left.min(LOOK_EVERY), moved.changed()) => (),
        }
    }
}

async fn items(peers: &Peers, store: &str, after: i64) -> Result<Vec<LinkItem>, ApiError> {
    let rows = peers.store.far().out(store, after, LINK_ITEMS_MAX as u32).await?;
    let (mut items, mut bytes) = (Vec::new(), 0);
    for (seq, body) in rows {
        bytes += body.len();
        if bytes > EXCHANGE_BYTES_MAX && !items.is_empty() {
            break;
        }
        let item = serde_json::from_str(&body).map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("item {seq} for another runtime cannot be read: {error}"))
        })?;
        items.push(LinkItem { seq, item });
    }
    Ok(items)
}

/// One of the two databases is not the one that it was (it was brought back from a copy, say): what lies between is lost,
/// and going on as if nothing had been would be a lie.
fn check_after(position: &FarPosition, after: i64) -> Result<(), ApiError> {
    match (position.acked..=position.put_out).contains(&after) {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::CursorExpired,
            format!(
                "the two databases do not fit together: item {after} is the last one there, but {} to {} are here",
                position.acked, position.put_out
            ),
        )),
    }
}

/// Takes in what another store tells, in order, each item in a transaction of its own; what was taken before is passed
/// over. The answer is the number of the last one taken; with an error, what came before the item at fault is taken.
pub(crate) async fn take_in(peers: &Arc<Peers>, store: &str, items: Vec<LinkItem>) -> Result<i64, ApiError> {
    check_store(peers, store)?;
    if items.len() > LINK_ITEMS_MAX {
        return Err(ApiError::invalid(format!("at most {LINK_ITEMS_MAX} items come at once")));
    }
    peers.recovered().await;
    let turn = peers.far.turn(store);
    let _mine = turn.lock().await;
    let mut taken = peers.store.far().position(store).await?.taken;
    for LinkItem { seq, item } in items {
        if seq <= taken {
            continue;
        }
        if seq != taken + 1 {
            let sentence = format!("item {seq} came out of order; item {} is next", taken + 1);
            return Err(ApiError::invalid(sentence));
        }
        receive::check(&item)?;
        // By itself: a caller that goes away leaves no item half considered, and nobody waits for a Pod in vain.
        let (task, from) = (peers.clone(), store.to_owned());
        let taking = peers.tracker.spawn(async move { receive::take(&task, Taken { store: &from, seq }, item).await });
        taking.await.map_err(|_| error::stopping())??;
        taken = seq;
    }
    Ok(taken)
}

fn check_store(peers: &Peers, store: &str) -> Result<(), ApiError> {
    let fits = (1..=STORE_ID_CHARS_MAX).contains(&store.len())
        && store.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !fits {
        return Err(ApiError::invalid("a store id is 1 to 64 characters of A-Z, a-z, 0-9 and -"));
    }
    match store == peers.store.epoch() {
        true => Err(ApiError::invalid("this is the same database; a runtime is not linked with itself")),
        false => Ok(()),
    }
}
