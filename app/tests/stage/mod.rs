//! A real host with a backend, and the pages as the server draws them for a reader without scripts.

// Each test file uses some of it.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    sync::{Arc, Once},
};

use app::{App, shell};
use axum::{body::Body, http::Request};
use backend::{Backend, Origin, Session};
use leptos::{
    config::{Env, LeptosOptions},
    prelude::provide_context,
};
use protocol::{CommandId, CreatePod, InputCommand, PodName, PodRef, PodState, Segment, Seq};
use provider::{ProviderConfig, Providers};
use runtime::{Host, HostOptions, Profile};
use tempfile::TempDir;
use tools::{
    Tool, Toolbox,
    bash::{Bash, BashOptions},
};

/// The routes are requested once, as the server does; meanwhile no page may be drawn.
static ROUTES: Once = Once::new();

/// The views of a page are deeply nested.
const STACK_BYTES: usize = 16 * 1024 * 1024;

pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) backend: Backend,
    pub(crate) origin: Origin,
    /// The login of the requesting browser, where it matters.
    pub(crate) session: Option<Session>,
}

impl Stage {
    pub(crate) async fn start() -> Self {
        Self::start_with(Vec::new(), BTreeMap::new()).await
    }

    pub(crate) async fn start_with(providers: Vec<ProviderConfig>, profiles: BTreeMap<String, Profile>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("yoi.db");
        let store = pod_store::Store::open(pod_store::StoreOptions::sqlite(file)).await.unwrap();
        let providers = Providers::new(providers).unwrap();
        let cwd = folder.path().to_str().unwrap().to_owned();
        let bash: Arc<dyn Tool> = Arc::new(Bash::new(BashOptions::of_this_process()));
        let toolbox = Toolbox::new([bash]);
        let options =
            HostOptions { profiles, toolbox, ..HostOptions::of(store, providers, cwd, folder.path().join("outputs")) };
        let backend = Backend::new(Host::start(options).await.unwrap());
        let origin = Origin { by: "operator".to_owned(), client: "console".to_owned() };
        // The routes are requested once; this also starts the executor that draws them.
        ROUTES.call_once(|| drop(leptos_axum::generate_route_list(App)));
        Self { folder, backend, origin, session: None }
    }

    pub(crate) async fn pod(&self, name: &str) -> PodRef {
        self.create(CreatePod::named(PodName::parse(name).unwrap())).await
    }

    pub(crate) async fn create(&self, create: CreatePod) -> PodRef {
        self.backend
            .carry_out(&self.origin, CommandId::random(), protocol::operations::Create { body: create })
            .await
            .unwrap()
            .pod
    }

    /// Sends it, and waits for nothing.
    pub(crate) async fn say(&self, pod: &PodRef, text: &str) {
        let command = InputCommand { segments: vec![Segment::text(text)], queue: true, steer: false };
        self.backend
            .carry_out(
                &self.origin,
                CommandId::random(),
                protocol::operations::Input { pod: pod.clone(), body: command },
            )
            .await
            .unwrap();
    }

    /// Sends it, and waits until the Pod has answered all of it.
    pub(crate) async fn say_through(&self, pod: &PodRef, text: &str) {
        let before = self.head(pod).await;
        self.say(pod, text).await;
        self.rests_after(pod, before).await;
    }

    pub(crate) async fn head(&self, pod: &PodRef) -> Seq {
        self.backend.pod(pod).await.unwrap().summary.head_seq
    }

    /// Idle again, with more than the message itself in its journal.
    pub(crate) async fn rests_after(&self, pod: &PodRef, before: Seq) {
        testkit::until_so(format!("{pod} is idle after its answer"), async || {
            let detail = self.backend.pod(pod).await.unwrap();
            let is_idle = detail.summary.state == PodState::Idle && detail.queued.is_empty();
            is_idle && detail.summary.head_seq.0 > before.0 + 2
        })
        .await;
    }

    /// Drawn on a single thread, as the server does it: on several threads, the framework's tasks race with the
    /// drawing.
    pub(crate) async fn page(&self, path: &str) -> String {
        let (backend, origin, session) = (self.backend.clone(), self.origin.clone(), self.session.clone());
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(draw(backend, origin, session, path))
            });
            thread.unwrap().join().unwrap()
        })
        .await
        .unwrap()
    }
}

async fn draw(backend: Backend, origin: Origin, session: Option<Session>, path: String) -> String {
    let options = LeptosOptions::builder().output_name("yoi").site_pkg_dir("pkg/x").env(Env::PROD).build();
    let context = move || {
        provide_context(backend.clone());
        provide_context(origin.clone());
    };
    let draw = leptos_axum::render_app_async_with_context(context, move || shell(options.clone()));
    let mut request = Request::builder().uri(path);
    if let Some(session) = session {
        request = request.extension(session);
    }
    let answer = draw(request.body(Body::empty()).unwrap()).await;
    let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The address of a Pod's page.
pub(crate) fn page_of(pod: &PodRef) -> String {
    format!("/pods/{}/{}", pod.runtime_id, pod.worker_id)
}

/// Without tags and comments, so that a sentence is found whatever markup is inside it.
pub(crate) fn words(page: &str) -> String {
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
