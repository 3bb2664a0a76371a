//! The server functions, called as the server calls them: natively, with a real host behind them.

#![allow(clippy::unwrap_used)]

use app::server_fns::{
    PodPageData, answer_approval, change_pod, compaction_preview, control_pod, create_pod, decide_held, decide_request,
    delete_pod, fitting_files, introduce_pods, list_pods, load_pod, older_records, open_approvals, open_requests,
    pod_approvals, pod_exchange, pod_peers, relations, resolve, restore_pod, rewind_pod, run_tool, steer_input,
    submit_input, take_back_input, unlink_pods,
};
use backend::{Backend, Origin};
use leptos::prelude::{Owner, provide_context};
use protocol::{
    ApprovalCommand, CommandId, ControlVerb, CreatePod, Decision, ErrorCode, Event, HeldCommand, HeldDecision,
    PatchPod, PeerCommand, PeerLink, PeerPolicy, PodName, PodRef, PodState, RequestCommand, RequestDecision,
    RestoreCommand, RewindCommand, Segment, Seq, ToolCommand, TurnEvent,
};
use runtime::{Host, HostOptions};
use testkit::until;

/// A backend with a host behind it, and the context that the binary gives to pages.
struct Stage {
    _folder: tempfile::TempDir,
    _owner: Owner,
}

async fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let store = pod_store::Store::open(pod_store::StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
    let providers = provider::Providers::new(Vec::new()).unwrap();
    let toolbox = tools::Toolbox::new(tools::files::tools());
    let options = HostOptions { toolbox, ..HostOptions::of(store, providers, "/", "/nowhere") };
    let owner = Owner::new();
    owner.set();
    provide_context(Backend::new(Host::start(options).await.unwrap()));
    provide_context(Origin { by: "operator".to_owned(), client: "console".to_owned() });
    Stage { _folder: folder, _owner: owner }
}

fn id(text: &str) -> CommandId {
    CommandId::parse(text).unwrap()
}

fn name(text: &str) -> PodName {
    PodName::parse(text).unwrap()
}

async fn ada() -> PodRef {
    create_pod(id("c1"), CreatePod::named(name("ada"))).await.unwrap().pod
}

#[tokio::test]
async fn a_message_goes_in_and_the_page_has_the_answer() {
    let _stage = stage().await;
    let pod = ada().await;
    let segments = vec![Segment::text("say hello from a server function")];
    let receipt = submit_input(pod.clone(), id("k1"), segments.clone(), true).await.unwrap();
    assert_eq!(submit_input(pod.clone(), id("k1"), segments, true).await.unwrap(), receipt);
    let said = until("the answer", async || {
        let page = load_pod(pod.to_string(), None, None).await.unwrap();
        page.records.iter().find_map(|record| match &record.event {
            Event::Turn(TurnEvent::MessageFinished { text, .. }) => Some(text.clone()),
            _ => None,
        })
    })
    .await;
    assert_eq!(said, "hello from a server function");
    assert_eq!(list_pods().await.unwrap().len(), 1);
    assert_eq!(resolve("ada".to_owned()).await.unwrap(), pod);
}

#[tokio::test]
async fn a_refusal_keeps_its_code_and_its_sentence() {
    let _stage = stage().await;
    let pod = ada().await;
    let taken = create_pod(id("c2"), CreatePod::named(name("ada"))).await.unwrap_err();
    assert_eq!(taken.code(), ErrorCode::NameTaken);
    assert!(taken.sentence().contains("ada"), "{}", taken.sentence());
    let idle = control_pod(pod.clone(), id("k1"), ControlVerb::Pause).await.unwrap_err();
    assert_eq!(idle.code(), ErrorCode::NotRunning);
    let empty = submit_input(pod, id("k2"), Vec::new(), true).await.unwrap_err();
    assert_eq!(empty.code(), ErrorCode::InvalidInput);
    let unknown = load_pod("local/nobody".to_owned(), None, None).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::PodNotFound);
}

#[tokio::test]
async fn stop_rename_and_delete_reach_the_pod() {
    let _stage = stage().await;
    let pod = ada().await;
    control_pod(pod.clone(), id("k1"), ControlVerb::Stop).await.unwrap();
    let page = load_pod(pod.to_string(), None, None).await.unwrap();
    assert_eq!(page.detail.summary.state, PodState::Stopped);
    let patch = PatchPod { name: Some(name("eve")), ..PatchPod::default() };
    change_pod(pod.clone(), id("k2"), patch).await.unwrap();
    assert_eq!(list_pods().await.unwrap()[0].name, name("eve"));
    delete_pod(pod, id("k3"), "eve".to_owned()).await.unwrap();
    assert!(list_pods().await.unwrap().is_empty());
}

