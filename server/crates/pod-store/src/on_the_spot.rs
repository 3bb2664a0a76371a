//! Waiting for other threads without letting go of one's own.
//!
//! SQLite works on threads of its own, so the moment of its answer is nobody's decision. A simulation
//! (`server/crates/simulation`) has to decide every moment. On its thread, whatever another thread does is awaited on the
//! spot: the thread stands still, and with it all other tasks and the simulated clock. Nothing else ever asks for this,
//! and everywhere else it costs one look at a thread's own flag.

use std::{
    cell::Cell,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tokio::task::coop::unconstrained;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread stands still while another thread works for it. For simulations only: meanwhile nothing else
/// runs on it.
pub fn wait_on_the_spot() {
    IS_ON.set(true);
}

/// Whether this thread waits on the spot.
pub fn waits_on_the_spot() -> bool {
    IS_ON.get()
}

/// Work that only threads of the database are needed for.
pub(crate) async fn settled<Work: Future>(work: Work) -> Work::Output {
    let work = pin!(work);
    if waits_on_the_spot() { ended(work) } else { work.await }
}

/// Polls until it has ended.
fn ended<Work: Future>(work: Pin<&mut Work>) -> Work::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // A task that has used up its share would have to let others run.
    let mut work = pin!(unconstrained(work));
    loop {
        match work.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{Batch, PodKey, Store, StoreOptions};

    #[test]
    fn on_the_spot_a_read_is_over_when_it_is_first_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("yoi.db");
        let simulated = thread::spawn(move || {
            wait_on_the_spot();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
            runtime.block_on(async {
                let store =
                    Store::open(StoreOptions::sqlite(path)).now_or_never().expect("opened on the spot").unwrap();
                // More often than there are readers: each is free again at once.
                for _ in 0..9 {
                    let found = store.pods().find_by_key(PodKey(7)).now_or_never().expect("read on the spot");
                    assert!(found.unwrap().is_none());
                }
                store.commit(Batch::default()).await.unwrap();
                store.close().await;
            });
        });
        simulated.join().unwrap();
    }
}
