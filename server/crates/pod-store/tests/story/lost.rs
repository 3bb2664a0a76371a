//! A database that is deleted, emptied, moved or replaced, before the start or while it is open: no empty one replaces
//! it, and nothing is reported as stored that is not.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use pod_store::{Committed, Database, Faults, Outage, OutageKind, Patience, Step, Store, StoreError, StoreOptions};
use protocol::Seq;
use sqlx::{Connection, SqliteConnection};

use crate::world::*;

impl World {
    /// None, because it is not a file.
    fn file(&self) -> Option<PathBuf> {
        match &self.database {
            Database::Sqlite { path } => Some(path.clone()),
            Database::Postgres { .. } => None,
        }
    }

    async fn refusal(&self) -> String {
        match Store::open(StoreOptions::new(self.database.clone())).await {
            Err(StoreError::Lost(sentence)) => sentence,
            opened => panic!("{opened:?}"),
        }
    }
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    format!("{}{end}", path.display()).into()
}

/// Names and sizes of everything in a folder.
fn listing(path: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap());
    let mut listing: Vec<_> =
        entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())).collect();
    listing.sort();
    listing
}

pub(crate) async fn where_a_database_was_none_is_begun(world: World) {
    let Some(path) = world.file() else { return };
    let store = world.open().await;
    create(&store, "ada").await;
    store.close().await;
    let kept = with_end(&path, ".kept");
    fs::rename(&path, &kept).unwrap();
    for absence in ["is gone", "is empty", "holds no tables"] {
        match absence {
            "is empty" => fs::write(&path, "").unwrap(),
            "holds no tables" => {
                let url = format!("sqlite://{}", path.display());
                let mut other = SqliteConnection::connect(&url).await.unwrap();
                sqlx::raw_sql("create table t (x); drop table t").execute(&mut other).await.unwrap();
                other.close().await.unwrap();
            }
            _ => (),
        }
        let before = listing(&path);
        let told = world.refusal().await;
        let name = path.display().to_string();
        assert!(told.contains(&format!("{name} {absence}")) && told.contains(&format!("{name}.id")), "{told}");
        assert!(told.contains("docs/operations.md"), "{told}");
        assert_eq!(world.database.missed(&[]).is_some(), absence != "holds no tables");
        let left_by_sqlite = |name: &str| name.ends_with("-shm") || name.ends_with("-wal");
        let mut after = listing(&path);
        after.retain(|(name, _)| !left_by_sqlite(name));
        assert_eq!(after, before);
    }
    fs::rename(&kept, &path).unwrap();
    assert!(world.open().await.pods().find_by_name(&name("ada")).await.unwrap().is_some());
}

/// What a kill -9 leaves of a yoi that did not yet mark its databases.
pub(crate) async fn a_log_without_its_database_is_kept(world: World) {
    let Some(path) = world.file() else { return };
    let store = world.open().await;
    create(&store, "ada").await;
    let log = with_end(&path, "-wal");
    let text = fs::read(&log).unwrap();
    assert!(text.len() > 10_000, "{}", text.len());
    store.close().await;
    fs::remove_file(with_end(&path, ".id")).unwrap();
    for is_empty in [false, true] {
        fs::remove_file(&path).unwrap();
        if is_empty {
            fs::write(&path, "").unwrap();
        }
        fs::write(&log, &text).unwrap();
        let told = world.refusal().await;
        assert!(
            told.contains("yoi.db-wal (") && told.contains(if is_empty { "is empty" } else { "is gone" }),
            "{told}"
        );
        assert_eq!(fs::read(&log).unwrap(), text);
        fs::write(&path, "").unwrap();
    }
}

pub(crate) async fn other_things_that_are_left_say_so_too(world: World) {
    let Some(path) = world.file() else { return };
    let folder = path.parent().unwrap();
    fs::create_dir_all(folder.join("outputs")).unwrap();
    let options = StoreOptions::new(world.database.clone()).with_remains(vec![folder.join("outputs")]);
    let refused = Store::open(options.clone()).await;
    assert!(
        matches!(&refused, Err(StoreError::Lost(told)) if told.contains("left of it: ") && told.contains("/outputs.")),
        "{refused:?}"
    );
    fs::remove_dir(folder.join("outputs")).unwrap();
    Store::open(options).await.unwrap();
}

/// Takes files away from an open store, or replaces them by others; and puts the original ones back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Loss {
    File,
    Log,
    Folder,
    Replaced,
}

impl Loss {
    fn happens(self, path: &Path) {
        match self {
            Self::File | Self::Replaced => fs::rename(path, with_end(path, ".away")).unwrap(),
            Self::Log => fs::rename(with_end(path, "-wal"), with_end(path, ".away")).unwrap(),
            Self::Folder => fs::rename(path.parent().unwrap(), with_end(path.parent().unwrap(), ".away")).unwrap(),
        }
        if self == Self::Replaced {
            fs::copy(with_end(path, ".away"), path).unwrap();
        }
    }

    fn is_undone(self, path: &Path) {
        match self {
            Self::File | Self::Replaced => fs::rename(with_end(path, ".away"), path).unwrap(),
            Self::Log => fs::rename(with_end(path, ".away"), with_end(path, "-wal")).unwrap(),
            Self::Folder => fs::rename(with_end(path.parent().unwrap(), ".away"), path.parent().unwrap()).unwrap(),
        }
    }
}

