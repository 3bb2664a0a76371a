//! Conversions between database columns and our types. Times are microseconds since 1970 (UTC), states are words.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{AuditEntry, Blobs, CommandId, PodName, PodState, Segment, Seq, WorkerId};
use serde::Deserialize;
use serde_json::json;
use sqlx::{
    Decode, FromRow, Postgres, Sqlite, Type,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueRef},
    sqlite::{SqliteTypeInfo, SqliteValueRef},
};

use crate::{
    CommandRow, DamagedRecord, InboxRow, MailRow, ParentRow, PodKey, PodRow, RecordClass, SearchRow, SessionRow,
    StoreError, checksum::RawRecord, search::Hit, statement::Line,
};

pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn time(micros: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(micros).map_err(damaged("time"))
}

/// These numbers are in existing databases and must never change.
pub(crate) fn class_number(class: RecordClass) -> i16 {
    match class {
        RecordClass::Chunk => 0,
        RecordClass::Turn => 1,
        RecordClass::Control => 2,
        RecordClass::Question => 3,
    }
}

/// `what` names the column.
pub(crate) fn damaged<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> StoreError {
    move |error| StoreError::Damaged(format!("the database holds a {what} that cannot be read: {error}"))
}

/// The columns of [`PodColumns`], in its order, selected from [`pod_tables`].
macro_rules! pod_columns {
    () => {
        "pods.key, pods.worker_id, pods.name, pods.created_at, pods.updated_at, pods.state, pods.open, pods.spec,
         pods.checkpoint,
         coalesce(case when pods.open then (select max(seq) from journal where journal.pod = pods.key) end,
                  pods.checkpoint_seq),
         pods.unread, parent.key, parent.worker_id,
         (select count(*) from children where children.parent = pods.key),
         (select count(*) from peers where peers.low = pods.key)
             + (select count(*) from peers where peers.high = pods.key)
             + (select count(*) from far_peers where far_peers.pod = pods.key and far_peers.state = 'linked'),
         (select count(*) from inbox where inbox.pod = pods.key)"
    };
}

/// Each Pod, joined with its `link` to its `parent` if it has one.
macro_rules! pod_tables {
    () => {
        "pods left join children link on link.child = pods.key left join pods parent on parent.key = link.parent"
    };
}

pub(crate) use {pod_columns, pod_tables};

/// The number of columns in [`PodColumns`].
pub(crate) const POD_COLUMNS: usize = 16;

pub(crate) struct PodColumns {
    key: i64,
    worker_id: String,
    name: String,
    created_at: i64,
    updated_at: i64,
    state: String,
    open: bool,
    spec: String,
    checkpoint: String,
    head: i64,
    unread: i64,
    parent_key: Option<i64>,
    parent_worker_id: Option<String>,
    children: i64,
    peers: i64,
    queued: i64,
}

impl<'r, R: Line> FromRow<'r, R> for PodColumns {
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self {
            key: row.at(0)?,
            worker_id: row.at(1)?,
            name: row.at(2)?,
            created_at: row.at(3)?,
            updated_at: row.at(4)?,
            state: row.at(5)?,
            open: row.at(6)?,
            spec: row.at(7)?,
            checkpoint: row.at(8)?,
            head: row.at(9)?,
            unread: row.at(10)?,
            parent_key: row.at(11)?,
            parent_worker_id: row.at(12)?,
            children: row.at(13)?,
            peers: row.at(14)?,
            queued: row.at(15)?,
        })
    }
}

pub(crate) fn pod(columns: PodColumns) -> Result<PodRow, StoreError> {
    let parent = |(key, worker_id): (i64, String)| -> Result<ParentRow, StoreError> {
        Ok(ParentRow { key: PodKey(key), worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))? })
    };
    let parent = columns.parent_key.zip(columns.parent_worker_id).map(parent);
    let state = PodState::ALL.into_iter().find(|state| state.as_str() == columns.state);
    Ok(PodRow {
        key: PodKey(columns.key),
        worker_id: WorkerId::parse(&columns.worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&columns.name).map_err(damaged("Pod name"))?,
        created_at: time(columns.created_at)?,
        updated_at: time(columns.updated_at)?,
        state: state.ok_or(columns.state).map_err(damaged("Pod state"))?,
        open: columns.open,
        spec: columns.spec,
        checkpoint: columns.checkpoint,
        head: Seq(columns.head),
        unread: u32::try_from(columns.unread).map_err(damaged("count"))?,
        parent: parent.transpose()?,
        children: u32::try_from(columns.children).map_err(damaged("count"))?,
        peers: u32::try_from(columns.peers).map_err(damaged("count"))?,
        queued: u32::try_from(columns.queued).map_err(damaged("count"))?,
    })
}

/// The Pod's name, `seq, reason, found_at`.
pub(crate) fn damaged_record((pod, seq, reason, found_at): (String, i64, String, Option<i64>)) -> DamagedRecord {
    let set_aside_at = found_at.and_then(|at| time(at).ok());
    DamagedRecord { pod, seq: Seq(seq), reason, set_aside_at }
}

/// The body of a record: text, of which only the bytes are known.
pub(crate) struct Body(Bytes);

impl Type<Sqlite> for Body {
    fn type_info() -> SqliteTypeInfo {
        <Vec<u8> as Type<Sqlite>>::type_info()
    }

    fn compatible(found: &SqliteTypeInfo) -> bool {
        <Vec<u8> as Type<Sqlite>>::compatible(found)
    }
}

