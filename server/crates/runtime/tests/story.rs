//! A host on a real SQLite file, from outside: commands in, records out.

#![allow(clippy::unwrap_used)]

mod stage;

use futures_util::StreamExt;
use protocol::{ControlVerb, ErrorCode, InputCommand, PodState, Segment};
use runtime::{FeedItem, PodQuery};
use stage::{Stage, key, key_for, kinds, named, origin, say};
use testkit::within;

#[tokio::test]
async fn a_message_is_answered_and_everything_is_in_the_journal() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let receipt = stage.host.work().input(key("k1"), &origin(), &pod, say("say hello there")).await.unwrap();
    let records = stage.until_idle(&pod).await;
    assert_eq!(
        kinds(&records),
        ["status", "run_started", "user_message", "status", "message_finished", "usage", "run_finished", "status"]
    );
    assert_eq!(receipt.seq, records[2].seq);
    let text = serde_json::to_value(&records[4].event).unwrap();
    assert_eq!(text["text"], "hello there");
    let history = stage.host.journals().history(&pod).await.unwrap();
    assert_eq!(history.messages.last().unwrap().content, "hello there");
}

#[tokio::test]
async fn a_viewer_sees_each_chunk_once_and_in_order() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let mut viewer = stage.host.journals().observe(&pod, None, 200).await;
    let FeedItem::Snapshot { cursor, .. } = viewer.next().await.unwrap() else { panic!("a snapshot comes first") };
    stage.host.work().input(key("k1"), &origin(), &pod, say("stream 3000 at 0")).await.unwrap();
    let mut seqs = Vec::new();
    let mut text = String::new();
    let mut last_cursor = cursor.clone();
    'reading: while let Some(item) = within("more of the run", viewer.next()).await {
        let FeedItem::Records { after, cursor, records } = item else { panic!("{item:?}") };
        assert_eq!(after, last_cursor);
        last_cursor = cursor;
        for record in stage::read_all(&records) {
            seqs.push(record.seq.0);
            let event = serde_json::to_value(&record.event).unwrap();
            match record.event.kind() {
                "text_chunk" => text.push_str(event["text"].as_str().unwrap()),
                "message_finished" => assert_eq!(event["text"], text),
                "status" if event["state"] == "idle" => break 'reading,
                _ => (),
            }
        }
    }
    assert_eq!(seqs, (2..2 + seqs.len() as i64).collect::<Vec<_>>());
    assert!(text.starts_with("w1 w2 ") && text.ends_with("w3000"));

    // The last viewer leaves, and the live tail with it.
    drop(viewer);
    // From the first cursor, after the chunks were folded: the finished block replaces them.
    let mut resumed = stage.host.journals().observe(&pod, Some(cursor), 200).await;
    let FeedItem::Records { records, .. } = resumed.next().await.unwrap() else { panic!("no snapshot on resume") };
    let records = stage::read_all(&records);
    assert!(records.iter().any(|record| record.event.kind() == "message_finished"));
}

#[tokio::test]
async fn a_repeated_command_gives_the_first_receipt_and_happens_once() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let first = stage.host.work().input(key("k1"), &origin(), &pod, say("say one")).await.unwrap();
    let from = origin();
    let (again, at_once) = tokio::join!(
        stage.host.work().input(key("k1"), &from, &pod, say("say one")),
        stage.host.work().input(key("k1"), &from, &pod, say("say one")),
    );
    assert_eq!((again.unwrap(), at_once.unwrap()), (first.clone(), first));
    let reused = stage.host.work().input(key_for("k1", 2), &origin(), &pod, say("say two")).await.unwrap_err();
    assert_eq!(reused.code, ErrorCode::KeyReused);
    let records = stage.until_idle(&pod).await;
    assert_eq!(kinds(&records).iter().filter(|kind| *kind == "user_message").count(), 1);
}

