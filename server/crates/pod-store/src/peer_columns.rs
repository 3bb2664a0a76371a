//! Conversions between the columns of pairs, requests and messages and our types.

use protocol::ReceiptState;
use sqlx::FromRow;

use crate::{
    MessageRow, PairRow, PodKey, RequestRow, StoreError,
    columns::{self, POD_COLUMNS, PodColumns, damaged, time},
    statement::Line,
};

const RECEIPT_STATES: [ReceiptState; 7] = [
    ReceiptState::Sent,
    ReceiptState::Stored,
    ReceiptState::Read,
    ReceiptState::Answered,
    ReceiptState::Held,
    ReceiptState::Refused,
    ReceiptState::Expired,
];

/// These words are in existing databases and must never change.
pub(crate) fn receipt_word(state: ReceiptState) -> &'static str {
    match state {
        ReceiptState::Sent => "sent",
        ReceiptState::Stored => "stored",
        ReceiptState::Read => "read",
        ReceiptState::Answered => "answered",
        ReceiptState::Held => "held",
        ReceiptState::Refused => "refused",
        ReceiptState::Expired => "expired",
    }
}

pub(crate) fn receipt_state(word: String) -> Result<ReceiptState, StoreError> {
    let known = RECEIPT_STATES.into_iter().find(|known| receipt_word(*known) == word);
    known.ok_or(word).map_err(damaged("message state"))
}

/// The number of a run, clamped to the range of the column.
pub(crate) fn turn_number(turn: u64) -> i64 {
    i64::try_from(turn).unwrap_or(i64::MAX)
}

/// A text as a JSON string, as it is stored.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// `by_whom, since, pace_level, pace_at`.
pub(crate) fn pair((by, since, pace_level, pace_at): (String, i64, i64, i64)) -> Result<PairRow, StoreError> {
    let pace_level = u32::try_from(pace_level).map_err(damaged("pace"))?;
    Ok(PairRow { by, since: time(since)?, pace_level, pace_at: time(pace_at)? })
}

/// Selects every request as two rows, one for each of its Pods: first the one that asked, then the other.
macro_rules! requests_where {
    ($condition:literal) => {
        concat!(
            "select ",
            pod_columns!(),
            ", request.id, request.note, request.by_whom, request.at, request.expires_at
             from peer_requests request cross join ",
            pod_tables!(),
            " where pods.key in (request.low, request.high) and ",
            $condition,
            " order by request.at, request.id, pods.key <> request.asker"
        )
    };
}

/// One row of [`requests_where`].
pub(crate) struct RequestSide {
    pod: PodColumns,
    id: String,
    note: Option<String>,
    by: String,
    at: i64,
    expires_at: i64,
}

impl<'r, R: Line> FromRow<'r, R> for RequestSide {
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self {
            pod: PodColumns::from_row(row)?,
            id: row.at(POD_COLUMNS)?,
            note: row.at(POD_COLUMNS + 1)?,
            by: row.at(POD_COLUMNS + 2)?,
            at: row.at(POD_COLUMNS + 3)?,
            expires_at: row.at(POD_COLUMNS + 4)?,
        })
    }
}

/// Combines the two rows of each request.
pub(crate) fn requests(sides: Vec<RequestSide>) -> Result<Vec<RequestRow>, StoreError> {
    let mut requests = Vec::with_capacity(sides.len() / 2);
    let mut sides = sides.into_iter();
    while let Some(RequestSide { pod, id, note, by, at, expires_at }) = sides.next() {
        let to = sides.next().filter(|to| to.id == id).ok_or("one of its Pods is missing");
        let to = columns::pod(to.map_err(damaged("request"))?.pod)?;
        let from = columns::pod(pod)?;
        requests.push(RequestRow { id, from, to, note, by, at: time(at)?, expires_at: time(expires_at)? });
    }
    Ok(requests)
}

/// The columns of [`MessageColumns`], in its order.
macro_rules! message_columns {
    () => {
        "id, sender, receiver, call_id, text, hops, state, turn, at, changed_at, woke"
    };
}

pub(crate) type MessageColumns = (String, i64, i64, String, String, i64, String, Option<i64>, i64, i64, bool);

pub(crate) fn message(columns: MessageColumns) -> Result<MessageRow, StoreError> {
    let (id, sender, receiver, call_id, text, hops, state, turn, at, changed_at, woke) = columns;
    Ok(MessageRow {
        id,
        sender: PodKey(sender),
        receiver: PodKey(receiver),
        call_id,
        text: serde_json::from_str(&text).map_err(damaged("message"))?,
        hops: u32::try_from(hops).map_err(damaged("count"))?,
        state: receipt_state(state)?,
        turn: turn.map(u64::try_from).transpose().map_err(damaged("turn"))?,
        at: time(at)?,
        changed_at: time(changed_at)?,
        woke,
    })
}

pub(crate) use {message_columns, requests_where};
