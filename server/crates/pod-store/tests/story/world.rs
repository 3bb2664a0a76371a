//! An empty database, and shorthands for what the stories do with it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use jiff::Timestamp;
use pod_store::{
    Batch, Checkpoint, CommandRow, Committed, Database, Faults, NewPod, NewRecord, PodChange, PodKey, PodRow,
    PodUpdate, RecordClass, SearchText, Step, Store, StoreError, StoreOptions, StoredRecord,
};
use protocol::{AuditEntry, CommandId, PodName, PodState, Seq, WorkerId};
use sqlx::{Connection, PgConnection, SqliteConnection};

pub(crate) struct World {
    pub(crate) database: Database,
    /// A file that several hosts share.
    is_shared: bool,
    _folder: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/on the way/yoi.db");
        Self { database: Database::Sqlite { path }, is_shared: false, _folder: Some(folder) }
    }

    /// The database of the simulation's hosts.
    pub(crate) fn shared() -> Self {
        Self { is_shared: true, ..Self::sqlite() }
    }

    pub(crate) fn options(&self) -> StoreOptions {
        let options = StoreOptions::new(self.database.clone());
        if self.is_shared { options.shared_over(Arc::new(AtHand::default())) } else { options }
    }

    pub(crate) fn is_shared_file(&self) -> bool {
        self.is_shared
    }

    pub(crate) async fn postgres() -> Self {
        let url = testkit::postgres::fresh_database().await.unwrap();
        Self { database: Database::parse(&url).unwrap(), is_shared: false, _folder: None }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(self.options()).await.unwrap()
    }

    pub(crate) async fn open_with(&self, faults: Arc<dyn Faults>) -> Store {
        Store::open(self.options().with_faults(faults)).await.unwrap()
    }

    /// Changes the database behind the store's back.
    pub(crate) async fn tamper(&self, sql: &'static str) {
        match &self.database {
            Database::Sqlite { path } => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                sqlx::query(sql).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
            Database::Postgres { url } => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                sqlx::query(sql).execute(&mut connection).await.unwrap();
                connection.close().await.unwrap();
            }
        }
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        match &self.database {
            Database::Sqlite { path } => {
                let url = format!("sqlite://{}", path.display());
                let mut connection = SqliteConnection::connect(&url).await.unwrap();
                sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
            }
            Database::Postgres { url } => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
            }
        }
    }
}

/// A way without a distance, on which nobody hears a notice.
#[derive(Debug, Default)]
pub(crate) struct AtHand {
    /// Which message from now on is lost; none, if 0.
    pub(crate) loses: AtomicU64,
}

#[async_trait::async_trait]
impl pod_store::Way for AtHand {
    async fn pass(&self) -> Result<(), String> {
        let less = |left: u64| left.checked_sub(1);
        match self.loses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(1) => Err("lost on the way".to_owned()),
            _ => Ok(()),
        }
    }

    async fn notify(&self, _: &str) {}

    async fn heard(&self) -> String {
        std::future::pending().await
    }
}

/// Fails at one step, once.
#[derive(Debug, Default)]
pub(crate) struct FailOnce(Mutex<Option<Step>>);

impl FailOnce {
    pub(crate) fn arm(&self, step: Step) {
        *self.0.lock().unwrap() = Some(step);
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.0.lock().unwrap().is_some()
    }
}

impl Faults for FailOnce {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        match self.0.lock().unwrap().take_if(|armed| *armed == step) {
            Some(step) => Err(StoreError::Injected(step)),
            None => Ok(()),
        }
    }
}

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

pub(crate) fn name(text: &str) -> PodName {
    PodName::parse(text).unwrap()
}

pub(crate) fn id(text: &str) -> CommandId {
    CommandId::parse(text).unwrap()
}

pub(crate) fn worker(text: &str) -> WorkerId {
    WorkerId::parse(&format!("id-of-{text}")).unwrap()
}

pub(crate) fn creation(text: &str) -> PodChange {
    let new = NewPod {
        worker_id: worker(text),
        name: name(text),
        spec: r#"{"model":"m"}"#.to_owned(),
        checkpoint: "{}".to_owned(),
        state: PodState::Idle,
        created_at: at(0),
    };
    PodChange { create: Some(new), key: None, ..PodChange::of(PodKey(0)) }
}

pub(crate) fn one(change: PodChange) -> Batch {
    Batch { changes: vec![change], ..Batch::default() }
}

pub(crate) fn command(text: &str, answer: &str) -> CommandRow {
    CommandRow { id: id(text), fingerprint: [7; 32], answer: answer.to_owned(), at: at(1) }
}

pub(crate) fn audit(action: &str) -> AuditEntry {
    AuditEntry {
        at: at(2),
        by: "ada \"the\" first".to_owned(),
        client: "tui".to_owned(),
        action: action.to_owned(),
        target: Some("local/x".to_owned()),
        result: "done".to_owned(),
        code: None,
        about: None,
    }
}

pub(crate) fn body(seq: i64) -> Bytes {
    format!(
        r#"{{"seq":{seq},"at":"2026-11-21T10:00:00Z","event":{{"kind":"text_chunk","block":"b","text":"t{seq}"}}}}"#
    )
    .into()
}

pub(crate) fn record(seq: i64, class: RecordClass) -> NewRecord {
    NewRecord { seq: Seq(seq), class, body: body(seq), search: None }
}

pub(crate) fn found_by(seq: i64, text: &str) -> NewRecord {
    let search = SearchText { kind: "user_message", text: text.to_owned() };
    NewRecord { search: Some(search), ..record(seq, RecordClass::Turn) }
}

/// Records `from..=to` of class turn.
pub(crate) fn records(pod: PodKey, from: i64, to: i64) -> PodChange {
    PodChange { records: (from..=to).map(|seq| record(seq, RecordClass::Turn)).collect(), ..PodChange::of(pod) }
}

pub(crate) fn update(pod: PodKey, update: PodUpdate) -> PodChange {
    PodChange { update: Some(update), ..PodChange::of(pod) }
}

pub(crate) fn checkpoint(state: PodState, open: bool, json: &str, seq: i64) -> PodUpdate {
    let checkpoint = Checkpoint { state, open, json: json.to_owned(), seq: Seq(seq) };
    PodUpdate { checkpoint: Some(checkpoint), updated_at: Some(at(seq)), ..PodUpdate::default() }
}

pub(crate) fn deletion(pod: PodKey) -> PodChange {
    PodChange { delete: true, ..PodChange::of(pod) }
}

pub(crate) fn seqs(records: &[StoredRecord]) -> Vec<i64> {
    records.iter().map(|record| record.seq.0).collect()
}

pub(crate) fn names(rows: &[PodRow]) -> Vec<&str> {
    rows.iter().map(|row| row.name.as_str()).collect()
}

pub(crate) async fn create(store: &Store, text: &str) -> PodKey {
    match store.commit(one(creation(text))).await.unwrap() {
        Committed::Done { created } => created[0],
        repeated => panic!("{repeated:?}"),
    }
}

pub(crate) async fn done(store: &Store, batch: Batch) {
    assert!(matches!(store.commit(batch).await.unwrap(), Committed::Done { .. }));
}

pub(crate) const ALL: usize = usize::MAX;