async fn lost(store: &Store) -> Outage {
    let is_lost = |now: &Option<Outage>| now.as_ref().is_some_and(|now| now.kind == OutageKind::Lost);
    store.health().outage().wait_for(is_lost).await.unwrap().clone().unwrap()
}

pub(crate) async fn a_database_that_is_taken_away_is_missed_by_itself_and_takes_nothing_until_it_is_back(world: World) {
    let Some(path) = world.file() else { return };
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    for (seq, loss) in (1..).zip([Loss::File, Loss::Log, Loss::Folder, Loss::Replaced]) {
        loss.happens(&path);
        // Nobody writes or reads.
        let told = lost(&store).await.why;
        let says = if loss == Loss::Replaced { "was replaced" } else { "was deleted or moved" };
        assert!(told.contains(says) && told.contains("put a backup in its place"), "{loss:?}: {told}");
        assert!(!told.contains('/'), "no path of the server's own is told to callers: {told}");
        let refused = store.commit(one(records(ada, seq, seq))).await;
        assert!(matches!(&refused, Err(StoreError::Lost(why)) if *why == told), "{loss:?}: {refused:?}");
        assert!(matches!(store.probe_writing().await, Err(StoreError::Lost(_))));
        let patient = tokio::spawn({
            let store = store.clone();
            async move { store.commit_with(Patience::Endless, one(records(ada, seq, seq))).await }
        });
        loss.is_undone(&path);
        store.health().outage().wait_for(Option::is_none).await.unwrap();
        let done = patient.await.unwrap();
        assert!(matches!(done, Ok(Committed::Done { .. })), "{loss:?}: {done:?}");
    }
    store.close().await;
    let again = world.open().await;
    assert_eq!(seqs(&again.journals().after(ada, Seq(0), 9, ALL).await.unwrap()), [1, 2, 3, 4]);
}

/// Takes the file away when a commit is done and nobody has been told yet.
#[derive(Debug)]
struct LostInCommit {
    path: PathBuf,
    armed: Mutex<bool>,
}

impl Faults for LostInCommit {
    fn before(&self, step: Step) -> Result<(), StoreError> {
        if step == Step::Answer && std::mem::take(&mut *self.armed.lock().unwrap()) {
            Loss::File.happens(&self.path);
        }
        Ok(())
    }
}

pub(crate) async fn what_was_written_to_a_file_that_nobody_finds_is_not_said_to_be_kept(world: World) {
    let Some(path) = world.file() else { return };
    let faults = Arc::new(LostInCommit { path: path.clone(), armed: Mutex::new(false) });
    let store = world.open_with(faults.clone()).await;
    let ada = create(&store, "ada").await;
    // Text alone takes another path than a batch with more in it.
    let whole = pod_store::PodChange { records: vec![found_by(2, "word")], ..update(ada, Default::default()) };
    for (seq, change) in [(1, records(ada, 1, 1)), (2, whole)] {
        *faults.armed.lock().unwrap() = true;
        let patient = tokio::spawn({
            let (store, batch) = (store.clone(), one(change.clone()));
            async move { store.commit_with(Patience::Endless, batch).await }
        });
        lost(&store).await;
        assert!(!patient.is_finished());
        Loss::File.is_undone(&path);
        assert!(matches!(patient.await.unwrap().unwrap(), Committed::Done { .. }));
        // It was already there, and is there once.
        assert_eq!(store.journals().head(ada).await.unwrap(), Seq(seq));
    }
    assert_eq!(seqs(&store.journals().after(ada, Seq(0), 9, ALL).await.unwrap()), [1, 2]);
}

pub(crate) async fn a_dropped_database_is_gone_and_not_only_away(world: World) {
    let Database::Postgres { url } = world.database.clone() else { return };
    let store = world.open().await;
    let ada = create(&store, "ada").await;
    let (dropped, rest) = url.strip_prefix("postgresql:///").unwrap().split_once('?').unwrap();
    let server = format!("postgresql:///postgres?{rest}");
    let away = format!("{dropped}_away");
    rename_database(&server, dropped, &away).await;
    let refused = store.commit(one(records(ada, 1, 1))).await;
    assert!(matches!(&refused, Err(StoreError::Lost(why)) if why.contains("restore it from a backup")), "{refused:?}");
    assert!(store.health().is_lost());
    rename_database(&server, &away, dropped).await;
    store.health().outage().wait_for(Option::is_none).await.unwrap();
    done(&store, one(records(ada, 1, 1))).await;
}

/// Renames a database. PostgreSQL does so only while nobody is connected, and the store reconnects within milliseconds
/// of each cut: so connections are forbidden until it is done.
async fn rename_database(server: &str, from: &str, to: &str) {
    let execute = async |statement: String| testkit::postgres::execute(server, &statement).await;
    execute(format!("alter database {from} allow_connections false")).await.unwrap();
    execute(format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{from}'")).await.unwrap();
    let rename = format!("alter database {from} rename to {to}");
    testkit::until_so("the database has its other name", async || execute(rename.clone()).await.is_ok()).await;
    execute(format!("alter database {to} allow_connections true")).await.unwrap();
}
