//! What is known of other stores.

use jiff::Timestamp;
use protocol::{ReceiptState, WorkerId};
use tokio::sync::watch;

use super::Shared;
use crate::{
    FarCardRow, FarMessageRow, FarPeerRow, FarPosition, FarState, PodKey, StoreError,
    columns::{damaged, micros, time},
    peer_columns::receipt_state,
};

/// The columns of [`PeerColumns`], in its order.
macro_rules! far_peer_columns {
    () => {
        "select pod, store, worker, handshake, state, note, by_whom, since, expires_at, pace_level, pace_at, told
         from far_peers "
    };
}

/// The columns of [`MessageColumns`], in its order.
macro_rules! far_message_columns {
    () => {
        "select pod, id, store, worker, is_outgoing, call_id, text, hops, state, turn, reason, at, changed_at, woke
         from far_messages "
    };
}

/// The lines with other stores, and the peers there.
#[derive(Debug, Clone, Copy)]
pub struct Far<'s>(pub(super) &'s Shared);

impl Far<'_> {
    /// Signalled when this process wrote something for or from another store. It does not see the writes of other
    /// processes, and a caller that stopped waiting for its commit may have skipped the signal, so poll occasionally as
    /// well.
    pub fn moved(self) -> watch::Receiver<()> {
        self.0.far.subscribe()
    }

    pub async fn position(self, store: &str) -> Result<FarPosition, StoreError> {
        let text = "select out_seq, acked, in_seq from far_stores where store = $1";
        let position = |(put_out, acked, taken): (i64, i64, i64)| Ok(FarPosition { put_out, acked, taken });
        let found = self.0.reader.select(text).bind(store).one("look up another store", position).await?;
        Ok(found.unwrap_or_default())
    }

    /// What stores were last called here, by id; only stores that have a relation to Pods here.
    pub async fn named(self) -> Result<Vec<(String, String)>, StoreError> {
        let text = "select store, name from far_stores where name is not null and exists
                        (select 1 from far_peers where far_peers.store = far_stores.store)
                    order by store";
        self.0.reader.select(text).all("list the names of other stores", Ok).await
    }

    /// The items for a store after a number, in order.
    pub async fn out(self, store: &str, after: i64, limit: u32) -> Result<Vec<(i64, String)>, StoreError> {
        let text = "select seq, body from far_out where store = $1 and seq > $2 order by seq limit $3";
        let items = self.0.reader.select(text).bind(store).bind(after).bind(i64::from(limit));
        items.all("read what waits for another store", Ok).await
    }

    /// A Pod's relations to Pods of other stores, oldest first.
    pub async fn peers(self, pod: PodKey) -> Result<Vec<FarPeerRow>, StoreError> {
        let text = concat!(far_peer_columns!(), "where pod = $1 order by since, store, worker");
        self.0.reader.select(text).bind(pod.0).all("list far peers", peer).await
    }

    /// The same for all Pods.
    pub async fn peers_all(self) -> Result<Vec<FarPeerRow>, StoreError> {
        let text = concat!(far_peer_columns!(), "order by since, pod, store, worker");
        self.0.reader.select(text).all("list far peers", peer).await
    }

    pub async fn peer_of(self, store: &str, handshake: &str) -> Result<Option<FarPeerRow>, StoreError> {
        let text = concat!(far_peer_columns!(), "where store = $1 and handshake = $2");
        self.0.reader.select(text).bind(store).bind(handshake).one("look up a far peer", peer).await
    }

    pub async fn cards(self) -> Result<Vec<FarCardRow>, StoreError> {
        let text = "select store, worker, body, at from far_cards order by store, worker";
        self.0.reader.select(text).all("list far Pods", card).await
    }

    pub async fn card(self, store: &str, worker: &WorkerId) -> Result<Option<FarCardRow>, StoreError> {
        let text = "select store, worker, body, at from far_cards where store = $1 and worker = $2";
        self.0.reader.select(text).bind(store).bind(worker.as_str()).one("look up a far Pod", card).await
    }

    pub async fn message(self, pod: PodKey, id: &str) -> Result<Option<FarMessageRow>, StoreError> {
        let text = concat!(far_message_columns!(), "where pod = $1 and id = $2");
        self.0.reader.select(text).bind(pod.0).bind(id).one("look up a far message", message).await
    }

    pub async fn message_of_call(self, pod: PodKey, call_id: &str) -> Result<Option<FarMessageRow>, StoreError> {
        let text = concat!(far_message_columns!(), "where pod = $1 and call_id = $2");
        self.0.reader.select(text).bind(pod.0).bind(call_id).one("look up a call's far message", message).await
    }

    /// The messages between a Pod and a far one, newest first; `before` as in [`crate::Messages::of_pair`].
    pub async fn messages(
        self,
        pod: PodKey,
        store: &str,
        worker: &WorkerId,
        before: Option<(Timestamp, String)>,
        limit: u32,
    ) -> Result<Vec<FarMessageRow>, StoreError> {
        let (at, id) = before.unwrap_or((Timestamp::MAX, String::new()));
        let text = concat!(
            far_message_columns!(),
            "where pod = $1 and store = $2 and worker = $3 and (at, id) < ($4, $5) order by at desc, id desc limit $6"
        );
        let page = self.0.reader.select(text).bind(pod.0).bind(store).bind(worker.as_str());
        page.bind(micros(at)).bind(id).bind(i64::from(limit)).all("list far messages", message).await
    }
}

