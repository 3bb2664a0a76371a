//! The SQL about other stores. Both engines understand the same words here (numbered arguments, `on conflict`, row
//! values), so each takes it as it is, over its own kind of connection.

use protocol::{ReceiptState, WorkerId};

use crate::{
    FarCardRow, FarMessageRow, FarPeerRow, FarPosition, FarState, PodKey, StoreError,
    columns::{damaged, time},
    peer_columns::receipt_state,
};

/// `out_seq, acked, in_seq`.
pub(crate) fn position(columns: Option<(i64, i64, i64)>) -> FarPosition {
    let (put_out, acked, taken) = columns.unwrap_or_default();
    FarPosition { put_out, acked, taken }
}

/// The columns of [`PeerColumns`], in its order.
macro_rules! far_peer_columns {
    () => {
        "select pod, store, worker, handshake, state, note, by_whom, since, expires_at, pace_level, pace_at, told
         from far_peers "
    };
}

pub(crate) type PeerColumns =
    (i64, String, String, String, String, Option<String>, String, i64, Option<i64>, i64, i64, String);

pub(crate) fn peer(columns: PeerColumns) -> Result<FarPeerRow, StoreError> {
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

/// The columns of [`MessageColumns`], in its order.
macro_rules! far_message_columns {
    () => {
        "select pod, id, store, worker, is_outgoing, call_id, text, hops, state, turn, reason, at, changed_at, woke
         from far_messages "
    };
}

pub(crate) type MessageColumns = (
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

pub(crate) fn message(columns: MessageColumns) -> Result<FarMessageRow, StoreError> {
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
            // So earlier versions wrote down what was on its way.
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

pub(crate) fn card((store, worker, body, at): (String, String, String, i64)) -> Result<FarCardRow, StoreError> {
    let worker = WorkerId::parse(&worker).map_err(damaged("worker id"))?;
    Ok(FarCardRow { store, worker, body, at: time(at)? })
}

/// Everything about other stores, for one kind of pool and connection.
macro_rules! far_sql {
    ($engine:ty, $connection:ty) => {
        use async_trait::async_trait;
        use jiff::Timestamp;
        use protocol::WorkerId;

        use super::{read_failed, write_failed};
        use crate::{
            FarCardRow, FarChange, FarMessageRow, FarPeerRow, FarPosition, FarReceipt, PodKey, StoreError,
            columns::micros,
            engine::WriteError,
            far::FarEngine,
            far_sql::{self, MessageColumns, PeerColumns, far_message_columns, far_peer_columns},
            peer_columns::{quoted, receipt_word, turn_number},
            words::without_nul,
        };

        #[async_trait]
        impl FarEngine for $engine {
            async fn far_position(&self, store: &str) -> Result<FarPosition, StoreError> {
                sqlx::query_as("select out_seq, acked, in_seq from far_stores where store = $1")
                    .bind(store)
                    .fetch_optional(&self.readers)
                    .await
                    .map(far_sql::position)
                    .map_err(read_failed("look up another store"))
            }

            async fn far_named(&self) -> Result<Vec<(String, String)>, StoreError> {
                let query = "select store, name from far_stores where name is not null and exists
                                 (select 1 from far_peers where far_peers.store = far_stores.store)
                             order by store";
                let rows = sqlx::query_as(query).fetch_all(&self.readers).await;
                rows.map_err(read_failed("list the names of other stores"))
            }

            async fn far_out(&self, store: &str, after: i64, limit: u32) -> Result<Vec<(i64, String)>, StoreError> {
                sqlx::query_as("select seq, body from far_out where store = $1 and seq > $2 order by seq limit $3")
                    .bind(store)
                    .bind(after)
                    .bind(i64::from(limit))
                    .fetch_all(&self.readers)
                    .await
                    .map_err(read_failed("read what waits for another store"))
            }

            async fn far_peers(&self, pod: PodKey) -> Result<Vec<FarPeerRow>, StoreError> {
                let query = concat!(far_peer_columns!(), "where pod = $1 order by since, store, worker");
                peers(sqlx::query_as(query).bind(pod.0).fetch_all(&self.readers).await)
            }

            async fn far_peers_all(&self) -> Result<Vec<FarPeerRow>, StoreError> {
                let query = concat!(far_peer_columns!(), "order by since, pod, store, worker");
                peers(sqlx::query_as(query).fetch_all(&self.readers).await)
            }

            async fn far_peer_of(&self, store: &str, handshake: &str) -> Result<Option<FarPeerRow>, StoreError> {
                let query = concat!(far_peer_columns!(), "where store = $1 and handshake = $2");
                let rows = sqlx::query_as(query).bind(store).bind(handshake).fetch_all(&self.readers).await;
                Ok(peers(rows)?.pop())
            }

            async fn far_cards(&self) -> Result<Vec<FarCardRow>, StoreError> {
                let rows = sqlx::query_as("select store, worker, body, at from far_cards order by store, worker")
                    .fetch_all(&self.readers)
                    .await;
                rows.map_err(read_failed("list far Pods"))?.into_iter().map(far_sql::card).collect()
            }

            async fn far_card(&self, store: &str, worker: &WorkerId) -> Result<Option<FarCardRow>, StoreError> {
                let query = "select store, worker, body, at from far_cards where store = $1 and worker = $2";
                let row = sqlx::query_as(query).bind(store).bind(worker.as_str()).fetch_optional(&self.readers).await;
                row.map_err(read_failed("look up a far Pod"))?.map(far_sql::card).transpose()
            }

            async fn far_message(&self, pod: PodKey, id: &str) -> Result<Option<FarMessageRow>, StoreError> {
                let query = concat!(far_message_columns!(), "where pod = $1 and id = $2");
                Ok(messages(sqlx::query_as(query).bind(pod.0).bind(id).fetch_all(&self.readers).await)?.pop())
            }

            async fn far_message_of_call(
                &self,
                pod: PodKey,
                call_id: &str,
            ) -> Result<Option<FarMessageRow>, StoreError> {
                let query = concat!(far_message_columns!(), "where pod = $1 and call_id = $2");
                Ok(messages(sqlx::query_as(query).bind(pod.0).bind(call_id).fetch_all(&self.readers).await)?.pop())
            }

            async fn far_messages(
                &self,
                pod: PodKey,
                store: &str,
                worker: &WorkerId,
                (at, id): (Timestamp, String),
                limit: u32,
            ) -> Result<Vec<FarMessageRow>, StoreError> {
                let query = concat!(
                    far_message_columns!(),
                    "where pod = $1 and store = $2 and worker = $3 and (at, id) < ($4, $5)
                     order by at desc, id desc limit $6"
                );
                let query = sqlx::query_as(query).bind(pod.0).bind(store).bind(worker.as_str());
                messages(query.bind(micros(at)).bind(id).bind(i64::from(limit)).fetch_all(&self.readers).await)
            }
        }

        fn peers(rows: Result<Vec<PeerColumns>, sqlx::Error>) -> Result<Vec<FarPeerRow>, StoreError> {
            rows.map_err(read_failed("list far peers"))?.into_iter().map(far_sql::peer).collect()
        }

        fn messages(rows: Result<Vec<MessageColumns>, sqlx::Error>) -> Result<Vec<FarMessageRow>, StoreError> {
            rows.map_err(read_failed("list far messages"))?.into_iter().map(far_sql::message).collect()
        }

        pub(super) async fn change_in_txn(
            connection: &mut $connection,
            change: &FarChange,
        ) -> Result<(), WriteError> {
            match change {
                FarChange::Send { store, body } => send_in_txn(connection, store, body).await,
                FarChange::Took { store, seq } => took_in_txn(connection, store, *seq).await,
                FarChange::Acked { store, seq } => acked_in_txn(connection, store, *seq).await,
                FarChange::Named { store, name } => sqlx::query(
                    "insert into far_stores (store, out_seq, acked, in_seq, name) values ($1, 0, 0, 0, $2)
                     on conflict (store) do update set name = excluded.name",
                )
                .bind(store)
                .bind(name)
                .execute(connection)
                .await
                .map(drop)
                .map_err(write_failed("name another store")),
                FarChange::Put(row) => put_in_txn(connection, row).await,
                FarChange::Remove { pod, store, worker } => remove_in_txn(connection, *pod, store, worker).await,
                FarChange::Pace { pod, store, worker, level, at } => sqlx::query(
                    "update far_peers set pace_level = $4, pace_at = $5
                     where pod = $1 and store = $2 and worker = $3",
                )
                .bind(pod.0)
                .bind(store)
                .bind(worker.as_str())
                .bind(i64::from(*level))
                .bind(micros(*at))
                .execute(connection)
                .await
                .map(drop)
                .map_err(write_failed("note the pace of a pair")),
                FarChange::Told { pod, store, worker, told } => {
                    sqlx::query("update far_peers set told = $4 where pod = $1 and store = $2 and worker = $3")
                        .bind(pod.0)
                        .bind(store)
                        .bind(worker.as_str())
                        .bind(told)
                        .execute(connection)
                        .await
                        .map(drop)
                        .map_err(write_failed("note what another store was told"))
                }
                FarChange::Card { store, worker, body, at } => sqlx::query(
                    "insert into far_cards (store, worker, body, at)
                     select $1, $2, $3, $4 where exists
                         (select 1 from far_peers where far_peers.store = $1 and far_peers.worker = $2)
                     on conflict (store, worker) do update set body = excluded.body, at = excluded.at",
                )
                .bind(store)
                .bind(worker.as_str())
                .bind(body)
                .bind(micros(*at))
                .execute(connection)
                .await
                .map(drop)
                .map_err(write_failed("note what is said of a far Pod")),
                FarChange::Message(row) => message_in_txn(connection, row).await,
                FarChange::MessageState(receipt) => receipt_in_txn(connection, receipt).await,
            }
        }

        /// Numbers are given while the store's row is locked, so they are seen in their order.
        async fn send_in_txn(connection: &mut $connection, store: &str, body: &str) -> Result<(), WriteError> {
            let seq: i64 = sqlx::query_scalar(
                "insert into far_stores (store, out_seq, acked, in_seq) values ($1, 1, 0, 0)
                 on conflict (store) do update set out_seq = far_stores.out_seq + 1 returning out_seq",
            )
            .bind(store)
            .fetch_one(&mut *connection)
            .await
            .map_err(write_failed("number an item for another store"))?;
            sqlx::query("insert into far_out (store, seq, body) values ($1, $2, $3)")
                .bind(store)
                .bind(seq)
                .bind(body)
                .execute(connection)
                .await
                .map(drop)
                .map_err(write_failed("put out an item for another store"))
        }

        async fn took_in_txn(connection: &mut $connection, store: &str, seq: i64) -> Result<(), WriteError> {
            sqlx::query(
                "insert into far_stores (store, out_seq, acked, in_seq) values ($1, 0, 0, 0) on conflict do nothing",
            )
            .bind(store)
            .execute(&mut *connection)
            .await
            .map_err(write_failed("note another store"))?;
            let done = sqlx::query("update far_stores set in_seq = $2 where store = $1 and in_seq = $2 - 1")
                .bind(store)
                .bind(seq)
                .execute(connection)
                .await
                .map_err(write_failed("note what was taken in"))?;
            if done.rows_affected() == 1 { Ok(()) } else { Err(WriteError::Conflict) }
        }

        async fn acked_in_txn(connection: &mut $connection, store: &str, seq: i64) -> Result<(), WriteError> {
            sqlx::query("update far_stores set acked = $2 where store = $1 and acked < $2 and out_seq >= $2")
                .bind(store)
                .bind(seq)
                .execute(&mut *connection)
                .await
                .map_err(write_failed("note what another store has"))?;
            sqlx::query(
                "delete from far_out where store = $1 and seq <=
                     (select acked from far_stores where far_stores.store = $1)",
            )
            .bind(store)
            .execute(connection)
            .await
            .map(drop)
            .map_err(write_failed("forget what another store has"))
        }

        async fn put_in_txn(connection: &mut $connection, row: &FarPeerRow) -> Result<(), WriteError> {
            let done = sqlx::query(
                "insert into far_peers
                 (pod, store, worker, handshake, state, note, by_whom, since, expires_at, pace_level, pace_at, told)
                 select pods.key, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 from pods where pods.key = $1
                 on conflict (pod, store, worker) do update set
                     handshake = excluded.handshake, state = excluded.state, note = excluded.note,
                     by_whom = excluded.by_whom, since = excluded.since, expires_at = excluded.expires_at,
                     pace_level = excluded.pace_level, pace_at = excluded.pace_at, told = excluded.told",
            )
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
            .bind(&row.told)
            .execute(connection)
            .await
            .map_err(write_failed("note what a Pod is to a far one"))?;
            if done.rows_affected() == 1 { Ok(()) } else { Err(WriteError::Conflict) }
        }

        /// Of a far Pod that nobody here knows any more nothing is kept but the messages.
        async fn remove_in_txn(
            connection: &mut $connection,
            pod: PodKey,
            store: &str,
            worker: &WorkerId,
        ) -> Result<(), WriteError> {
            sqlx::query("delete from far_peers where pod = $1 and store = $2 and worker = $3")
                .bind(pod.0)
                .bind(store)
                .bind(worker.as_str())
                .execute(&mut *connection)
                .await
                .map_err(write_failed("end what a Pod is to a far one"))?;
            sqlx::query(
                "delete from far_cards where store = $1 and worker = $2 and not exists
                     (select 1 from far_peers where far_peers.store = $1 and far_peers.worker = $2)",
            )
            .bind(store)
            .bind(worker.as_str())
            .execute(connection)
            .await
            .map(drop)
            .map_err(write_failed("forget a far Pod"))
        }

        async fn message_in_txn(connection: &mut $connection, row: &FarMessageRow) -> Result<(), WriteError> {
            let done = sqlx::query(
                "insert into far_messages
                 (pod, id, store, worker, is_outgoing, call_id, text, hops, state, turn, reason, at, changed_at, woke)
                 select pods.key, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
                 from pods where pods.key = $1",
            )
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
            .bind(row.woke)
            .execute(connection)
            .await
            .map_err(write_failed("put a far message"))?;
            if done.rows_affected() == 1 { Ok(()) } else { Err(WriteError::Conflict) }
        }

        async fn receipt_in_txn(connection: &mut $connection, receipt: &FarReceipt) -> Result<(), WriteError> {
            sqlx::query(
                "update far_messages set state = $3, turn = coalesce($4, turn), reason = $5, woke = (woke or $6),
                     changed_at = $7
                 where pod = $1 and id = $2",
            )
            .bind(receipt.pod.0)
            .bind(&receipt.id)
            .bind(receipt_word(receipt.state))
            .bind(receipt.turn.map(turn_number))
            .bind(receipt.reason.as_deref())
            .bind(receipt.woke)
            .bind(micros(receipt.at))
            .execute(connection)
            .await
            .map(drop)
            .map_err(write_failed("change a far message's state"))
        }
    };
}

pub(crate) use {far_message_columns, far_peer_columns, far_sql};
