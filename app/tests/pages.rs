//! The pages as the server draws them, for a reader without scripts, with a real host behind them.

#![allow(clippy::unwrap_used)]

mod stage;

use protocol::{
    ApprovalCommand, CommandId, CreatePod, Decision, ErrorCode, InputCommand, MessageCommand, PeerCommand, PeerPolicy,
    PodName, PodRef, PodState, ReceiptState, RequestCommand, RequestDecision, RewindCommand, Segment, Seq, ToolCommand,
};
use serde_json::json;
use testkit::until;

use crate::stage::{Stage, page_of, words};

/// A Pod whose peer policy is `ask`.
async fn asking_pod(stage: &Stage, name: &str) -> PodRef {
    let create = CreatePod { peer_policy: Some(PeerPolicy::Ask), ..CreatePod::named(PodName::parse(name).unwrap()) };
    stage.create(create).await
}

async fn introduce(stage: &Stage, pod: &PodRef, target: &str, note: Option<&str>) {
    let command = PeerCommand { target: target.to_owned(), note: note.map(str::to_owned) };
    stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::Introduce { pod: pod.clone(), body: command },
        )
        .await
        .unwrap();
}

/// Waits until the newest message between the two is in this state.
async fn message_reaches(stage: &Stage, pod: &PodRef, peer: &PodRef, state: ReceiptState) {
    loop {
        let page = stage
            .backend
            .read(protocol::operations::Exchange {
                pod: pod.clone(),
                peer: peer.clone(),
                before: Default::default(),
                limit: protocol::operation::Limit(1),
            })
            .await
            .unwrap();
        if page.items.first().is_some_and(|message| message.state == state) {
            return;
        }
        // Not in a tight loop: the store has other work to do meanwhile.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The text of a page, once it contains this: each of two Pods gets a receipt by itself.
async fn page_with(stage: &Stage, path: &str, said: &str) -> String {
    until(format!("{path} says {said:?}"), async || {
        Some(words(&stage.page(path).await)).filter(|page| page.contains(said))
    })
    .await
}

/// The id of the only open approval, once there is one.
async fn question(stage: &Stage) -> String {
    let open = async || stage.backend.everywhere().open_approvals().await.unwrap().items.pop();
    until("a question is open", open).await.approval.id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_can_be_read_in_full_in_the_transcript_and_in_the_inbox_until_it_is_answered() {
    let stage = Stage::start().await;
    assert!(words(&stage.page("/approvals").await).contains("No approvals pending."));
    let ada = stage.pod("ada").await;
    stage.say(&ada, r#"call Bash {"command":"cargo test --all"}"#).await;
    let id = question(&stage).await;
    for path in ["/approvals".to_owned(), page_of(&ada)] {
        let page = words(&stage.page(&path).await);
        assert!(page.contains("cargo test --all"), "{path}: {page}");
        assert!(page.contains("asks for permission") && page.contains("Allow once"), "{path}: {page}");
        assert!(page.contains("Always…") && page.contains("Deny…"), "{path}: {page}");
        assert!(page.contains("Approvals, 1 waiting"), "the count is beside the name: {page}");
    }
    let deny = ApprovalCommand { reason: Some("not today".to_owned()), ..ApprovalCommand::once(Decision::Deny) };
    stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::AnswerApproval { pod: ada.clone(), id: id.clone(), body: deny.clone() },
        )
        .await
        .unwrap();
    let late = stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::AnswerApproval { pod: ada.clone(), id: id.clone(), body: deny },
        )
        .await
        .unwrap_err();
    assert_eq!(late.code, ErrorCode::AlreadyAnswered);
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("denied by you: not today") && !page.contains("Allow once"), "{page}");
    assert!(words(&stage.page("/approvals").await).contains("No approvals pending."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_shows_its_children_with_their_loans_and_a_child_its_parent() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let folder = stage.folder.path().join("lent");
    std::fs::create_dir(&folder).unwrap();
    let arguments = json!({
        "name": "bob", "task": "say hello",
        "scope": [{ "path": folder.to_str().unwrap(), "access": "write", "recursive": true }],
    });
    let command = ToolCommand { arguments };
    let answer = stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::RunTool { pod: ada.clone(), name: "SpawnPod".into(), body: command },
        )
        .await
        .unwrap();
    assert!(!answer.is_error, "{answer:?}");
    let page = words(&stage.page(&page_of(&ada)).await);
    for said in ["you ran this", "1 path lent", "1 child"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let pods = stage.backend.read(protocol::operations::Pods::default()).await.unwrap().items;
    let bob = pods.iter().find(|pod| pod.name.as_str() == "bob").unwrap();
    let page = words(&stage.page(&page_of(&bob.pod)).await);
    assert!(page.contains("Parent"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_of_a_pod_sees_what_its_children_ask() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let arguments = json!({ "name": "bob", "task": "call Bash {\"command\":\"cargo test\"}", "scope": [] });
    let command = ToolCommand { arguments };
    let answer = stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::RunTool { pod: ada.clone(), name: "SpawnPod".into(), body: command },
        )
        .await
        .unwrap();
    assert!(!answer.is_error, "{answer:?}");
    question(&stage).await;
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("bob, a child of this Pod, asks: Bash cargo test"), "{page}");
    let inbox = words(&stage.page("/approvals").await);
    assert!(inbox.contains("a child of ada"), "{inbox}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rewind_took_out_is_still_read_and_said_to_be_out() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    stage.say(&ada, "say the first").await;
    let head = until("the run is over", async || {
        let now = stage.backend.pod(&ada).await.unwrap().summary;
        (now.state == PodState::Idle && now.head_seq > Seq(4)).then_some(now.head_seq)
    })
    .await;
    let command = RewindCommand::context(Seq(1), head);
    stage
        .backend
        .carry_out(&stage.origin, CommandId::random(), protocol::operations::Rewind { pod: ada.clone(), body: command })
        .await
        .unwrap();
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("the first") && page.contains("no longer in the context"), "{page}");
    assert!(page.contains("rewound to record 1") && !page.contains("Rewind to before this"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_in_the_inbox_with_its_note_and_on_both_pages_until_it_is_accepted() {
    let stage = Stage::start().await;
    let (ada, bob) = (asking_pod(&stage, "ada").await, stage.pod("bob").await);
    introduce(&stage, &bob, "ada", Some("about the lease test")).await;
    let inbox = words(&stage.page("/approvals").await);
    for said in ["1 peer request.", "bob asks to be a peer of ada", "about the lease test", "Accept"] {
        assert!(inbox.contains(said), "{said}: {inbox}");
    }
    let asked = words(&stage.page(&page_of(&ada)).await);
    assert!(asked.contains("asks to be a peer") && asked.contains("Decline"), "{asked}");
    let asks = words(&stage.page(&page_of(&bob)).await);
    assert!(asks.contains("peer request sent") && asks.contains("Withdraw"), "{asks}");
    let map = words(&stage.page("/map").await);
    assert!(map.contains("request pending"), "{map}");
    let request = stage
        .backend
        .read(protocol::operations::OpenRequests { runtime: Default::default(), page: Default::default() })
        .await
        .unwrap()
        .items
        .remove(0)
        .request_id;
    let accept = RequestCommand { decision: RequestDecision::Accept };
    stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::DecideRequest { pod: ada.clone(), request_id: request.clone(), body: accept },
        )
        .await
        .unwrap();
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("peer") && page.contains("Unpeer") && page.contains("messages"), "{page}");
    assert!(words(&stage.page("/approvals").await).contains("No approvals pending."));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_draws_parents_and_peers_in_the_first_paint_and_says_the_same_in_a_table() {
    let stage = Stage::start().await;
    assert!(words(&stage.page("/map").await).contains("No Pod has a child or a peer yet."));
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    introduce(&stage, &ada, "bob", None).await;
    let command = ToolCommand { arguments: json!({ "name": "cat", "task": "say hello", "scope": [] }) };
    let answer = stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::RunTool { pod: ada.clone(), name: "SpawnPod".into(), body: command },
        )
        .await
        .unwrap();
    assert!(!answer.is_error, "{answer:?}");
    stage.pod("zoe").await;
    let page = stage.page("/map").await;
    let exchange = format!("href=\"{}/with/local/{}\"", page_of(&ada), bob.worker_id);
    let back = format!("href=\"{}/with/local/{}\"", page_of(&bob), ada.worker_id);
    assert!(page.contains(&exchange) || page.contains(&back), "{page}");
    assert!(page.contains("<svg") && page.contains("edge-knows") && page.contains("edge-leads"), "{page}");
    let words = words(&page);
    for said in ["1 Pod without children or peers not shown", "nothing lent", "no messages in the last hour"] {
        assert!(words.contains(said), "{said}: {words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_legend_of_the_map_has_a_request_where_there_is_one() {
    let stage = Stage::start().await;
    let (ada, _) = (stage.pod("ada").await, asking_pod(&stage, "bob").await);
    stage.pod("cat").await;
    introduce(&stage, &ada, "cat", None).await;
    let page = stage.page("/map").await;
    assert!(page.contains("legend-knows") && !page.contains("legend-asked"), "{page}");
    introduce(&stage, &ada, "bob", None).await;
    assert!(stage.page("/map").await.contains("legend-asked"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_says_what_a_pod_asks_and_spends_no_words_before_it() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    stage.say(&ada, r#"call Bash {"command":"cargo test --all"}"#).await;
    question(&stage).await;
    let page = stage.page("/map").await;
    let row = page.split_once("class=\"doing\"").unwrap().1;
    assert!(row.starts_with(">asks: Bash cargo test --all"), "{row}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_wrote_is_on_a_page_of_its_own_and_a_receipt_stands_on_the_card_of_the_call() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    let path = format!("{}/with/{}/{}", page_of(&ada), bob.runtime_id, bob.worker_id);
    let page = words(&stage.page(&path).await);
    assert!(page.contains("They are not peers") && page.contains("No messages yet"), "{page}");
    introduce(&stage, &ada, "bob", None).await;
    stage.say(&ada, r#"call SendToPeerPod {"name":"bob","message":"say the lease is fine"}"#).await;
    message_reaches(&stage, &ada, &bob, ReceiptState::Answered).await;
    let page = words(&stage.page(&path).await);
    for said in ["Made peers", "say the lease is fine", "answered at turn 1", "to bob"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let sender = page_with(&stage, &page_of(&ada), "answered at turn 1").await;
    assert!(sender.contains("answered at turn 1") && !sender.contains("Message to"), "{sender}");
    let receiver = page_with(&stage, &page_of(&bob), "answered at turn 1").await;
    assert!(receiver.contains("say the lease is fine") && receiver.contains("answered at turn 1"), "{receiver}");
    let command = MessageCommand { to: "bob".to_owned(), text: "from a person".to_owned() };
    stage
        .backend
        .carry_out(
            &stage.origin,
            CommandId::random(),
            protocol::operations::SendMessage { pod: ada.clone(), body: command },
        )
        .await
        .unwrap();
    let sender = words(&stage.page(&page_of(&ada)).await);
    assert!(sender.contains("Message to"), "no card of a call carries it: {sender}");
    let missing = words(&stage.page(&format!("{}/with/local/nobody", page_of(&ada))).await);
    assert!(missing.contains("One of the two Pods does not exist"), "{missing}");
}

#[tokio::test]
async fn what_waits_can_be_edited_and_removed_and_a_named_file_stays_in_its_sentence() {
    let stage = Stage::start().await;
    let pod = stage.pod("ada").await;
    let send = async |segments: Vec<Segment>, steer: bool| {
        let command = InputCommand { segments, queue: true, steer };
        stage
            .backend
            .carry_out(
                &stage.origin,
                CommandId::random(),
                protocol::operations::Input { pod: pod.clone(), body: command },
            )
            .await
            .unwrap();
    };
    let file = Segment::FileRef { path: "src/main.rs".to_owned() };
    send(vec![Segment::text("wait 60\nlook at "), file, Segment::text(" now")], false).await;
    send(vec![Segment::text("and then this")], false).await;
    send(vec![Segment::text("rather that")], true).await;
    let page = stage.page(&page_of(&pod)).await;
    let words = words(&page);
    assert!(words.contains("look at @src/main.rs now"), "{words}");
    for part in ["queued", "and then this", "steers", "rather that", "Edit", "Remove", "Steer", "Queue"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert_eq!(page.matches("class=\"file\"").count(), 1);
    assert!(page.contains("Message ada (queued until it finishes)"));
}
