//! Writes changes that concern other stores, in the open transaction.

use protocol::WorkerId;

use crate::{
    FarChange, FarMessageRow, FarPeerRow, FarReceipt, PodKey,
    columns::micros,
    peer_columns::{quoted, receipt_word, turn_number},
    txn::{Txn, WriteError},
    words::without_nul,
};

pub(crate) async fn change_in_txn(txn: &mut Txn<'_>, change: &FarChange) -> Result<(), WriteError> {
    match change {
        FarChange::Send { store, body } => send_in_txn(txn, store, body).await,
        FarChange::Took { store, seq } => took_in_txn(txn, store, *seq).await,
        FarChange::Acked { store, seq } => acked_in_txn(txn, store, *seq).await,
        FarChange::Named { store, name } => {
            let named = txn.sql(
                "insert into far_stores (store, out_seq, acked, in_seq, name) values ($1, 0, 0, 0, $2)
                 on conflict (store) do update set name = excluded.name",
            );
            named.bind(store).bind(name).run("name another store").await.map(drop)
        }
        FarChange::Put(row) => put_in_txn(txn, row).await,
        FarChange::Remove { pod, store, worker } => remove_in_txn(txn, *pod, store, worker).await,
        FarChange::Pace { pod, store, worker, level, at } => {
            let text = "update far_peers set pace_level = $4, pace_at = $5
                        where pod = $1 and store = $2 and worker = $3";
            let pace = txn.sql(text).bind(pod.0).bind(store).bind(worker.as_str());
            pace.bind(i64::from(*level)).bind(micros(*at)).run("note the pace of a pair").await.map(drop)
        }
        FarChange::Told { pod, store, worker, told } => {
            let text = "update far_peers set told = $4 where pod = $1 and store = $2 and worker = $3";
            let row = txn.sql(text).bind(pod.0).bind(store).bind(worker.as_str());
            row.bind(told).run("note what another store was told").await.map(drop)
        }
        FarChange::Card { store, worker, body, at } => {
            let card = txn.sql(
                "insert into far_cards (store, worker, body, at)
                 select $1, $2, $3, $4 where exists
                     (select 1 from far_peers where far_peers.store = $1 and far_peers.worker = $2)
                 on conflict (store, worker) do update set body = excluded.body, at = excluded.at",
            );
            let card = card.bind(store).bind(worker.as_str()).bind(body).bind(micros(*at));
            card.run("note what is said of a far Pod").await.map(drop)
        }
        FarChange::Message(row) => message_in_txn(txn, row).await,
        FarChange::MessageState(receipt) => receipt_in_txn(txn, receipt).await,
    }
}

/// Numbers are assigned while the store's row is locked, so items become visible in order.
async fn send_in_txn(txn: &mut Txn<'_>, store: &str, body: &str) -> Result<(), WriteError> {
    let next = txn.sql(
        "insert into far_stores (store, out_seq, acked, in_seq) values ($1, 1, 0, 0)
         on conflict (store) do update set out_seq = far_stores.out_seq + 1 returning out_seq",
    );
    let seq = next.bind(store).number("number an item for another store").await?;
    let item = txn.sql("insert into far_out (store, seq, body) values ($1, $2, $3)").bind(store).bind(seq).bind(body);
    item.run("put out an item for another store").await.map(drop)
}

async fn took_in_txn(txn: &mut Txn<'_>, store: &str, seq: i64) -> Result<(), WriteError> {
    let first = "insert into far_stores (store, out_seq, acked, in_seq) values ($1, 0, 0, 0) on conflict do nothing";
    txn.sql(first).bind(store).run("note another store").await?;
    let next = txn.sql("update far_stores set in_seq = $2 where store = $1 and in_seq = $2 - 1").bind(store).bind(seq);
    one_row(next.run("note what was taken in").await?)
}

