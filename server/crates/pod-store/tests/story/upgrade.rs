use pod_store::{
    Batch, Committed, MessageChange, NewMessage, ParentLink, PodChange, PodKey, RecordClass, StoreError, Tokens,
};
use protocol::{PodState, ReceiptState, Seq};
use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::{
    messages::message,
    peers::{link, peers},
    world::*,
};

/// What yoi left on disks before a Pod could have a parent or mail.
const DATA: &str = r#"
    insert into pods (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread)
    values ('id-of-ada', 'ada', 1790000000000000, 1790000005000000, 'idle', OPEN, '{"model":"m"}', '[1]', 2, 4);
    insert into journal (pod, seq, class, body) values
        (1, 1, 1, '{"seq":1}'), (1, 2, 2, '{"seq":2}'), (1, 3, 1, '{"seq":3}');
    insert into inbox (pod, command_id, segments, by_whom, at) values (1, 'c', '[]', 'ada', 1790000000000000);
    insert into sessions (hash, expires_at) values (HASH, 1792592000000000);
"#;

/// What it left there before Pods could be peers.
const DATA_2: &str = r#"
    insert into pods (worker_id, name, created_at, updated_at, state, open, spec, checkpoint, checkpoint_seq, unread)
    values ('id-of-bob', 'bob', 1790000000000000, 1790000005000000, 'idle', OPEN, '{}', '[]', 0, 0);
    insert into children (child, parent, scope, is_lent) values (2, 1, '[7]', OPEN);
    insert into mail (pod, key, body, at, is_taken) values (2, 'letter', '{}', 1790000000000000, SHUT);
"#;

const SQLITE: [&str; 2] =
    [include_str!("../../migrations/sqlite_1.sql"), include_str!("../../migrations/sqlite_2.sql")];
const POSTGRES: [&str; 2] =
    [include_str!("../../migrations/postgres_1.sql"), include_str!("../../migrations/postgres_2.sql")];

/// The hash of a login, as hex digits.
const HASH: &str = "0707070707070707070707070707070707070707070707070707070707070707";

async fn make_version(world: &World, version: usize) {
    let data = [DATA, DATA_2][..version].concat();
    match &world.database {
        pod_store::Database::Sqlite { path } => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let url = format!("sqlite://{}?mode=rwc", path.display());
            let mut connection = SqliteConnection::connect(&url).await.unwrap();
            let tables = SQLITE[..version].concat();
            let meta = "insert into meta (one, store_id, host_epoch) values (1, 'first', 6);";
            let data = data.replace("OPEN", "1").replace("SHUT", "0").replace("HASH", &format!("x'{HASH}'"));
            let script = format!("{tables} {meta} pragma user_version = {version}; {data}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
        pod_store::Database::Postgres { url } => {
            let mut connection = PgConnection::connect(url).await.unwrap();
            let tables = POSTGRES[..version].concat();
            let data = data.replace("OPEN", "true").replace("SHUT", "false").replace("HASH", &format!("'\\x{HASH}'"));
            let meta = "insert into meta (one, version, store_id, host_epoch)";
            let script = format!("{tables} {meta} values (1, {version}, 'first', 6); {data}");
            sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&mut connection).await.unwrap();
            connection.close().await.unwrap();
        }
    }
}

pub(crate) async fn a_database_of_the_first_version_is_brought_up_to_date_with_all_it_holds(world: World) {
    make_version(&world, 1).await;
    for round in 0..2 {
        let store = world.open().await;
        assert_eq!(store.epoch(), "first");
        let row = store.pods().find_by_name(&name("ada")).await.unwrap().unwrap();
        assert_eq!((row.key, row.state, row.open, row.unread), (PodKey(1), PodState::Idle, true, 4));
        assert_eq!((row.checkpoint.as_str(), row.updated_at), ("[1]", at(5)));
        assert_eq!((row.parent, row.children), (None, round));
        assert_eq!(seqs(&store.journals().after(row.key, Seq(0), 9, ALL).await.unwrap())[..3], [1, 2, 3]);
        assert_eq!(seqs(&store.journals().turns(row.key, Seq(0)).await.unwrap()), [1, 3]);
        assert_eq!(store.inboxes().inputs(row.key).await.unwrap().len(), 1);
        let login = store.sessions().find(&[7; 32], at(0)).await.unwrap().unwrap();
        assert_eq!((login.created_at, login.seen_at, login.expires_at), (at(0), at(0), at(30 * 24 * 3600)));

        // New features work on old data.
        let seq = 4 + i64::from(round);
        let question = PodChange { records: vec![record(seq, RecordClass::Question)], ..PodChange::of(row.key) };
        done(&store, one(question)).await;
        assert_eq!(store.journals().questions(row.key).await.unwrap().len(), 1 + round as usize);
        let parent = Some(ParentLink { parent: row.key, scope: "[]".to_owned() });
        let child = store.commit(one(PodChange { parent, ..creation(&format!("child-{round}")) })).await.unwrap();
        assert!(matches!(child, Committed::Done { .. }));
        store.close().await;
    }
}

