//! Work that computes for long or waits for the disk, moved off the async threads.

use std::{future::pending, panic::resume_unwind};

use tokio::task::JoinError;

/// Work on at most this many bytes is done in place; a thread would cost more.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// Runs `work` on about this many bytes.
pub async fn work<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= AT_ONCE_BYTES_MAX {
        return work();
    }
    match blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The process is ending, and with it whoever waits for this.
        Err(_) => pending().await,
    }
}

/// Runs work that blocks, in a thread for it. In a simulation it is done in place, so that no thread of its own decides
/// when it ends.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    if pod_store::waits_on_the_spot() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await
}