#[tokio::test]
async fn pause_resume_cancel_stop_and_restore_follow_the_table() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let control = async |name: &str, verb| stage.host.pods().control(key(name), &origin(), &pod, verb).await;
    let code = |result: Result<_, protocol::ApiError>| result.map(|_: protocol::Receipt| ()).unwrap_err().code;
    assert_eq!(code(control("a", ControlVerb::Pause).await), ErrorCode::NotRunning);
    assert_eq!(code(control("b", ControlVerb::Cancel).await), ErrorCode::NotRunning);
    assert_eq!(code(control("c", ControlVerb::Resume).await), ErrorCode::NotPaused);
    control("d", ControlVerb::Restore).await.unwrap();

    stage.host.work().input(key("e"), &origin(), &pod, say("say one\nwait 600\nsay two")).await.unwrap();
    stage.until(&pod, |records| kinds(records).contains(&"text_chunk".to_owned())).await;
    let busy = stage.host.work().input(key("f"), &origin(), &pod, say("say x")).await.unwrap_err();
    assert_eq!(busy.code, ErrorCode::Busy);
    control("g", ControlVerb::Pause).await.unwrap();
    control("h", ControlVerb::Pause).await.unwrap();
    assert_eq!(stage.state(&pod).await, PodState::Paused);
    let records = stage.records(&pod).await;
    let finished = records.iter().rev().find(|record| record.event.kind() == "message_finished").unwrap();
    let finished = serde_json::to_value(&finished.event).unwrap();
    assert_eq!((finished["text"].as_str().unwrap(), finished["interrupted"].as_bool()), ("one", Some(true)));

    control("i", ControlVerb::Resume).await.unwrap();
    assert_eq!(stage.state(&pod).await, PodState::Running);
    control("j", ControlVerb::Stop).await.unwrap();
    control("k", ControlVerb::Stop).await.unwrap();
    assert_eq!(stage.state(&pod).await, PodState::Stopped);
    for (name, verb) in [("l", ControlVerb::Pause), ("m", ControlVerb::Resume), ("n", ControlVerb::Cancel)] {
        assert_eq!(code(control(name, verb).await), ErrorCode::NotLive);
    }
    let stopped = stage.host.work().input(key("o"), &origin(), &pod, say("say x")).await.unwrap_err();
    assert_eq!(stopped.code, ErrorCode::NotLive);
    control("p", ControlVerb::Restore).await.unwrap();
    assert_eq!(stage.state(&pod).await, PodState::Paused);
    control("q", ControlVerb::Cancel).await.unwrap();
    assert_eq!(stage.state(&pod).await, PodState::Idle);
}

#[tokio::test]
async fn queued_inputs_run_in_order_each_in_its_own_run() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k0"), &origin(), &pod, say("wait 0.2\nsay zero")).await.unwrap();
    for number in 1..=3 {
        let queued = InputCommand { queue: true, ..say(&format!("say n{number}")) };
        stage.host.work().input(key(&format!("k{number}")), &origin(), &pod, queued).await.unwrap();
    }
    let records =
        stage.until(&pod, |records| kinds(records).iter().filter(|kind| *kind == "run_finished").count() == 4).await;
    let said: Vec<_> = records
        .iter()
        .filter(|record| record.event.kind() == "message_finished")
        .map(|record| serde_json::to_value(&record.event).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, ["zero", "n1", "n2", "n3"]);
    assert!(stage.host.pods().get(&pod).await.unwrap().queued.is_empty());
}

#[tokio::test]
async fn a_failure_of_the_provider_ends_the_run_and_stays_in_the_journal() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k1"), &origin(), &pod, say("fail 401")).await.unwrap();
    let records = stage.until_idle(&pod).await;
    let finished = records.iter().find(|record| record.event.kind() == "run_finished").unwrap();
    let finished = serde_json::to_value(&finished.event).unwrap();
    assert_eq!((finished["outcome"].as_str(), finished["code"].as_str()), (Some("error"), Some("provider_error")));
    assert!(stage.host.pods().get(&pod).await.unwrap().summary.needs_you);
}

#[tokio::test]
async fn bad_input_changes_nothing() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let before = stage.records(&pod).await;
    let text = |text: String| InputCommand { segments: vec![Segment::text(text)], queue: false, steer: false };
    let unknown = serde_json::from_str(r#"[{"type":"video","url":"x"}]"#).unwrap();
    for (input, code) in [
        (text(String::new()), ErrorCode::InvalidInput),
        (text(" \n ".into()), ErrorCode::InvalidInput),
        (text("x".repeat(protocol::INPUT_BYTES_MAX + 1)), ErrorCode::PayloadTooLarge),
        (InputCommand { segments: unknown, queue: false, steer: false }, ErrorCode::InvalidInput),
        (InputCommand { segments: vec![], queue: false, steer: false }, ErrorCode::InvalidInput),
    ] {
        assert_eq!(stage.host.work().input(key("bad"), &origin(), &pod, input).await.unwrap_err().code, code);
    }
    assert_eq!(stage.records(&pod).await, before);
    // The key of a refused command is free.
    stage.host.work().input(key("bad"), &origin(), &pod, say("say fine")).await.unwrap();
    assert_eq!(
        stage.host.pods().create(key("c2"), &origin(), named("ada")).await.unwrap_err().code,
        ErrorCode::NameTaken
    );
}

