//! Where pages are rendered: one at a time per thread, each on a thread of its own.
//!
//! The framework spawns what a page reads while it is rendered; on the server's own threads those tasks race with the
//! rendering, and about one page in a hundred found a value that was gone. On a single thread there is nothing to race
//! with. A page that waits for a slow provider holds up only its own thread. A client that leaves early does no harm
//! either: its page is rendered to the end and dropped.

use std::{
    future::pending,
    sync::{Arc, Mutex},
};

use anyhow::Context;
use api::problem;
use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use protocol::{ApiError, ErrorCode};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, oneshot},
};

/// How many pages are rendered at the same time; further ones wait.
const AT_ONCE_MAX: usize = 4;

/// Rendering recurses as deep as the component tree, and in a debug build each level is large. The system only
/// allocates memory that is used.
pub(crate) const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The threads that render pages. Each is started when it is first needed.
#[derive(Debug, Clone)]
pub(crate) struct Renderers {
    permits: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Handle>>>,
}

impl Renderers {
    pub(crate) fn new() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_ONCE_MAX)), idle: Arc::default() }
    }

    async fn render(&self, request: Request, next: Next) -> anyhow::Result<Response> {
        let _permit = self.permits.acquire().await.context("the server is stopping")?;
        let known = self.idle.lock().expect("no holder of this list panics").pop();
        let renderer = match known {
            Some(renderer) => renderer,
            None => start_thread()?,
        };
        let (sender, drawn) = oneshot::channel();
        let lent = Lent { renderer: renderer.clone(), idle: self.idle.clone() };
        renderer.spawn(async move {
            let page = draw(request, next).await;
            drop(lent);
            // Nobody may be waiting any more.
            let _ = sender.send(page);
        });
        drawn.await.context("the page could not be drawn")?
    }
}

/// A thread while it is rendering; it is returned even if the rendering is aborted.
struct Lent {
    renderer: Handle,
    idle: Arc<Mutex<Vec<Handle>>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.idle.lock().expect("no holder of this list panics").push(self.renderer.clone());
    }
}

/// Renders a page completely, so that no work is left to do elsewhere.
async fn draw(request: Request, next: Next) -> anyhow::Result<Response> {
    let (parts, body) = next.run(request).await.into_parts();
    // Its size follows from what it reads, which is limited where it is read.
    let bytes = to_bytes(body, usize::MAX).await.context("the page broke off")?;
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

fn start_thread() -> anyhow::Result<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name("page".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || runtime.block_on(pending::<()>()))?;
    Ok(handle)
}

/// Renders pages on their own threads; other requests pass through.
pub(crate) async fn apart(State(renderers): State<Renderers>, request: Request, next: Next) -> Response {
    if request.uri().path().starts_with("/fn/") {
        return next.run(request).await;
    }
    renderers.render(request, next).await.unwrap_or_else(|error| {
        tracing::error!(error = format!("{error:#}"), "a page could not be drawn");
        problem(ApiError::new(ErrorCode::Internal, "this page could not be rendered; reload it"))
    })
}
