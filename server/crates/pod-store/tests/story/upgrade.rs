use pod_store::{Committed, ParentLink, PodChange, PodKey, RecordClass, StoreError};
use protocol::{PodState, Seq};
use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::world::*;

/// What yoi left on disks before a Pod could have a parent or mail.
const DATA: &str = r#"
    insert into pods (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread)
    values ('id-of-ada', 'ada', 1790000000000000, 1790000005000000, 'idle', OPEN, '{"model":"m"}', '[1]', 2, 4);
    insert into journal (pod, seq, class, body) values
        (1, 1, 1, '{"seq":1}'), (1, 2, 2, '{"seq":2}'), (1, 3, 1, '{"seq":3}');
    insert into inbox (pod, command_id, segments, by_whom, at) values (1, 'c', '[]', 'ada', 1790000000000000);
"#;

async fn make_version_1(world: &World) {
    match &world.database {
        pod_store::Database::Sqlite { path } => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let url = format!("sqlite://{}?mode=rwc", path.display());
            let mut connection = SqliteConnection::connect(&url).await.unwrap();
            let meta = "insert into meta (one, store_id, host_epoch) values (1, 'first', 6); pragma user_version = 1;";
            let tables = include_str!("../../migrations/sqlite_1.sql");
            let script = format!("{tables} {meta} {}", DATA.replace("OPEN", "1"));
            sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        pod_store::Database::Postgres { url } => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            let meta = "insert into meta (one, version, store_id, host_epoch) values (1, 1, 'first', 6);";
            let tables = include_str!("../../migrations/postgres_1.sql");
            let script = format!("{tables} {meta} {}", DATA.replace("OPEN", "true"));
            sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

pub(crate) async fn a_database_of_the_first_version_is_brought_up_to_date_with_all_it_holds(world: World) {
    make_version_1(&world).await;
    for round in 0..2 {
        let store = world.open().await;
        assert_eq!(store.epoch(), "first");
        let row = store.pod_find_by_name(&name("ada")).await.unwrap().unwrap();
        assert_eq!((row.key, row.state, row.open, row.unread), (PodKey(1), PodState::Idle, true, 4));
        assert_eq!((row.checkpoint.as_str(), row.updated_at), ("[1]", at(5)));
        assert_eq!((row.parent, row.children), (None, round));
        assert_eq!(seqs(&store.records_after(row.key, Seq(0), 9, ALL).await.unwrap())[..3], [1, 2, 3]);
        assert_eq!(seqs(&store.turn_records(row.key, Seq(0)).await.unwrap()), [1, 3]);
        assert_eq!(store.inbox(row.key).await.unwrap().len(), 1);

        // What is new works on what is old.
        let seq = 4 + i64::from(round);
        let question = PodChange { records: vec![record(seq, RecordClass::Question)], ..PodChange::of(row.key) };
        done(&store, one(question)).await;
        assert_eq!(store.question_records(row.key).await.unwrap().len(), 1 + round as usize);
        let parent = Some(ParentLink { parent: row.key, scope: "[]".to_owned() });
        let child = store.commit(one(PodChange { parent, ..creation(&format!("child-{round}")) })).await.unwrap();
        assert!(matches!(child, Committed::Done { .. }));
        store.close().await;
    }
}

pub(crate) async fn a_database_of_a_newer_yoi_is_left_alone(world: World) {
    create(&world.open().await, "ada").await;
    match &world.database {
        pod_store::Database::Sqlite { .. } => world.tamper("pragma user_version = 99").await,
        pod_store::Database::Postgres { .. } => world.tamper("update meta set version = 99").await,
    }
    let refused = pod_store::Store::open(pod_store::StoreOptions::new(world.database.clone())).await;
    assert!(matches!(&refused, Err(StoreError::Database(text)) if text.contains("newer yoi")), "{refused:?}");
}