type PeerColumns = (i64, String, String, String, String, Option<String>, String, i64, Option<i64>, i64, i64, String);

fn peer(columns: PeerColumns) -> Result<FarPeerRow, StoreError> {
    let (pod, store, worker, handshake, state, note, by, since, expires_at, pace_level, pace_at, told) = columns;
    Ok(FarPeerRow {
        pod: PodKey(pod),
        store,
        worker: WorkerId::parse(&worker).map_err(damaged("worker id"))?,
        handshake,
        state: FarState::of(&state).ok_or(state).map_err(damaged("state of an introduction"))?,
        note,
        by,
        since: time(since)?,
        expires_at: expires_at.map(time).transpose()?,
        pace_level: u32::try_from(pace_level).map_err(damaged("pace"))?,
        pace_at: time(pace_at)?,
        told,
    })
}

type MessageColumns = (
    i64,
    String,
    String,
    String,
    bool,
    Option<String>,
    String,
    i64,
    String,
    Option<i64>,
    Option<String>,
    i64,
    i64,
    bool,
);

fn message(columns: MessageColumns) -> Result<FarMessageRow, StoreError> {
    let (pod, id, store, worker, is_outgoing, call_id, text, hops, state, turn, reason, at, changed_at, woke) = columns;
    Ok(FarMessageRow {
        pod: PodKey(pod),
        id,
        store,
        worker: WorkerId::parse(&worker).map_err(damaged("worker id"))?,
        is_outgoing,
        call_id,
        text: serde_json::from_str(&text).map_err(damaged("message"))?,
        hops: u32::try_from(hops).map_err(damaged("count"))?,
        state: match receipt_state(state)? {
            // Earlier versions stored messages under way like this.
            ReceiptState::Stored if is_outgoing && reason.is_some() => ReceiptState::Sent,
            state => state,
        },
        turn: turn.map(u64::try_from).transpose().map_err(damaged("turn"))?,
        reason,
        at: time(at)?,
        changed_at: time(changed_at)?,
        woke,
    })
}

fn card((store, worker, body, at): (String, String, String, i64)) -> Result<FarCardRow, StoreError> {
    let worker = WorkerId::parse(&worker).map_err(damaged("worker id"))?;
    Ok(FarCardRow { store, worker, body, at: time(at)? })
}
