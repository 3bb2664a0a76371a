//! The line between two stores, as seen by the server that carries it: outgoing items, and items from the other side.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use pod_store::{Batch, FarChange, FarPosition};
use protocol::{ApiError, ErrorCode, LINK_ITEMS_MAX, LinkItem};

use super::receive::{self, Taken};
use crate::{error, peers::Peers};

/// The most bytes of items in one exchange; a single item may be larger.
const EXCHANGE_BYTES_MAX: usize = 1024 * 1024;
/// Another process on the same database cannot signal our watch, so this polls.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The most characters of a store's id.
const STORE_ID_CHARS_MAX: usize = 64;

/// The items for a store after the last one that it has; waits for one if there are none. Items that the store has are
/// deleted here.
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

/// Fails if one of the two databases is not what it was (restored from a backup, say): the items in between are lost,
/// and the two sides must not continue as if they agreed.
pub(super) fn check_after(position: &FarPosition, after: i64) -> Result<(), ApiError> {
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

/// Takes in items from another store, in order, each in its own transaction; items already taken are skipped. Returns
/// the number of the last item taken. If it fails, the items before the faulty one have been taken.
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
        if !is_next(taken, seq)? {
            continue;
        }
        receive::check(&item)?;
        // In a task of its own, so that an item is not left half processed, with Pods held, when the caller goes away.
        let (task, from) = (peers.clone(), store.to_owned());
        let taking = peers.tracker.spawn(async move { receive::take(&task, Taken { store: &from, seq }, item).await });
        taking.await.map_err(|_| error::stopping())??;
        taken = seq;
    }
    Ok(taken)
}

/// False if the item with this number was taken before. Fails if others have to come first.
pub(super) fn is_next(taken: i64, seq: i64) -> Result<bool, ApiError> {
    match seq.cmp(&(taken + 1)) {
        Ordering::Less => Ok(false),
        Ordering::Equal => Ok(true),
        Ordering::Greater => {
            Err(ApiError::invalid(format!("item {seq} came out of order; item {} is next", taken + 1)))
        }
    }
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
