//! The pages as the server draws them, for a reader without a script, with a real host behind them.

#![allow(clippy::unwrap_used)]

use app::{App, shell};
use axum::{body::Body, http::Request};
use backend::{Backend, Origin};
use leptos::{
    config::{Env, LeptosOptions},
    prelude::provide_context,
};
use protocol::{
    ApprovalCommand, CommandId, CreatePod, Decision, ErrorCode, InputCommand, MessageCommand, PeerCommand, PeerPolicy,
    PodName, PodRef, PodState, ReceiptState, RequestCommand, RequestDecision, RewindCommand, Segment, Seq, ToolCommand,
};
use runtime::{Host, HostOptions};
use serde_json::json;

/// The routes are asked for once, as the server does: while they are, no page may be drawn.
static ROUTES: std::sync::Once = std::sync::Once::new();

/// The views of a page are deeply nested.
const STACK_BYTES: usize = 16 * 1024 * 1024;

struct Stage {
    _folder: tempfile::TempDir,
    backend: Backend,
    origin: Origin,
}

impl Stage {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("yoi.db");
        let store = pod_store::Store::open(pod_store::StoreOptions::sqlite(file)).await.unwrap();
        let providers = provider::Providers::new(Vec::new()).unwrap();
        let cwd = folder.path().to_str().unwrap().to_owned();
        let options = HostOptions::of(store, providers, cwd, folder.path().join("outputs"));
        let backend = Backend::new(Host::start(options).await.unwrap());
        let origin = Origin { by: "operator".to_owned(), client: "console".to_owned() };
        // The routes are known once; this also starts what draws them.
        ROUTES.call_once(|| drop(leptos_axum::generate_route_list(App)));
        Self { _folder: folder, backend, origin }
    }

    async fn pod(&self, name: &str) -> PodRef {
        let create = CreatePod::named(PodName::parse(name).unwrap());
        self.backend.create(&self.origin, CommandId::random(), create).await.unwrap().pod
    }

    /// One that is asked before it knows somebody.
    async fn asking_pod(&self, name: &str) -> PodRef {
        let create =
            CreatePod { peer_policy: Some(PeerPolicy::Ask), ..CreatePod::named(PodName::parse(name).unwrap()) };
        self.backend.create(&self.origin, CommandId::random(), create).await.unwrap().pod
    }

    async fn introduce(&self, pod: &PodRef, target: &str, note: Option<&str>) {
        let command = PeerCommand { target: target.to_owned(), note: note.map(str::to_owned) };
        self.backend.introduce(&self.origin, CommandId::random(), pod, command).await.unwrap();
    }

    /// Waits until the newest message of the two has come so far.
    async fn message_reaches(&self, pod: &PodRef, peer: &PodRef, state: ReceiptState) {
        loop {
            let page = self.backend.exchange(pod, peer, None, 1).await.unwrap();
            if page.items.first().is_some_and(|message| message.state == state) {
                return;
            }
            // Not in a tight loop: the store has work to do meanwhile.
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    async fn say(&self, pod: &PodRef, text: &str) {
        let command = InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false };
        self.backend.input(&self.origin, CommandId::random(), pod, command).await.unwrap();
    }

    /// The id of the one question that is open, once it is.
    async fn question(&self) -> String {
        loop {
            if let Some(open) = self.backend.open_approvals().await.unwrap().items.pop() {
                return open.approval.id;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Drawn on a thread of its own, as the server does it: on several the framework's tasks race with the drawing.
    async fn page(&self, path: &str) -> String {
        let (backend, origin) = (self.backend.clone(), self.origin.clone());
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(draw(backend, origin, path))
            });
            thread.unwrap().join().unwrap()
        })
        .await
        .unwrap()
    }
}

