//! Messages between Pods: one row each, with where it is.

use jiff::Timestamp;
use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    MessageRow, NewMessage, PodKey, StoreError,
    columns::micros,
    engine::WriteError,
    peer_columns::{self, MessageColumns, message_columns, quoted, receipt_word, turn_number},
    peer_plan::{Pair, ReceiptLine},
};

pub(super) async fn find(pool: &SqlitePool, id: &str) -> Result<Option<MessageRow>, StoreError> {
    let row = sqlx::query_as(concat!("select ", message_columns!(), " from messages where id = ?"))
        .bind(id)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a message"))?.map(peer_columns::message).transpose()
}

pub(super) async fn find_by_call(
    pool: &SqlitePool,
    sender: PodKey,
    call_id: &str,
) -> Result<Option<MessageRow>, StoreError> {
    let row = sqlx::query_as(concat!("select ", message_columns!(), " from messages where sender = ? and call_id = ?"))
        .bind(sender.0)
        .bind(call_id)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a call's message"))?.map(peer_columns::message).transpose()
}

/// Each direction is read from its own end of the index, and no further than the page.
pub(super) async fn of_pair(
    pool: &SqlitePool,
    pair: Pair,
    (at, id): (Timestamp, String),
    limit: u32,
) -> Result<Vec<MessageRow>, StoreError> {
    let rows = sqlx::query_as(concat!(
        "select ",
        message_columns!(),
        " from messages where id in (
             select id from (select id from messages where sender = ?1 and receiver = ?2 and (at, id) < (?3, ?4)
                             order by at desc, id desc limit ?5)
             union all
             select id from (select id from messages where sender = ?2 and receiver = ?1 and (at, id) < (?3, ?4)
                             order by at desc, id desc limit ?5)
         ) order by at desc, id desc limit ?5"
    ))
    .bind(pair.low.0)
    .bind(pair.high.0)
    .bind(micros(at))
    .bind(id)
    .bind(limit)
    .fetch_all(pool)
    .await;
    read("list the messages of two Pods", rows)
}

pub(super) async fn held(pool: &SqlitePool, pod: PodKey) -> Result<Vec<MessageRow>, StoreError> {
    let rows = sqlx::query_as(concat!(
        "select ",
        message_columns!(),
        " from messages where state = 'held' and (sender = ?1 or receiver = ?1) order by at, id"
    ))
    .bind(pod.0)
    .fetch_all(pool)
    .await;
    read("list held messages", rows)
}

pub(super) async fn woke_count(pool: &SqlitePool, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(
        "select (select count(*) from messages where woke = 1 and receiver = $1 and at >= $2)
             + (select count(*) from far_messages where woke = 1 and pod = $1 and at >= $2)",
    )
    .bind(receiver.0)
    .bind(micros(since))
    .fetch_one(pool)
    .await
    .map_err(read_failed("count messages"))?;
    Ok(count.unsigned_abs())
}

fn read(
    operation: &'static str,
    rows: Result<Vec<MessageColumns>, sqlx::Error>,
) -> Result<Vec<MessageRow>, StoreError> {
    rows.map_err(read_failed(operation))?.into_iter().map(peer_columns::message).collect()
}

/// All of them: a message that was not written must not be taken for one that was.
pub(super) async fn put_in_txn(connection: &mut SqliteConnection, lines: &[&NewMessage]) -> Result<(), WriteError> {
    let row = |message: &&NewMessage| {
        json!([
            message.id,
            message.sender.0,
            message.receiver.0,
            message.call_id,
            quoted(&message.text),
            message.hops,
            receipt_word(message.state),
            micros(message.at),
            i64::from(message.woke),
        ])
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    let done = sqlx::query(
        "insert into messages (id, sender, receiver, call_id, text, hops, state, at, changed_at, woke)
         select line.value->>0, sender.key, receiver.key, line.value->>3, line.value->>4,
                line.value->>5, line.value->>6, line.value->>7, line.value->>7, line.value->>8
         from json_each(?) line cross join pods sender cross join pods receiver
         where sender.key = line.value->>1 and receiver.key = line.value->>2",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map_err(write_failed("put a message"))?;
    // One is missing: the same batch deletes one of its Pods.
    if done.rows_affected() < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}

pub(super) async fn change_in_txn(
    connection: &mut SqliteConnection,
    lines: &[ReceiptLine<'_>],
) -> Result<(), WriteError> {
    let row = |line: &ReceiptLine<'_>| {
        json!([line.id, receipt_word(line.state), line.turn.map(turn_number), i64::from(line.woke), micros(line.at)])
    };
    let rows: Vec<_> = lines.iter().map(row).collect();
    sqlx::query(
        "update messages set
             state = line.value->>1,
             turn = coalesce(line.value->>2, turn),
             woke = max(woke, line.value->>3),
             changed_at = line.value->>4
         from json_each(?) line where messages.id = line.value->>0",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("change a message's state"))
}
