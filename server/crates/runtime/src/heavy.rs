//! Pure work that may take long: not on the threads that everybody else waits for.

use std::{future::pending, panic::resume_unwind};

/// Work on so many bytes is done at once; a thread would cost more.
const AT_ONCE_BYTES_MAX: usize = 64 * 1024;

/// Does `work` on about so many bytes.
pub async fn work<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= AT_ONCE_BYTES_MAX {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
        // The process ends, and with it whoever waits for this.
        Err(_) => pending().await,
    }
}
