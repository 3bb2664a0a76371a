//! What relies on this host's lease: all of it ends before the host takes another one.

use std::sync::Mutex;

use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::Ground;

/// What runs under the lease that this host has now.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    era: Mutex<Era>,
}

/// Everything that relies on one lease.
#[derive(Debug, Clone, Default)]
struct Era {
    over: CancellationToken,
    tracker: TaskTracker,
}

impl Lease {
    fn era(&self) -> Era {
        self.era.lock().expect("no holder of the era panics").clone()
    }

    /// The lease is lost: cancels what relied on it. All of it has ended once the returned tracker is empty.
    pub(crate) fn end(&self) -> TaskTracker {
        let Era { over, tracker } = self.era();
        over.cancel();
        tracker
    }

    /// This host has a new lease.
    pub(crate) fn begin(&self) {
        *self.era.lock().expect("no holder of the era panics") = Era::default();
    }
}

impl Ground {
    /// Runs work that relies on this host's lease. It is dropped where it stands if the lease is lost.
    pub(crate) fn under_lease<F>(&self, work: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let era = self.store.hosts().is_shared().then(|| self.lease.era());
        async move {
            match era {
                None => work.await,
                Some(Era { over, tracker }) => {
                    let bounded = async move {
                        // Whether it was cancelled or finished, it has ended.
                        let _ = over.run_until_cancelled(work).await;
                    };
                    tracker.track_future(bounded).await;
                }
            }
        }
    }

    /// Runs work that was begun under this host's lease and cannot be called back; the host takes no new lease before
    /// it ends.
    pub(crate) fn before_next_lease<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let era = self.store.hosts().is_shared().then(|| self.lease.era());
        async move {
            match era {
                None => work.await,
                Some(era) => era.tracker.track_future(work).await,
            }
        }
    }
}