impl<'r> Decode<'r, Sqlite> for Body {
    fn decode(value: SqliteValueRef<'r>) -> Result<Self, BoxDynError> {
        <Vec<u8> as Decode<Sqlite>>::decode(value).map(|body| Self(body.into()))
    }
}

impl Type<Postgres> for Body {
    fn type_info() -> PgTypeInfo {
        <str as Type<Postgres>>::type_info()
    }
}

impl<'r> Decode<'r, Postgres> for Body {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(Bytes::copy_from_slice(value.as_bytes()?)))
    }
}

/// `seq, class, sum, body`.
pub(crate) type RecordColumns = (i64, i64, Option<i64>, Body);

pub(crate) fn record((seq, class, sum, body): RecordColumns) -> Result<RawRecord, StoreError> {
    Ok(RawRecord { seq: Seq(seq), class, sum, body: body.0 })
}

/// A record whose body may be too large to be read.
pub(crate) type FoundColumns = (i64, i64, Option<i64>, Option<Body>);

pub(crate) fn found((seq, class, sum, body): FoundColumns) -> Result<(Seq, Option<RawRecord>), StoreError> {
    Ok((Seq(seq), body.map(|body| record((seq, class, sum, body))).transpose()?))
}

pub(crate) type CommandColumns = (String, Vec<u8>, String, i64);

pub(crate) fn command((id, fingerprint, answer, at): CommandColumns) -> Result<CommandRow, StoreError> {
    let fingerprint = fingerprint.try_into().map_err(|bytes: Vec<u8>| format!("{} bytes", bytes.len()));
    Ok(CommandRow {
        id: CommandId::parse(&id).map_err(damaged("command id"))?,
        fingerprint: fingerprint.map_err(damaged("fingerprint"))?,
        answer,
        at: time(at)?,
    })
}

/// The `segments` column of an input: the segments alone, or with a flag that they steer. One column holds both, so
/// that older databases need no migration.
#[derive(Deserialize)]
#[serde(untagged)]
enum InboxBody {
    Plain(Vec<Segment>),
    Marked {
        steers: bool,
        segments: Vec<Segment>,
        #[serde(default)]
        blobs: Blobs,
    },
}

pub(crate) fn inbox((command_id, body, by, at): (String, String, String, i64)) -> Result<InboxRow, StoreError> {
    let (steers, segments, blobs) = match serde_json::from_str(&body).map_err(damaged("queued input"))? {
        InboxBody::Plain(segments) => (false, segments, Blobs::default()),
        InboxBody::Marked { steers, segments, blobs } => (steers, segments, blobs),
    };
    let command_id = CommandId::parse(&command_id).map_err(damaged("command id"))?;
    Ok(InboxRow { command_id, segments, by, at: time(at)?, steers, blobs })
}

pub(crate) fn inbox_body(row: &InboxRow) -> String {
    let InboxRow { segments, steers, blobs, .. } = row;
    match (steers, blobs.is_empty()) {
        (false, true) => json!(segments).to_string(),
        (true, true) => json!({ "steers": true, "segments": segments }).to_string(),
        (_, false) => json!({ "steers": steers, "segments": segments, "blobs": blobs }).to_string(),
    }
}

pub(crate) fn mail((key, body, at): (String, String, i64)) -> Result<MailRow, StoreError> {
    Ok(MailRow { key, body, at: time(at)? })
}

pub(crate) type AuditColumns =
    (i64, i64, String, String, String, Option<String>, String, Option<String>, Option<String>);

pub(crate) fn audit(columns: AuditColumns) -> Result<(i64, AuditEntry), StoreError> {
    let (id, at, by, client, action, target, result, code, about) = columns;
    // A row without its details is better than an audit that cannot be read.
    let about = about.and_then(|about| serde_json::from_str(&about).ok());
    Ok((id, AuditEntry { at: time(at)?, by, client, action, target, result, code, about }))
}

pub(crate) fn about(entry: &AuditEntry) -> Option<String> {
    entry.about.as_ref().map(|about| serde_json::to_string(about).expect("what a row is about always encodes"))
}

pub(crate) fn session(columns: (Vec<u8>, String, i64, i64, i64)) -> Result<SessionRow, StoreError> {
    let (hash, client, created_at, seen_at, expires_at) = columns;
    let hash = hash.try_into().map_err(|hash: Vec<u8>| format!("{} bytes", hash.len())).map_err(damaged("hash"))?;
    let [created_at, seen_at, expires_at] = [time(created_at)?, time(seen_at)?, time(expires_at)?];
    Ok(SessionRow { hash, client, created_at, seen_at, expires_at })
}

/// The most characters of a snippet: a text may be a single word from beginning to end.
const SNIPPET_CHARS_MAX: usize = 400;

/// The number of a hit, its Pod's key, id and name, `seq, kind, snippet`, and its record's `class, sum, body`.
pub(crate) type SearchColumns = (i64, i64, String, String, i64, String, String, Option<i64>, Option<i64>, Option<Body>);

pub(crate) fn search(columns: SearchColumns) -> Result<Hit, StoreError> {
    let (id, pod, worker_id, name, seq, kind, mut snippet, class, sum, body) = columns;
    if let Some((end, _)) = snippet.char_indices().nth(SNIPPET_CHARS_MAX) {
        snippet.truncate(end);
        snippet.push('…');
    }
    let row = SearchRow {
        worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&name).map_err(damaged("Pod name"))?,
        seq: Seq(seq),
        kind,
        snippet,
        at: None,
    };
    let record = class.zip(body).map(|(class, body)| record((seq, class, sum, body))).transpose()?;
    Ok(Hit { id, pod: PodKey(pod), row, record })
}
