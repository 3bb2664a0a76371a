//! This host among others on one database: whose Pod is whose, commands and viewers for Pods of other hosts, and what
//! happens when a host dies.
//!
//! The journal is the only truth. A host that runs a Pod writes it; every other one reads it after its own cursor, and is
//! woken by a notice that carries nothing. A command for a Pod of another host is carried out there, under its own key.
//! A database that one host serves alone knows nothing of all this.

mod call;
mod files;
mod follow;
mod hold;
mod route;
mod serve;
mod takeover;
mod unread;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use protocol::ApiError;
use tokio::sync::oneshot;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use self::{
    call::Call,
    route::{ROUNDS_MAX, Route},
};
use crate::{error, host::Inner};

/// What a host keeps in mind of others.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// What runs under the lease that this host has now.
    era: Mutex<Era>,
    /// Calls that wait for their answer.
    waiting: Mutex<HashMap<i64, oneshot::Sender<String>>>,
    /// Pods of this host that stand still for another one, by the name that it gave.
    held: Mutex<BTreeMap<String, hold::Stage>>,
}

/// Everything that relies on one lease. It ends as a whole, before the host takes another one.
#[derive(Debug, Clone, Default)]
struct Era {
    over: CancellationToken,
    tracker: TaskTracker,
}

impl Hosts {
    fn era(&self) -> Era {
        self.era.lock().expect("no holder of the era panics").clone()
    }
}

impl Inner {
    /// Runs what relies on this host's lease. It is dropped where it stands when the lease is lost.
    pub(crate) fn under_lease<F>(&self, work: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let era = self.store.is_shared().then(|| self.hosts.era());
        async move {
            match era {
                None => work.await,
                Some(Era { over, tracker }) => {
                    let bounded = async move {
                        // Cancelled or done: both are its end.
                        let _ = over.run_until_cancelled(work).await;
                    };
                    tracker.track_future(bounded).await;
                }
            }
        }
    }
}

impl Inner {
    /// Runs what was begun under this host's lease and cannot be called back: the host takes no other one before its end.
    pub(crate) fn before_next_lease<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        let era = self.store.is_shared().then(|| self.hosts.era());
        async move {
            match era {
                None => work.await,
                Some(era) => era.tracker.track_future(work).await,
            }
        }
    }
}

/// Begins to take part. Nothing, for a database that one host serves alone.
pub(crate) async fn start(inner: &Arc<Inner>) -> Result<(), ApiError> {
    if inner.store.is_shared() {
        call::start(inner);
        serve::start(inner);
        follow::start(inner).await.map_err(error::store_failed)?;
        takeover::start(inner);
    }
    Ok(())
}
