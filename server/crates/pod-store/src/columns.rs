//! Database columns and our types. Times are microseconds since 1970 (UTC), states are words.

use bytes::Bytes;
use jiff::Timestamp;
use protocol::{AuditEntry, CommandId, PodName, PodState, Seq, WorkerId};

use crate::{
    CommandRow, InboxRow, MailRow, ParentRow, PodKey, PodRow, RecordClass, SearchRow, StoreError, StoredRecord,
};

pub(crate) fn micros(time: Timestamp) -> i64 {
    time.as_microsecond()
}

pub(crate) fn time(micros: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_microsecond(micros).map_err(damaged("time"))
}

/// Numbers that are in journals on disks: never to be changed.
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
    move |error| StoreError::Database(format!("the database holds a {what} that cannot be read: {error}"))
}

/// The columns of [`PodColumns`], in its order; out of [`pod_tables`].
macro_rules! pod_columns {
    () => {
        "pods.key, pods.worker_id, pods.name, pods.created_at, pods.updated_at, pods.state, pods.open, pods.spec,
         pods.checkpoint, pods.checkpoint_seq, pods.unread, parent.key, parent.worker_id,
         (select count(*) from children where children.parent = pods.key),
         (select count(*) from peers where peers.low = pods.key)
             + (select count(*) from peers where peers.high = pods.key)"
    };
}

/// Each Pod, with its `link` to its `parent` if it has one.
macro_rules! pod_tables {
    () => {
        "pods left join children link on link.child = pods.key left join pods parent on parent.key = link.parent"
    };
}

pub(crate) use {pod_columns, pod_tables};

pub(crate) struct PodColumns {
    pub(crate) key: i64,
    pub(crate) worker_id: String,
    pub(crate) name: String,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) state: String,
    pub(crate) open: bool,
    pub(crate) spec: String,
    pub(crate) checkpoint: String,
    pub(crate) checkpoint_seq: i64,
    pub(crate) unread: i64,
    pub(crate) parent_key: Option<i64>,
    pub(crate) parent_worker_id: Option<String>,
    pub(crate) children: i64,
    pub(crate) peers: i64,
}

impl TryFrom<PodColumns> for PodRow {
    type Error = StoreError;

    fn try_from(columns: PodColumns) -> Result<Self, StoreError> {
        let parent = columns.parent_key.zip(columns.parent_worker_id).map(|(key, worker_id)| {
            let worker_id = WorkerId::parse(&worker_id).map_err(damaged("worker id"))?;
            Ok(ParentRow { key: PodKey(key), worker_id })
        });
        let state = PodState::ALL.into_iter().find(|state| state.as_str() == columns.state);
        Ok(Self {
            key: PodKey(columns.key),
            worker_id: WorkerId::parse(&columns.worker_id).map_err(damaged("worker id"))?,
            name: PodName::parse(&columns.name).map_err(damaged("Pod name"))?,
            created_at: time(columns.created_at)?,
            updated_at: time(columns.updated_at)?,
            state: state.ok_or(columns.state).map_err(damaged("Pod state"))?,
            open: columns.open,
            spec: columns.spec,
            checkpoint: columns.checkpoint,
            checkpoint_seq: Seq(columns.checkpoint_seq),
            unread: u32::try_from(columns.unread).map_err(damaged("count"))?,
            parent: parent.transpose()?,
            children: u32::try_from(columns.children).map_err(damaged("count"))?,
            peers: u32::try_from(columns.peers).map_err(damaged("count"))?,
        })
    }
}

pub(crate) fn record((seq, body): (i64, Vec<u8>)) -> StoredRecord {
    StoredRecord { seq: Seq(seq), body: Bytes::from(body) }
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

pub(crate) fn inbox((command_id, segments, by, at): (String, String, String, i64)) -> Result<InboxRow, StoreError> {
    Ok(InboxRow {
        command_id: CommandId::parse(&command_id).map_err(damaged("command id"))?,
        segments: serde_json::from_str(&segments).map_err(damaged("queued input"))?,
        by,
        at: time(at)?,
    })
}

pub(crate) fn mail((key, body, at): (String, String, i64)) -> Result<MailRow, StoreError> {
    Ok(MailRow { key, body, at: time(at)? })
}

pub(crate) type AuditColumns = (i64, i64, String, String, String, Option<String>, String, Option<String>);

pub(crate) fn audit(columns: AuditColumns) -> Result<(i64, AuditEntry), StoreError> {
    let (id, at, by, client, action, target, result, code) = columns;
    Ok((id, AuditEntry { at: time(at)?, by, client, action, target, result, code }))
}

pub(crate) fn search(columns: (String, String, i64, String, String)) -> Result<SearchRow, StoreError> {
    let (worker_id, name, seq, kind, snippet) = columns;
    Ok(SearchRow {
        worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&name).map_err(damaged("Pod name"))?,
        seq: Seq(seq),
        kind,
        snippet,
    })
}
