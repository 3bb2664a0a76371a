//! One viewer of a Pod of another server: it takes items from its queue, and begins again if it was too slow.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, stream};
use protocol::{DiagnosticCode, WorkerId};
use runtime::{FeedItem, Observation};
use tokio::{
    sync::{Notify, mpsc},
    time::timeout,
};

use super::{
    Remote,
    line::Attach,
    queue::{self, Queue, Taken},
};

/// The line serves viewers as they come; one that is not served within this time gives up.
const ATTACH_WAIT: Duration = Duration::from_secs(5);

struct Viewer {
    attach: mpsc::Sender<Attach>,
    worker_id: WorkerId,
    tail: u32,
    next: Next,
    /// Signals when this viewer is dropped.
    _left: Left,
}

enum Next {
    Attach(Option<String>),
    Take(Arc<Queue>),
    Close,
    Done,
}

/// Signals when it is dropped with its viewer.
struct Left(Arc<Notify>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Remote {
    /// Begins to observe. Never fails: errors are reported in the stream.
    pub(super) async fn watch(&self, worker_id: WorkerId, after: Option<String>, tail: u32) -> Observation {
        if let Err(error) = self.reachable().await {
            let code = DiagnosticCode::RuntimeUnavailable;
            let closed = FeedItem::Closed { reason: code.as_str().to_owned() };
            return stream::iter([FeedItem::Diagnostic { code, detail: error.detail }, closed]).boxed();
        }
        let left = Left(self.known.left.clone());
        let viewer = Viewer { attach: self.attach.clone(), worker_id, tail, next: Next::Attach(after), _left: left };
        stream::unfold(viewer, |mut viewer| async move {
            let item = viewer.next().await?;
            Some((item, viewer))
        })
        .boxed()
    }
}

impl Viewer {
    async fn next(&mut self) -> Option<FeedItem> {
        loop {
            match &mut self.next {
                Next::Attach(after) => {
                    let after = after.take();
                    self.next = match self.begin(after).await {
                        Some(queue) => Next::Take(queue),
                        None => {
                            self.next = Next::Close;
                            return Some(gone());
                        }
                    };
                }
                Next::Take(queue) => match queue.take().await {
                    Taken::Item(item) => return Some(item),
                    Taken::Lagged => {
                        self.next = Next::Attach(None);
                        return Some(queue::lagged());
                    }
                    Taken::Over => self.next = Next::Done,
                    Taken::Abandoned => {
                        self.next = Next::Close;
                        return Some(gone());
                    }
                },
                Next::Close => {
                    self.next = Next::Done;
                    return Some(FeedItem::Closed { reason: DiagnosticCode::RuntimeUnavailable.as_str().to_owned() });
                }
                Next::Done => return None,
            }
        }
    }

    async fn begin(&self, after: Option<String>) -> Option<Arc<Queue>> {
        let (feeder, queue) = Queue::new();
        let attach = Attach { worker_id: self.worker_id.clone(), after, tail: self.tail, feeder };
        timeout(ATTACH_WAIT, self.attach.send(attach)).await.ok()?.ok()?;
        Some(queue)
    }
}

fn gone() -> FeedItem {
    let detail = "this runtime was taken out, or the server stops".to_owned();
    FeedItem::Diagnostic { code: DiagnosticCode::RuntimeUnavailable, detail }
}