async fn draw(backend: Backend, origin: Origin, path: String) -> String {
    let options = LeptosOptions::builder().output_name("yoi").site_pkg_dir("pkg/x").env(Env::PROD).build();
    let context = move || {
        provide_context(backend.clone());
        provide_context(origin.clone());
    };
    let draw = leptos_axum::render_app_async_with_context(context, move || shell(options.clone()));
    let answer = draw(Request::builder().uri(path).body(Body::empty()).unwrap()).await;
    let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn page_of(pod: &PodRef) -> String {
    format!("/pods/{}/{}", pod.runtime_id, pod.worker_id)
}

/// Without tags and comments, so that a sentence is found whatever is inside it.
fn words(page: &str) -> String {
    let body = page.split_once("<body").unwrap().1;
    let mut words = String::new();
    let mut in_tag = true;
    for letter in body.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            letter if !in_tag => words.push(letter),
            _ => (),
        }
    }
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_can_be_read_in_full_in_the_transcript_and_in_the_inbox_until_it_is_answered() {
    let stage = Stage::start().await;
    assert!(words(&stage.page("/approvals").await).contains("Nothing waits for you."));
    let ada = stage.pod("ada").await;
    stage.say(&ada, r#"call Bash {"command":"cargo test --all"}"#).await;
    let id = stage.question().await;
    for path in ["/approvals".to_owned(), page_of(&ada)] {
        let page = words(&stage.page(&path).await);
        assert!(page.contains("cargo test --all"), "{path}: {page}");
        assert!(page.contains("asks for permission") && page.contains("Allow once"), "{path}: {page}");
        assert!(page.contains("Bash with exactly this command, in this Pod"), "{path}: {page}");
        assert!(page.contains("open questions"), "the count is beside the name: {page}");
    }
    let deny = ApprovalCommand { decision: Decision::Deny, remember: false, reason: Some("not today".to_owned()) };
    stage.backend.answer(&stage.origin, CommandId::random(), &ada, &id, deny.clone()).await.unwrap();
    let late = stage.backend.answer(&stage.origin, CommandId::random(), &ada, &id, deny).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::AlreadyAnswered);
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("denied by operator: not today") && !page.contains("Allow once"), "{page}");
    assert!(words(&stage.page("/approvals").await).contains("Nothing waits for you."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_shows_whom_it_leads_with_what_it_lent_and_a_child_who_leads_it() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let folder = stage._folder.path().join("lent");
    std::fs::create_dir(&folder).unwrap();
    let arguments = json!({
        "name": "bob", "task": "say hello",
        "scope": [{ "path": folder.to_str().unwrap(), "access": "write", "recursive": true }],
    });
    let command = ToolCommand { arguments };
    let answer = stage.backend.run_tool(&stage.origin, CommandId::random(), &ada, "SpawnPod", command).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    let page = words(&stage.page(&page_of(&ada)).await);
    for said in ["you ran this", "1 path lent", "for writing: bob writes, this Pod only reads", "1 child"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let pods = stage.backend.pods(&Default::default()).await.unwrap().items;
    let bob = pods.iter().find(|pod| pod.name.as_str() == "bob").unwrap();
    let page = words(&stage.page(&page_of(&bob.pod)).await);
    assert!(page.contains("Led by"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_watches_a_pod_sees_what_its_children_ask() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    let arguments = json!({ "name": "bob", "task": "call Bash {\"command\":\"cargo test\"}", "scope": [] });
    let command = ToolCommand { arguments };
    let answer = stage.backend.run_tool(&stage.origin, CommandId::random(), &ada, "SpawnPod", command).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    stage.question().await;
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
    let head = loop {
        let detail = stage.backend.pod(&ada).await.unwrap();
        match detail.summary.state == PodState::Idle && detail.summary.head_seq > Seq(4) {
            true => break detail.summary.head_seq,
            false => tokio::task::yield_now().await,
        }
    };
    let command = RewindCommand { to_seq: Seq(1), expected_head: head };
    stage.backend.rewind(&stage.origin, CommandId::random(), &ada, command).await.unwrap();
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("the first") && page.contains("not in the context any more"), "{page}");
    assert!(page.contains("rewound to record 1") && !page.contains("Rewind to before this"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_in_the_inbox_with_its_note_and_on_both_pages_until_it_is_accepted() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.asking_pod("ada").await, stage.pod("bob").await);
    stage.introduce(&bob, "ada", Some("about the lease test")).await;
    let inbox = words(&stage.page("/approvals").await);
    for said in ["1 Pod asks to be introduced.", "bob asks to be introduced to ada", "about the lease test", "Accept"] {
        assert!(inbox.contains(said), "{said}: {inbox}");
    }
    let asked = words(&stage.page(&page_of(&ada)).await);
    assert!(asked.contains("asks to be introduced") && asked.contains("Decline"), "{asked}");
    let asks = words(&stage.page(&page_of(&bob)).await);
    assert!(asks.contains("was asked") && asks.contains("Withdraw"), "{asks}");
    let map = words(&stage.page("/map").await);
    assert!(map.contains("waits for an answer"), "{map}");
    let request = stage.backend.open_requests().await.unwrap().items.remove(0).request_id;
    let accept = RequestCommand { decision: RequestDecision::Accept };
    stage.backend.decide_request(&stage.origin, CommandId::random(), &ada, &request, accept).await.unwrap();
    let page = words(&stage.page(&page_of(&ada)).await);
    assert!(page.contains("linked") && page.contains("Revoke") && page.contains("messages"), "{page}");
    assert!(words(&stage.page("/approvals").await).contains("Nothing waits for you."));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_draws_parents_and_peers_in_the_first_paint_and_says_the_same_in_a_table() {
    let stage = Stage::start().await;
    assert!(words(&stage.page("/map").await).contains("No Pod leads or knows another one yet."));
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    stage.introduce(&ada, "bob", None).await;
    let command = ToolCommand { arguments: json!({ "name": "cat", "task": "say hello", "scope": [] }) };
    let answer = stage.backend.run_tool(&stage.origin, CommandId::random(), &ada, "SpawnPod", command).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    stage.pod("zoe").await;
    let page = stage.page("/map").await;
    let exchange = format!("href=\"{}/with/local/{}\"", page_of(&ada), bob.worker_id);
    let back = format!("href=\"{}/with/local/{}\"", page_of(&bob), ada.worker_id);
    assert!(page.contains(&exchange) || page.contains(&back), "{page}");
    assert!(page.contains("<svg") && page.contains("edge-knows") && page.contains("edge-leads"), "{page}");
    let words = words(&page);
    for said in ["1 Pod with no relation not drawn", "nothing is lent", "no message in the last hour"] {
        assert!(words.contains(said), "{said}: {words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_two_wrote_is_on_a_page_of_its_own_and_a_receipt_stands_on_the_card_of_the_call() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    let path = format!("{}/with/{}/{}", page_of(&ada), bob.runtime_id, bob.worker_id);
    let page = words(&stage.page(&path).await);
    assert!(page.contains("They do not know each other") && page.contains("Neither has written"), "{page}");
    stage.introduce(&ada, "bob", None).await;
    stage.say(&ada, r#"call SendToPeerPod {"name":"bob","message":"say the lease is fine"}"#).await;
    stage.message_reaches(&ada, &bob, ReceiptState::Answered).await;
    let page = words(&stage.page(&path).await);
    for said in ["Linked", "say the lease is fine", "answered at turn 1", "to bob"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let sender = words(&stage.page(&page_of(&ada)).await);
    assert!(sender.contains("answered at turn 1") && !sender.contains("message with"), "{sender}");
    let receiver = words(&stage.page(&page_of(&bob)).await);
    assert!(receiver.contains("say the lease is fine") && receiver.contains("answered at turn 1"), "{receiver}");
    let command = MessageCommand { to: "bob".to_owned(), text: "from a person".to_owned() };
    stage.backend.send_message(&stage.origin, CommandId::random(), &ada, command).await.unwrap();
    let sender = words(&stage.page(&page_of(&ada)).await);
    assert!(sender.contains("message with"), "no card of a call carries it: {sender}");
    let missing = words(&stage.page(&format!("{}/with/local/nobody", page_of(&ada))).await);
    assert!(missing.contains("One of the two is not there"), "{missing}");
}

#[tokio::test]
async fn what_waits_can_be_edited_and_removed_and_a_named_file_stays_in_its_sentence() {
    let stage = Stage::start().await;
    let pod = stage.pod("ada").await;
    let send = async |segments: Vec<Segment>, steer: bool| {
        let command = InputCommand { segments, queue: true, steer };
        stage.backend.input(&stage.origin, CommandId::random(), &pod, command).await.unwrap();
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
    assert!(page.contains("It waits while ada works."));
}
