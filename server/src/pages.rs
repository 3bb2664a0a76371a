//! Where pages are rendered: one at a time on a thread of its own.
//!
//! What a page reads while it is drawn is spawned by the framework; on the server's own threads those tasks race with
//! the drawing, and about one page in a hundred met a value that was gone. On one thread there is nothing to race
//! with. A page that waits for a slow provider holds up only its own thread. Whoever leaves before the page is there
//! breaks nothing either: it is drawn to its end and dropped.

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

/// Pages that are drawn at the same time; the next waits.
const AT_ONCE_MAX: usize = 4;

/// Rendering a page goes as deep as its tree of components; in a debug build each level is large. The system gives
/// memory only for what is used.
pub(crate) const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The threads that draw pages. Each is started when it is first needed.
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

/// A thread while it draws; it is given back also when the drawing breaks off.
struct Lent {
    renderer: Handle,
    idle: Arc<Mutex<Vec<Handle>>>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.idle.lock().expect("no holder of this list panics").push(self.renderer.clone());
    }
}

/// Draws a page whole, so that nothing of it is left to do elsewhere.
async fn draw(request: Request, next: Next) -> anyhow::Result<Response> {
    let (parts, body) = next.run(request).await.into_parts();
    // How large it is follows from what it reads, which is bounded where it is read.
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

/// Draws pages apart; what is no page goes on as it came.
pub(crate) async fn apart(State(renderers): State<Renderers>, request: Request, next: Next) -> Response {
    if request.uri().path().starts_with("/fn/") {
        return next.run(request).await;
    }
    renderers.render(request, next).await.unwrap_or_else(|error| {
        tracing::error!(error = format!("{error:#}"), "a page could not be drawn");
        problem(ApiError::new(ErrorCode::Internal, "this page could not be rendered; reload it"))
    })
}
