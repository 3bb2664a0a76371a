//! What one idle task with a queue and a watch takes: the usual way to keep something alive in memory.

use axum::{Router, extract::Path, routing::post};
use tokio::sync::{mpsc, watch};

pub(super) fn router() -> Router {
    Router::new().route("/tasks/{count}", post(start))
}

async fn start(Path(count): Path<usize>) {
    for number in 0..count {
        let (sender, mut queue) = mpsc::channel::<String>(64);
        let (seen, mut moved) = watch::channel(number);
        tokio::spawn(async move {
            // Kept, because it would end without its senders.
            let _ends = (sender, seen);
            tokio::select! {
                message = queue.recv() => drop(message),
                changed = moved.changed() => drop(changed),
            }
        });
    }
}