pub(crate) async fn a_database_of_the_second_version_keeps_its_children_and_gets_peers(world: World) {
    make_version(&world, 2).await;
    let (ada, bob) = (PodKey(1), PodKey(2));
    for round in 0..2 {
        let store = world.open().await;
        assert_eq!(store.epoch(), "first");
        let family = store.family().children(ada).await.unwrap();
        assert_eq!((family.len(), family[0].pod.key, family[0].scope.as_str()), (1, bob, "[7]"));
        assert_eq!(store.inboxes().mail(bob).await.unwrap().len(), 1);
        assert_eq!(seqs(&store.journals().after(ada, Seq(0), 9, ALL).await.unwrap()), [1, 2, 3]);
        // A child may be a peer too.
        assert_eq!((family[0].pod.peers, store.messages().held(bob).await.unwrap().len()), (round, round as usize));
        done(&store, peers([link(bob, ada, 1)])).await;
        let held = NewMessage { state: ReceiptState::Held, ..message(ada, bob, round.into()) };
        if round == 0 {
            done(&store, Batch { messages: vec![MessageChange::Put(held)], ..Batch::default() }).await;
        }
        assert_eq!(store.peers().links(ada).await.unwrap()[0].pod.key, bob);
        store.close().await;
    }
}

pub(crate) async fn what_was_used_before_it_was_counted_is_read_from_the_journals(world: World) {
    make_version(&world, 1).await;
    // Those that count, one that only looks like it, one that is damaged, and one of a Pod that no longer exists.
    world
        .tamper(
            r#"insert into journal (pod, seq, class, body) values
        (1, 4, 2, '{"seq":4,"at":"2026-03-01T23:59:59.9Z","run_id":"run-1","event":{"kind":"usage","input":100,"cached":40,"output":7,"context_used":9,"context_limit":10,"cost":0.25}}'),
        (1, 5, 2, '{"seq":5,"at":"2026-03-01T00:00:00Z","event":{"kind":"usage","input":1,"cached":0,"output":2,"context_used":9,"context_limit":10}}'),
        (1, 6, 2, '{"seq":6,"at":"2026-03-02T00:00:00Z","event":{"kind":"usage","input":3,"cached":0,"output":4,"context_used":9,"context_limit":10,"cost":1e-3}}'),
        (1, 7, 2, '{"seq":7,"at":"2026-03-02T00:00:00Z","event":{"kind":"run_finished","outcome":"completed","usage":{"input":104,"cached":40,"output":13}}}'),
        (1, 8, 2, '{"seq":8,"at":"2026-03-02T00:00:00Z","event":{"kind":"alert","text":"\"event\":{\"kind\":\"usage\",\"input\":5}"}}'),
        (1, 9, 2, '{"seq":9,"event":{"kind":"usage","inp'),
        (9, 1, 2, '{"seq":1,"at":"2026-03-02T00:00:00Z","event":{"kind":"usage","input":0,"cached":0,"output":1,"context_used":9,"context_limit":10}}')"#,
        )
        .await;
    for _ in 0..2 {
        let usage = world.open().await.usage().rows().await.unwrap();
        let tokens = |input, cached, output, cost: &str| Tokens {
            input,
            cached,
            written: 0,
            output,
            cost: Some(cost.parse().unwrap()),
            currency: None,
            estimated: false,
        };
        let days: Vec<_> = usage.days.iter().map(|day| (day.day.as_str(), day.tokens)).collect();
        let expected = [("2026-03-01", tokens(101, 40, 9, "0.25")), ("2026-03-02", tokens(3, 0, 5, "0.001"))];
        assert_eq!(days, expected);
        assert_eq!(usage.pods[0].tokens, tokens(104, 40, 13, "0.251"));
        assert_eq!((usage.pods.len(), usage.links.len()), (1, 0));
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