async fn acked_in_txn(txn: &mut Txn<'_>, store: &str, seq: i64) -> Result<(), WriteError> {
    let acked = "update far_stores set acked = $2 where store = $1 and acked < $2 and out_seq >= $2";
    txn.sql(acked).bind(store).bind(seq).run("note what another store has").await?;
    let done = "delete from far_out where store = $1 and seq <=
                    (select acked from far_stores where far_stores.store = $1)";
    txn.sql(done).bind(store).run("forget what another store has").await.map(drop)
}

async fn put_in_txn(txn: &mut Txn<'_>, row: &FarPeerRow) -> Result<(), WriteError> {
    let put = txn.sql(
        "insert into far_peers
         (pod, store, worker, handshake, state, note, by_whom, since, expires_at, pace_level, pace_at, told)
         select pods.key, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 from pods where pods.key = $1
         on conflict (pod, store, worker) do update set
             handshake = excluded.handshake, state = excluded.state, note = excluded.note,
             by_whom = excluded.by_whom, since = excluded.since, expires_at = excluded.expires_at,
             pace_level = excluded.pace_level, pace_at = excluded.pace_at, told = excluded.told",
    );
    let put = put
        .bind(row.pod.0)
        .bind(&row.store)
        .bind(row.worker.as_str())
        .bind(&row.handshake)
        .bind(row.state.word())
        .bind(row.note.as_deref().map(without_nul))
        .bind(without_nul(&row.by))
        .bind(micros(row.since))
        .bind(row.expires_at.map(micros))
        .bind(i64::from(row.pace_level))
        .bind(micros(row.pace_at))
        .bind(&row.told);
    one_row(put.run("note what a Pod is to a far one").await?)
}

/// When no Pod here has a relation to a far Pod any more, only its messages are kept.
async fn remove_in_txn(txn: &mut Txn<'_>, pod: PodKey, store: &str, worker: &WorkerId) -> Result<(), WriteError> {
    let peer = txn.sql("delete from far_peers where pod = $1 and store = $2 and worker = $3");
    peer.bind(pod.0).bind(store).bind(worker.as_str()).run("end what a Pod is to a far one").await?;
    let card = txn.sql(
        "delete from far_cards where store = $1 and worker = $2 and not exists
             (select 1 from far_peers where far_peers.store = $1 and far_peers.worker = $2)",
    );
    card.bind(store).bind(worker.as_str()).run("forget a far Pod").await.map(drop)
}

async fn message_in_txn(txn: &mut Txn<'_>, row: &FarMessageRow) -> Result<(), WriteError> {
    let message = txn.sql(
        "insert into far_messages
         (pod, id, store, worker, is_outgoing, call_id, text, hops, state, turn, reason, at, changed_at, woke)
         select pods.key, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 from pods where pods.key = $1",
    );
    let message = message
        .bind(row.pod.0)
        .bind(&row.id)
        .bind(&row.store)
        .bind(row.worker.as_str())
        .bind(row.is_outgoing)
        .bind(row.call_id.as_deref())
        .bind(quoted(&row.text))
        .bind(i64::from(row.hops))
        .bind(receipt_word(row.state))
        .bind(row.turn.map(turn_number))
        .bind(row.reason.as_deref())
        .bind(micros(row.at))
        .bind(micros(row.changed_at))
        .bind(row.woke);
    one_row(message.run("put a far message").await?)
}

async fn receipt_in_txn(txn: &mut Txn<'_>, receipt: &FarReceipt) -> Result<(), WriteError> {
    let changed = txn.sql(
        "update far_messages set state = $3, turn = coalesce($4, turn), reason = $5, woke = (woke or $6), changed_at = $7
         where pod = $1 and id = $2",
    );
    let changed = changed
        .bind(receipt.pod.0)
        .bind(&receipt.id)
        .bind(receipt_word(receipt.state))
        .bind(receipt.turn.map(turn_number))
        .bind(receipt.reason.as_deref())
        .bind(receipt.woke)
        .bind(micros(receipt.at));
    changed.run("change a far message's state").await.map(drop)
}

fn one_row(changed: u64) -> Result<(), WriteError> {
    if changed == 1 { Ok(()) } else { Err(WriteError::Conflict) }
}
