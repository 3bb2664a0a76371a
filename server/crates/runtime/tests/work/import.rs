use futures_util::TryStreamExt;
use protocol::{
    ControlVerb, Decision, ErrorCode, Event, ImportCommand, ImportFormat, PodName, PodState, Record, TurnEvent,
    WorkerId,
};
use runtime::SearchQuery;

use crate::{
    bench::{Bench, code, fresh, of_kind},
    stage::{key, key_for, kinds, origin, read_all},
};

async fn exported(bench: &Bench, pod: &WorkerId) -> String {
    let pages: Vec<_> = bench.stage.host.journals().export(pod).await.unwrap().pages.try_collect().await.unwrap();
    let lines = pages.into_iter().flatten().map(|body| String::from_utf8(body.to_vec()).unwrap());
    lines.map(|line| line + "\n").collect()
}

fn import(name: &str, jsonl: &str) -> ImportCommand {
    ImportCommand::of(PodName::parse(name).unwrap(), jsonl)
}

async fn imported(bench: &Bench, name: &str, jsonl: &str) -> WorkerId {
    let summary = bench.stage.host.pods().import(fresh(), &origin(), import(name, jsonl)).await.unwrap();
    assert_eq!((summary.state, summary.name.as_str(), summary.unread), (PodState::Stopped, name, 0));
    summary.pod.worker_id
}

