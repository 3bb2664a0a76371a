//! Messages between Pods: one row each, with where it is.

use jiff::Timestamp;
use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    MessageRow, NewMessage, PodKey, StoreError,
    columns::micros,
    engine::WriteError,
    peer_columns::{self, MessageColumns, message_columns, quoted, receipt_word, turn_number},
    peer_plan::{Pair, ReceiptLine},
};

pub(super) async fn find(pool: &PgPool, id: &str) -> Result<Option<MessageRow>, StoreError> {
    let row = sqlx::query_as(concat!("select ", message_columns!(), " from messages where id = $1"))
        .bind(id)
        .fetch_optional(pool)
        .await;
    row.map_err(read_failed("look up a message"))?.map(peer_columns::message).transpose()
}

pub(super) async fn find_by_call(
    pool: &PgPool,
    sender: PodKey,
    call_id: &str,
) -> Result<Option<MessageRow>, StoreError> {
    let row =
        sqlx::query_as(concat!("select ", message_columns!(), " from messages where sender = $1 and call_id = $2"))
            .bind(sender.0)
            .bind(call_id)
            .fetch_optional(pool)
            .await;
    row.map_err(read_failed("look up a call's message"))?.map(peer_columns::message).transpose()
}

/// Each direction is read from its own end of the index, and no further than the page.
pub(super) async fn of_pair(
    pool: &PgPool,
    pair: Pair,
    (at, id): (Timestamp, String),
    limit: u32,
) -> Result<Vec<MessageRow>, StoreError> {
    let rows = sqlx::query_as(concat!(
        "select ",
        message_columns!(),
        " from messages where id in (
             (select id from messages where sender = $1 and receiver = $2 and (at, id) < ($3, $4)
              order by at desc, id desc limit $5)
             union all
             (select id from messages where sender = $2 and receiver = $1 and (at, id) < ($3, $4)
              order by at desc, id desc limit $5)
         ) order by at desc, id desc limit $5"
    ))
    .bind(pair.low.0)
    .bind(pair.high.0)
    .bind(micros(at))
    .bind(id)
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await;
    read("list the messages of two Pods", rows)
}

pub(super) async fn held(pool: &PgPool, pod: PodKey) -> Result<Vec<MessageRow>, StoreError> {
    let rows = sqlx::query_as(concat!(
        "select ",
        message_columns!(),
        " from messages where state = 'held' and (sender = $1 or receiver = $1) order by at, id"
    ))
    .bind(pod.0)
    .fetch_all(pool)
    .await;
    read("list held messages", rows)
}

pub(super) async fn woke_count(pool: &PgPool, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(
        "select (select count(*) from messages where woke and receiver = $1 and at >= $2)
             + (select count(*) from far_messages where woke and pod = $1 and at >= $2)",
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
pub(super) async fn put_in_txn(connection: &mut PgConnection, lines: &[&NewMessage]) -> Result<(), WriteError> {
    let done = sqlx::query(
        "insert into messages (id, sender, receiver, call_id, text, hops, state, at, changed_at, woke)
         select line.id, line.sender, line.receiver, line.call_id, line.text, line.hops, line.state, line.at, line.at,
                line.woke
         from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[],
                     $8::bigint[], $9::boolean[])
              as line (id, sender, receiver, call_id, text, hops, state, at, woke)
         join pods sender on sender.key = line.sender join pods receiver on receiver.key = line.receiver",
    )
    .bind(lines.iter().map(|message| message.id.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| message.sender.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| message.receiver.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| message.call_id.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| quoted(&message.text)).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| i64::from(message.hops)).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| receipt_word(message.state)).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| micros(message.at)).collect::<Vec<_>>())
    .bind(lines.iter().map(|message| message.woke).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map_err(write_failed("put a message"))?;
    // One is missing: the same batch deletes one of its Pods.
    if done.rows_affected() < lines.len() as u64 { Err(WriteError::Conflict) } else { Ok(()) }
}

pub(super) async fn change_in_txn(connection: &mut PgConnection, lines: &[ReceiptLine<'_>]) -> Result<(), WriteError> {
    sqlx::query(
        "update messages set
             state = line.state,
             turn = coalesce(line.turn, messages.turn),
             woke = messages.woke or line.woke,
             changed_at = line.at
         from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::bigint[])
              as line (id, state, turn, woke, at)
         where messages.id = line.id",
    )
    .bind(lines.iter().map(|line| line.id).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| receipt_word(line.state)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.turn.map(turn_number)).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.woke).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| micros(line.at)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("change a message's state"))
}
