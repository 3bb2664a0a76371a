//! The pages over all Pods, search and usage, as the server draws them, with a real host behind them.

#![allow(clippy::unwrap_used)]

use app::{App, shell};
use axum::{body::Body, http::Request};
use backend::{Backend, Origin};
use leptos::{
    config::{Env, LeptosOptions},
    prelude::provide_context,
};
use protocol::{CommandId, CreatePod, InputCommand, PeerCommand, PodName, PodRef, PodState, Segment, Seq, ToolCommand};
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
        ROUTES.call_once(|| drop(leptos_axum::generate_route_list(App)));
        Self { _folder: folder, backend, origin }
    }

    async fn pod(&self, name: &str) -> PodRef {
        let create = CreatePod::named(PodName::parse(name).unwrap());
        self.backend.create(&self.origin, CommandId::random(), create).await.unwrap().pod
    }

    /// Says it, and waits until the Pod has answered.
    async fn say(&self, pod: &PodRef, text: &str) {
        let before = self.head(pod).await;
        let command = InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false };
        self.backend.input(&self.origin, CommandId::random(), pod, command).await.unwrap();
        self.rests_after(pod, before).await;
    }

    async fn head(&self, pod: &PodRef) -> Seq {
        self.backend.pod(pod).await.unwrap().summary.head_seq
    }

    /// Idle again, with more than the message itself in its journal.
    async fn rests_after(&self, pod: &PodRef, before: Seq) {
        loop {
            let summary = self.backend.pod(pod).await.unwrap().summary;
            if summary.state == PodState::Idle && summary.head_seq.0 > before.0 + 2 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

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

/// What is in the page's main part, as it is drawn, without the marks by which the browser finds its way.
fn main_of(page: &str) -> String {
    page.split_once("<main").unwrap().1.split_once("</main>").unwrap().0.replace("<!>", "")
}

/// Without tags and comments, so that a sentence is found whatever is inside it.
fn words(page: &str) -> String {
    let mut words = String::new();
    let mut in_tag = true;
    for letter in main_of(page).chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            letter if !in_tag => words.push(letter),
            _ => (),
        }
    }
    words
}

/// Where the first link of a hit leads.
fn first_hit(page: &str) -> String {
    let link = page.split("<a ").find(|link| link.contains("data-hit")).unwrap();
    link.split_once("href=\"").unwrap().1.split_once('"').unwrap().0.replace("&amp;", "&")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_says_what_is_searched_until_something_is_found() {
    let stage = Stage::start().await;
    stage.pod("ada").await;
    let empty = stage.page("/search").await;
    assert!(words(&empty).contains("reasoning is not searched"), "{empty}");
    assert!(main_of(&empty).contains(r#"method="get""#) && main_of(&empty).contains(r#"name="q""#), "{empty}");
    let nothing = words(&stage.page("/search?q=hovercraft").await);
    assert!(nothing.contains("Nothing was found.") && nothing.contains("reasoning is not searched"), "{nothing}");
    let lost = stage.page("/search?q=hovercraft&pod=nowhere").await;
    assert!(lost.contains("role=\"alert\"") && words(&lost).contains("Look again"), "{lost}");
}

#[tokio::test(flavor = "multi_thread")]
async fn hits_stand_with_their_pod_with_the_words_marked_and_lead_to_their_record() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    stage.say(&ada, "say the <b>lease</b> is fine").await;
    stage.say(&bob, "say leases end").await;
    let page = stage.page("/search?q=lea").await;
    let said = words(&page);
    assert!(said.contains("in 2 Pods.") && said.contains("you wrote") && said.contains("answer"), "{said}");
    assert!(main_of(&page).contains("<mark>lease</mark>") && main_of(&page).contains("<mark>leases</mark>"), "{page}");
    assert!(!main_of(&page).contains("<b>"), "what was said is text: {page}");
    let of_ada = stage.page(&format!("/search?q=lease&pod={ada}")).await;
    let said = words(&of_ada);
    assert!(said.contains("in this Pod.") && said.contains("Look in all Pods") && !said.contains("leases"), "{said}");
    let href = first_hit(&of_ada);
    let (address, name) = href.split_once('#').unwrap();
    let transcript = stage.page(address).await;
    assert!(transcript.contains(&format!("id=\"{name}\"")), "{name}: {transcript}");
    assert!(transcript.contains("class=\"linked-record\""), "{transcript}");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_places_than_a_page_holds_are_on_the_next_one() {
    let stage = Stage::start().await;
    let ada = stage.pod("ada").await;
    for _ in 0..26 {
        stage.say(&ada, "say parsnip").await;
    }
    let page = stage.page("/search?q=parsnip").await;
    assert!(words(&page).contains("The newest 50 places in 1 Pod."), "{}", words(&page));
    let next = page.split_once("href=\"/search?q=parsnip&amp;after=").unwrap().1.split_once('"').unwrap().0;
    let last = words(&stage.page(&format!("/search?q=parsnip&after={next}")).await);
    assert!(last.contains("Older: 2 places in 1 Pod.") && !last.contains("Next places"), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_says_so_until_a_pod_has_used_something() {
    let stage = Stage::start().await;
    stage.pod("ada").await;
    let page = words(&stage.page("/usage").await);
    assert!(page.contains("No Pod has used any tokens yet."), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_drawn_per_day_and_told_per_pod_tree_and_pair() {
    let stage = Stage::start().await;
    let (ada, bob) = (stage.pod("ada").await, stage.pod("bob").await);
    let command = ToolCommand { arguments: json!({ "name": "cat", "task": "say hello", "scope": [] }) };
    let answer = stage.backend.run_tool(&stage.origin, CommandId::random(), &ada, "SpawnPod", command).await.unwrap();
    assert!(!answer.is_error, "{answer:?}");
    stage.say(&ada, "say hello").await;
    let peer = PeerCommand { target: "bob".to_owned(), note: None };
    stage.backend.introduce(&stage.origin, CommandId::random(), &ada, peer).await.unwrap();
    let before = stage.head(&bob).await;
    stage.say(&ada, r#"call SendToPeerPod {"name":"bob","message":"say the lease is fine"}"#).await;
    stage.rests_after(&bob, Seq(before.0 + 2)).await;
    let page = stage.page("/usage").await;
    let said = words(&page);
    for word in ["In total", "Today", "Tokens per day (UTC)", "The days as a table", "with 1 below", "1 run"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let drawn = main_of(&page);
    assert!(drawn.contains("role=\"img\"") && drawn.contains("Tokens of the last 30 days:"), "{drawn}");
    assert!(drawn.contains("class=\"bar-output\"") && drawn.contains("<title>"), "{drawn}");
    let exchange = |a: &PodRef, b: &PodRef| format!("/pods/local/{}/with/local/{}", a.worker_id, b.worker_id);
    assert!(drawn.contains(&exchange(&ada, &bob)) || drawn.contains(&exchange(&bob, &ada)), "{drawn}");
    assert!(drawn.contains(&format!("href=\"/pods/{ada}\"")), "{drawn}");
}