fn records(jsonl: &str) -> Vec<Record> {
    jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The records that are not chunks.
fn turns(jsonl: &str) -> Vec<Record> {
    let is_turn = |record: &Record| matches!(&record.event, Event::Turn(event) if !event.is_chunk());
    records(jsonl).into_iter().filter(is_turn).collect()
}

async fn history(bench: &Bench, pod: &WorkerId) -> String {
    serde_json::to_string(&bench.stage.host.journals().history(pod).await.unwrap()).unwrap()
}

/// A Pod that has thought, made calls, asked for approval, been refused, been compacted and rewound.
async fn eventful(bench: &Bench) -> WorkerId {
    let pod = bench.stage.create("ada").await;
    bench.turn(&pod, &format!("think deep\nsay one {}", "word ".repeat(60))).await;
    bench.turn(&pod, "call Look {\"name\": \"a\"}\ncall Look {\"name\": \"b\"}\nsay two").await;
    let id = bench.until_asked(&pod, r#"call Bash {"command":"ls"}"#).await;
    bench.answer(&pod, &id, Decision::Deny).await.unwrap();
    bench.until_runs(&pod, 3).await;
    bench.control(&pod, ControlVerb::Compact).await.unwrap();
    bench
        .stage
        .until(&pod, |records| {
            !of_kind(records, "compacted").is_empty() && crate::bench::last_state(records) == Some(PodState::Idle)
        })
        .await;
    let head = bench.stage.host.pods().get(&pod).await.unwrap().summary.head_seq;
    bench.turn(&pod, "say unsaid \u{0} \"é\" 😀").await;
    let present = bench.stage.host.pods().get(&pod).await.unwrap().summary.head_seq;
    let back = protocol::RewindCommand::context(head, present);
    bench.stage.host.work().rewind(fresh(), &origin(), &pod, back).await.unwrap();
    bench.turn(&pod, "call Note {\"name\": \"last\"}\nsay three").await;
    pod
}

#[tokio::test]
async fn an_import_has_the_same_history_and_gives_the_same_export() {
    let bench = Bench::new().await;
    let ada = eventful(&bench).await;
    let first = exported(&bench, &ada).await;
    let in_store = bench.stage.records(&ada).await;
    assert_eq!(records(&first), in_store, "an export is the journal");

    let copy = imported(&bench, "copy", &first).await;
    assert_eq!(history(&bench, &copy).await, history(&bench, &ada).await);
    let second = exported(&bench, &copy).await;
    assert_eq!(turns(&second), turns(&first));
    assert!(second.starts_with(&first), "the journal is the same, byte for byte, and a little is added");
    let added = kinds(&records(&second)[records(&first).len()..]);
    assert_eq!(added, ["status", "alert"]);

    // Once more: nothing is lost on the way, however often.
    let again = imported(&bench, "again", &second).await;
    assert_eq!(turns(&exported(&bench, &again).await), turns(&first));
    assert_eq!(history(&bench, &again).await, history(&bench, &ada).await);

    let bench = bench.restart().await;
    assert_eq!(exported(&bench, &copy).await, second);
    assert_eq!(history(&bench, &copy).await, history(&bench, &ada).await);

    // It is a Pod like any other.
    bench.control(&copy, ControlVerb::Restore).await.unwrap();
    let said = bench.turn(&copy, "say and on").await;
    assert_eq!(said.last().unwrap().seq.0, bench.stage.host.pods().get(&copy).await.unwrap().summary.head_seq.0);
    assert!(history(&bench, &copy).await.contains("and on") && !history(&bench, &ada).await.contains("and on"));
}

#[tokio::test]
async fn a_pod_that_works_may_be_exported_and_its_import_is_at_rest() {
    let bench = Bench::new().await;
    let (ada, id) = bench.waiting("ada").await;
    let waiting = exported(&bench, &ada).await;
    let bob = bench.stage.create("bob").await;
    bench.send(&bob, "stream 20 at 0\nwait 600\nsay never").await;
    bench.stage.until(&bob, |records| of_kind(records, "text_chunk").len() >= 20).await;
    let running = exported(&bench, &bob).await;

    let asked = imported(&bench, "asked", &waiting).await;
    assert!(bench.stage.host.approvals().of_pod(&asked, false).await.unwrap().is_empty());
    let all = bench.stage.host.approvals().of_pod(&asked, true).await.unwrap();
    assert_eq!((all.len(), all[0].decision), (1, None), "the question is void");
    assert_eq!(code(bench.answer(&asked, &id, Decision::Allow).await), ErrorCode::AlreadyAnswered);
    assert_eq!(bench.stage.host.approvals().open().await.unwrap().len(), 1, "ada's own");
    assert!(bench.ledger.all().is_empty(), "nothing ran");

    let cut = imported(&bench, "cut", &running).await;
    let finished = of_kind(&bench.stage.records(&cut).await, "message_finished");
    assert_eq!(finished.len(), 1);
    assert!(finished[0]["interrupted"] == true && finished[0]["text"].as_str().unwrap().ends_with("w20"));
    for pod in [&asked, &cut] {
        bench.control(pod, ControlVerb::Restore).await.unwrap();
        assert_eq!(bench.stage.state(pod).await, PodState::Paused);
        bench.turn(pod, "say well").await;
        assert!(bench.history(pod).await.ends_with(&["assistant: well".to_owned()]));
    }
}

#[tokio::test]
async fn an_import_happens_once_for_its_key_and_a_refused_one_leaves_nothing() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    bench.turn(&ada, "say zebra").await;
    let jsonl = exported(&bench, &ada).await;
    let host = &bench.stage.host;
    let by = origin();
    let all = (0..4).map(|_| host.pods().import(key("once"), &by, import("copy", &jsonl)));
    let all: Vec<_> = futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|summary| summary == &all[0]));
    assert_eq!(
        code(host.pods().import(key_for("once", 2), &origin(), import("x", &jsonl)).await),
        ErrorCode::KeyReused
    );
    assert_eq!(code(host.pods().import(fresh(), &origin(), import("copy", &jsonl)).await), ErrorCode::NameTaken);
    for bad in ["", "\n", "x", "{}", "null", "[]"] {
        assert_eq!(
            code(host.pods().import(key("bad"), &origin(), import("bad", bad)).await),
            ErrorCode::InvalidInput,
            "{bad}"
        );
    }
    let cut = &jsonl[..jsonl.len() - 9];
    let error = host.pods().import(key("bad"), &origin(), import("bad", cut)).await.unwrap_err();
    let last = jsonl.lines().count();
    assert!(error.detail.starts_with(&format!("line {last}: ")), "{}", error.detail);
    assert_eq!(host.pods().list(&runtime::PodQuery::default()).await.unwrap().items.len(), 2);
    // The key of a refused import is free.
    host.pods().import(key("bad"), &origin(), import("good", &jsonl)).await.unwrap();

    let audit = host.audit().page(None, 100).await.unwrap().items;
    let targets: Vec<_> =
        audit.iter().filter(|row| row.action == "import").map(|row| row.target.as_deref().unwrap()).collect();
    assert_eq!(targets, ["good", "copy"]);
    let query =
        SearchQuery { words: "zebra".to_owned(), pod: Some(all[0].pod.worker_id.clone()), after: None, limit: 9 };
    assert_eq!(host.journals().search(&query).await.unwrap().items.len(), 2, "an import is found");
    let usage = host.journals().usage().await.unwrap();
    assert_eq!(usage.pods.len(), 1, "what was used was used once: {:?}", usage.pods);
    assert_eq!(all[0].usage.input, 0);
}