#[tokio::test]
async fn rename_and_delete_are_seen_by_those_who_watch() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let mut list = stage.host.pods().observe();
    assert!(list.next().await.unwrap().snapshot);
    let rename = serde_json::from_str(r#"{"name":"eve"}"#).unwrap();
    stage.host.pods().patch(key("r1"), &origin(), &pod, rename).await.unwrap();
    assert_eq!(list.next().await.unwrap().upserts[0].name.as_str(), "eve");
    let mut viewer = stage.host.journals().observe(&pod, None, 10).await;
    assert!(matches!(viewer.next().await, Some(FeedItem::Snapshot { .. })));
    let unconfirmed = stage.host.pods().delete(key("d1"), &origin(), &pod, Some("ada")).await.unwrap_err();
    assert_eq!(unconfirmed.code, ErrorCode::InvalidInput);
    stage.host.pods().delete(key("d1"), &origin(), &pod, Some("eve")).await.unwrap();
    stage.host.pods().delete(key("d1"), &origin(), &pod, Some("eve")).await.unwrap();
    assert!(matches!(viewer.next().await, Some(FeedItem::Diagnostic { .. })));
    assert!(matches!(viewer.next().await, Some(FeedItem::Closed { .. })));
    assert!(viewer.next().await.is_none());
    assert_eq!(stage.host.pods().get(&pod).await.unwrap_err().code, ErrorCode::PodNotFound);
    assert!(stage.host.pods().list(&PodQuery::default()).await.unwrap().items.is_empty());
    stage.create("eve").await;
}

#[tokio::test]
async fn a_slow_reader_is_told_and_gets_a_snapshot() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    let mut slow = stage.host.journals().observe(&pod, None, 50).await;
    assert!(matches!(slow.next().await, Some(FeedItem::Snapshot { .. })));
    stage.host.work().input(key("k1"), &origin(), &pod, say("say first")).await.unwrap();
    assert!(matches!(slow.next().await, Some(FeedItem::Records { .. })));
    stage
        .host
        .work()
        .input(key("k2"), &origin(), &pod, InputCommand { queue: true, ..say("stream 30000 at 0") })
        .await
        .unwrap();
    stage.until(&pod, |records| kinds(records).iter().filter(|kind| *kind == "run_finished").count() == 2).await;
    let mut saw_lag = false;
    while let Some(item) = within("what the slow viewer is told", slow.next()).await {
        match item {
            FeedItem::Diagnostic { code, .. } => {
                assert_eq!(code, protocol::DiagnosticCode::Lagged);
                saw_lag = true;
            }
            FeedItem::Snapshot { summary, .. } => {
                assert!(saw_lag);
                assert_eq!(summary.state, PodState::Idle);
                break;
            }
            FeedItem::Records { .. } => (),
            FeedItem::Closed { reason } => panic!("{reason}"),
        }
    }
}