#[tokio::test]
async fn older_pages_follow_each_other_without_a_gap() {
    let _stage = stage().await;
    let pod = ada().await;
    for number in 0..60 {
        submit_input(pod.clone(), id(&format!("k{number}")), vec![Segment::text(format!("say n{number}"))], true)
            .await
            .unwrap();
    }
    // The message itself is in the log as soon as it is queued, and the state is read beside the records: only its
    // answer tells that everything was answered.
    let is_answered = |page: &PodPageData| {
        page.records.iter().any(|record| {
            matches!(&record.event, Event::Turn(TurnEvent::MessageFinished { text, .. }) if text.ends_with("n59"))
        })
    };
    let newest = async || Some(load_pod(pod.to_string(), None, None).await.unwrap()).filter(is_answered);
    let page = until("all is answered", newest).await;
    let mut records = page.records;
    let mut has_more = page.has_more;
    while has_more {
        let older = older_records(pod.clone(), records[0].seq, false).await.unwrap();
        assert!(older.records.last().unwrap().seq < records[0].seq);
        has_more = older.has_more;
        records = older.records.into_iter().chain(records).collect();
    }
    let said = records.iter().filter(|record| record.event.kind() == "message_finished").count();
    assert_eq!((records[0].seq.0, said), (1, 60));
}