#[tokio::test]
async fn an_import_of_a_pod_that_knows_others_knows_nobody() {
    let bench = Bench::new().await;
    let (ada, bob) = (bench.stage.create("ada").await, bench.stage.create("bob").await);
    let host = &bench.stage.host;
    host.peers().introduce(fresh(), &origin(), &ada, &bob, None).await.unwrap();
    host.peers().send(fresh(), &origin(), &bob, &ada, "say got it").await.unwrap();
    bench.until_runs(&ada, 1).await;
    let spawn = r#"call SpawnPod {"name": "eve", "task": "say done", "scope": []}"#;
    bench.turn(&ada, spawn).await;
    bench.until_runs(&ada, 3).await;
    let jsonl = exported(&bench, &ada).await;
    for kind in ["peer_linked", "peer_message", "child_spawned", "child_event"] {
        assert!(jsonl.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }
    let before = (bench.stage.records(&bob).await, host.journals().usage().await.unwrap().links);
    let copy = imported(&bench, "copy", &jsonl).await;
    let detail = host.pods().get(&copy).await.unwrap();
    let relations = &detail.summary.relations;
    assert_eq!((relations.children, relations.peers, &relations.parent), (0, 0, &None));
    assert!(host.peers().of_pod(&copy).await.unwrap().is_empty());
    assert_eq!(history(&bench, &copy).await, history(&bench, &ada).await);
    bench.control(&copy, ControlVerb::Restore).await.unwrap();
    bench.turn(&copy, "call SendToPeerPod {\"name\": \"bob\", \"message\": \"hi\"}").await;
    let visible = host.pods().visible(&copy).await.unwrap();
    assert_eq!(visible.len(), 1, "{visible:?}");
    assert_eq!(
        (bench.stage.records(&bob).await, host.journals().usage().await.unwrap().links),
        before,
        "bob hears nothing"
    );
}

#[tokio::test]
async fn a_long_journal_leaves_in_pages() {
    let bench = Bench::new().await;
    let ada = bench.stage.create("ada").await;
    let line = |seq: i64| {
        let event = TurnEvent::MessageFinished { block: format!("b{seq}"), text: "x".repeat(200), interrupted: false };
        serde_json::json!({ "seq": seq, "at": "2026-11-21T10:00:00Z", "event": Event::from(event) }).to_string() + "\n"
    };
    let jsonl: String = (1..=2_500).map(line).collect();
    let long = imported(&bench, "long", &jsonl).await;
    let pages: Vec<_> = bench.stage.host.journals().export(&long).await.unwrap().pages.try_collect().await.unwrap();
    let sizes: Vec<_> = pages.iter().map(Vec::len).collect();
    assert_eq!(sizes, [1_000, 1_000, 502]);
    assert_eq!(read_all(&pages.concat())[..2_500], records(&jsonl));
    // Deleting the Pod during the export ends the stream; it does not hang.
    let export = bench.stage.host.journals().export(&ada).await.unwrap();
    bench.stage.host.pods().delete(fresh(), &origin(), &ada, Some("ada")).await.unwrap();
    let rest: Vec<_> = export.pages.try_collect().await.unwrap();
    assert!(rest.is_empty());
    assert_eq!(code(bench.stage.host.journals().export(&ada).await.map(|_| ())), ErrorCode::PodNotFound);
}

#[tokio::test]
async fn a_session_of_another_agent_goes_on_as_a_pod() {
    let bench = Bench::new().await;
    let claude = include_str!("../../src/session_files/samples/claude.jsonl");
    let codex = include_str!("../../src/session_files/samples/codex.jsonl");
    let opencode = include_str!("../../src/session_files/samples/opencode.json");
    for (name, file, newest) in [
        ("claude", claude, "assistant: Committed."),
        ("codex", codex, "assistant: You are welcome."),
        ("opencode", opencode, "user: [summary of what came before]"),
    ] {
        let pod = imported(&bench, name, file).await;
        assert_eq!(bench.history(&pod).await.last().unwrap(), newest);
        let said = bench.stage.records(&pod).await;
        let (first, last) = (&of_kind(&said, "alert")[0], of_kind(&said, "alert").pop().unwrap());
        assert!(first["text"].as_str().unwrap().starts_with("imported from a session of "), "{first}");
        assert!(last["text"].as_str().unwrap().starts_with("everything above was imported"), "{last}");
        bench.control(&pod, ControlVerb::Restore).await.unwrap();
        bench.turn(&pod, "say and on").await;
        assert_eq!(bench.history(&pod).await.last().unwrap(), "assistant: and on");
        // It is a journal like any other.
        let copy = imported(&bench, &format!("{name}-2"), &exported(&bench, &pod).await).await;
        assert_eq!(history(&bench, &copy).await, history(&bench, &pod).await);
    }
    let refused = async |command: ImportCommand| {
        let error = bench.stage.host.pods().import(fresh(), &origin(), command).await.unwrap_err();
        (error.code, error.detail)
    };
    let of = |format| ImportCommand { format: Some(format), ..import("bad", "{}\nnonsense\n") };
    let (code, detail) = refused(of(ImportFormat::Claude)).await;
    assert!(code == ErrorCode::InvalidInput && detail.contains("is it a session of Claude Code?"), "{detail}");
    assert!(refused(of(ImportFormat::Yoi)).await.1.starts_with("line 1: "));
    let away = ImportCommand { cwd: Some("/no/such/folder".to_owned()), ..import("bad", claude) };
    assert!(refused(away).await.1.contains("working directory"));
    let here = ImportCommand { cwd: Some("/tmp".to_owned()), ..import("here", claude) };
    assert_eq!(bench.stage.host.pods().import(fresh(), &origin(), here).await.unwrap().cwd, "/tmp");
}
