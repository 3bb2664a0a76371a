//! CPU-bound work that may take long, moved off the async threads.

use std::{future::pending, panic::resume_unwind};

/// Work on at most this many bytes is done in place; a thread would cost more.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// Runs `work` on about this many bytes.
pub async fn work<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= AT_ONCE_BYTES_MAX {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The process is ending, and with it whoever waits for this.
        Err(_) => pending().await,
    }
}