#[tokio::test]
async fn of_two_answers_to_a_question_the_first_counts_and_can_be_looked_up() {
    let _stage = stage().await;
    let pod = ada().await;
    let call = Segment::text(r#"call Write {"path":"a","content":"b"}"#);
    submit_input(pod.clone(), id("k1"), vec![call], true).await.unwrap();
    let open = until("a question", async || open_approvals().await.unwrap().pop()).await;
    let answer = |decision| ApprovalCommand { reason: Some("no".to_owned()), ..ApprovalCommand::once(decision) };
    let question = open.approval.id.clone();
    answer_approval(pod.clone(), id("a1"), question.clone(), answer(Decision::Deny)).await.unwrap();
    let late = answer_approval(pod.clone(), id("a2"), question.clone(), answer(Decision::Allow)).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::AlreadyAnswered);
    let known = pod_approvals(pod).await.unwrap().remove(0);
    assert_eq!((known.id, known.decision, known.reason.as_deref()), (question, Some(Decision::Deny), Some("no")));
    assert!(open_approvals().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_rewind_is_refused_once_the_head_has_moved_and_a_tool_tells_its_own_failure() {
    let _stage = stage().await;
    let pod = ada().await;
    let command = RewindCommand::context(Seq(1), Seq(99_999));
    assert_eq!(rewind_pod(pod.clone(), id("k1"), command).await.unwrap_err().code(), ErrorCode::HeadMoved);
    assert_eq!(compaction_preview(pod.clone()).await.unwrap(), None);
    let spawn = |scope: serde_json::Value| ToolCommand {
        arguments: serde_json::json!({ "name": "ada", "task": "t", "scope": scope }),
    };
    let taken = run_tool(pod.clone(), id("k2"), "SpawnPod".to_owned(), spawn(serde_json::json!([]))).await.unwrap();
    assert!(taken.is_error && taken.code.as_deref() == Some("name_taken"), "{taken:?}");
    control_pod(pod.clone(), id("k3"), ControlVerb::Stop).await.unwrap();
    let receipt = restore_pod(pod.clone(), id("k4"), RestoreCommand { tree: true }).await.unwrap();
    assert!(receipt.report.iter().all(|line| line.restored), "{receipt:?}");
    let page = load_pod(pod.to_string(), None, None).await.unwrap();
    assert_eq!(page.detail.summary.state, PodState::Idle);
}

fn to(target: &str) -> PeerCommand {
    PeerCommand { target: target.to_owned(), note: None }
}

#[tokio::test]
async fn a_peer_is_added_seen_from_both_sides_and_removed() {
    let _stage = stage().await;
    let ada = ada().await;
    let bob = create_pod(id("c2"), CreatePod::named(name("bob"))).await.unwrap().pod;
    let answer = introduce_pods(ada.clone(), id("k1"), to("bob")).await.unwrap();
    assert_eq!((answer.state, &answer.peer), (PeerLink::Linked, &bob));
    assert_eq!(pod_peers(bob.clone()).await.unwrap()[0].pod, ada);
    assert_eq!(load_pod(ada.to_string(), None, None).await.unwrap().peers[0].pod, bob);
    let pairs = relations().await.unwrap().pairs;
    assert_eq!(pairs.len(), 1);
    let exchange = pod_exchange(ada.to_string(), bob.to_string(), None).await.unwrap();
    assert!(exchange.link.is_some() && exchange.messages.is_empty() && exchange.earlier.is_none());
    unlink_pods(bob.clone(), id("k2"), ada.clone()).await.unwrap();
    assert!(pod_peers(ada).await.unwrap().is_empty() && relations().await.unwrap().pairs.is_empty());
}

#[tokio::test]
async fn a_request_waits_until_it_is_declined_and_refusals_have_their_codes() {
    let _stage = stage().await;
    let ada = ada().await;
    let with = |policy, text: &str| CreatePod { peer_policy: Some(policy), ..CreatePod::named(name(text)) };
    let bob = create_pod(id("c2"), with(PeerPolicy::Ask, "bob")).await.unwrap().pod;
    create_pod(id("c3"), with(PeerPolicy::Closed, "eve")).await.unwrap();
    let answer = introduce_pods(ada.clone(), id("k1"), to("bob")).await.unwrap();
    let request = answer.request_id.unwrap();
    assert_eq!((answer.state, open_requests().await.unwrap()[0].request_id.as_str()), (PeerLink::Pending, &*request));
    let decline = RequestCommand { decision: RequestDecision::Decline };
    decide_request(bob.clone(), id("k2"), request.clone(), decline).await.unwrap();
    assert!(open_requests().await.unwrap().is_empty());
    let late = decide_request(bob, id("k3"), request, decline).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::AlreadyAnswered);
    for (key, target, code) in [
        ("k4", "eve", ErrorCode::PeerRefused),
        ("k5", "ada", ErrorCode::PeerSelf),
        ("k6", "nobody", ErrorCode::PodNotFound),
    ] {
        assert_eq!(introduce_pods(ada.clone(), id(key), to(target)).await.unwrap_err().code(), code, "{target}");
    }
    let release = HeldCommand { decision: HeldDecision::Release };
    let none = decide_held(ada, id("k7"), "message-0".to_owned(), release).await.unwrap_err();
    assert_eq!(none.code(), ErrorCode::NotFound);
}

#[tokio::test]
async fn what_waits_is_taken_back_once_and_only_before_it_begins() {
    let _stage = stage().await;
    let pod = ada().await;
    let segments = |text: &str| vec![Segment::text(text)];
    submit_input(pod.clone(), id("k1"), segments("wait 60"), true).await.unwrap();
    submit_input(pod.clone(), id("k2"), segments("say one"), true).await.unwrap();
    steer_input(pod.clone(), id("k3"), segments("say two")).await.unwrap();
    let page = load_pod(pod.to_string(), None, None).await.unwrap();
    let waiting: Vec<_> = page.detail.queued.iter().map(|input| (input.command_id.as_str(), input.steer)).collect();
    assert_eq!(waiting, [("k2", false), ("k3", true)]);
    let taken = take_back_input(pod.clone(), id("b1"), id("k2")).await.unwrap();
    assert_eq!(taken.segments, segments("say one"));
    let gone = take_back_input(pod.clone(), id("b2"), id("k2")).await.unwrap_err();
    assert_eq!(gone.code(), ErrorCode::NotFound);
    control_pod(pod.clone(), id("k4"), ControlVerb::Cancel).await.unwrap();
    let begun = take_back_input(pod, id("b3"), id("k3")).await.unwrap_err();
    assert_eq!(begun.code(), ErrorCode::AlreadyAnswered);
}

#[tokio::test]
async fn files_of_the_scope_are_found_by_a_few_letters() {
    let stage = stage().await;
    let folder = stage._folder.path().join("work");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.rs"), "").unwrap();
    std::fs::write(stage._folder.path().join("main.secret"), "").unwrap();
    let create = CreatePod { cwd: Some(folder.to_str().unwrap().to_owned()), ..CreatePod::named(name("eve")) };
    let pod = create_pod(id("c2"), create).await.unwrap().pod;
    // A lookup that is delayed finds less.
    let mut found = Vec::new();
    for _ in 0..100 {
        found = fitting_files(pod.clone(), "mn".to_owned()).await.unwrap();
        if !found.is_empty() {
            break;
        }
    }
    assert_eq!(found, ["src/main.rs"]);
    let outside = vec![Segment::text("see "), Segment::FileRef { path: "../main.secret".to_owned() }];
    let refused = submit_input(pod, id("k1"), outside, true).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ScopeNotHeld);
}