#[tokio::test]
async fn what_is_hidden_never_leaves() {
    let stage = Stage::new().await;
    let mut create = named("ada");
    create.reasoning = Some(protocol::ReasoningPolicy::Hidden);
    let summary = stage.host.pods().create(key("c"), &origin(), create).await.unwrap();
    let pod = summary.pod.worker_id;
    let mut viewer = stage.host.journals().observe(&pod, None, 50).await;
    stage.host.work().input(key("k1"), &origin(), &pod, say("think zebra zebra\nsay done")).await.unwrap();
    let records = stage.until_idle(&pod).await;
    let question = records.iter().position(|record| record.event.kind() == "user_message").unwrap();
    let after = serde_json::to_string(&records[question + 1..].to_vec()).unwrap();
    assert!(!after.contains("zebra"), "{after}");
    assert!(after.contains("reasoning_finished"));
    let mut live = String::new();
    while !live.contains("run_finished") {
        match within("the end of the run", viewer.next()).await.unwrap() {
            FeedItem::Snapshot { records, .. } | FeedItem::Records { records, .. } => {
                live.extend(records.iter().map(|body| String::from_utf8_lossy(body).into_owned()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(live.matches("zebra").count(), 2, "only the question itself: {live}");
}

#[tokio::test]
async fn a_cursor_goes_on_over_a_restart_of_the_host() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k1"), &origin(), &pod, say("say one")).await.unwrap();
    stage.until_idle(&pod).await;
    let mut viewer = stage.host.journals().observe(&pod, None, 200).await;
    let Some(FeedItem::Snapshot { cursor, .. }) = viewer.next().await else { panic!("a snapshot comes first") };
    drop(viewer);
    stage.host.shutdown(std::time::Duration::from_secs(5)).await;

    let host = stage::host_in(&stage.folder).await;
    host.work().input(key("k2"), &origin(), &pod, say("say two")).await.unwrap();
    let mut viewer = host.journals().observe(&pod, Some(cursor.clone()), 200).await;
    let Some(FeedItem::Records { after, records, .. }) = viewer.next().await else { panic!("only what is newer") };
    assert_eq!(after, cursor);
    assert_eq!(stage::read_all(&records)[0].event.kind(), "run_started");
    let again = host.work().input(key("k1"), &origin(), &pod, say("say one")).await.unwrap();
    assert!(again.seq < stage::read_all(&records)[0].seq);
}

#[tokio::test]
async fn a_viewer_that_comes_mid_stream_sees_all_of_it() {
    let stage = Stage::new().await;
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k1"), &origin(), &pod, say("stream 5000 at 0\nwait 600")).await.unwrap();
    let is_last = |record: &protocol::Record| {
        serde_json::to_value(&record.event).unwrap()["text"].as_str().is_some_and(|text| text.ends_with("w5000"))
    };
    stage.until(&pod, |records| records.last().is_some_and(is_last)).await;
    let mut viewer = stage.host.journals().observe(&pod, None, 10).await;
    let Some(FeedItem::Snapshot { records, .. }) = viewer.next().await else { panic!("a snapshot comes first") };
    let text: String = stage::read_all(&records)
        .iter()
        .filter(|record| record.event.kind() == "text_chunk")
        .map(|record| serde_json::to_value(&record.event).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert!(text.starts_with("w1 w2 w3 "), "{}", &text[..20]);
    assert!(text.ends_with("w5000"));
}

#[tokio::test]
async fn cursors_that_are_of_no_use_are_told_and_followed_by_a_snapshot() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.create("ada").await, stage.create("bob").await);
    let mut viewer = stage.host.journals().observe(&bob, None, 1).await;
    let Some(FeedItem::Snapshot { cursor: of_bob, .. }) = viewer.next().await else { panic!("a snapshot comes first") };
    for bad in ["nonsense".to_owned(), of_bob] {
        let mut viewer = stage.host.journals().observe(&ada, Some(bad), 10).await;
        let Some(FeedItem::Diagnostic { code, .. }) = viewer.next().await else { panic!("it is told") };
        assert_eq!(code, protocol::DiagnosticCode::CursorInvalid);
        assert!(matches!(viewer.next().await, Some(FeedItem::Snapshot { .. })));
    }
}

#[tokio::test]
async fn the_host_does_the_same_on_postgresql() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let database = pod_store::Database::parse(&url).unwrap();
    let open = || pod_store::Store::open(pod_store::StoreOptions::new(database.clone()));
    let stage = Stage { host: stage::host_on(open().await.unwrap()).await, folder: tempfile::tempdir().unwrap() };
    let pod = stage.create("ada").await;
    stage.host.work().input(key("k1"), &origin(), &pod, say("say one two\nstream 500 at 0")).await.unwrap();
    let before = stage.until_idle(&pod).await;
    let history = stage.host.journals().history(&pod).await.unwrap();
    stage.host.shutdown(std::time::Duration::from_secs(5)).await;

    let stage = Stage { host: stage::host_on(open().await.unwrap()).await, folder: stage.folder };
    assert_eq!(stage.records(&pod).await, before);
    assert_eq!(stage.host.journals().history(&pod).await.unwrap(), history);
}
