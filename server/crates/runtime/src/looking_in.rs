//! Ways in to what the commands of Pods serve: which calls have one now, and connections through them.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::join_all;
use protocol::WorkerId;
use tokio::net::UnixStream;
use tools::preview::{self, WayIn};

/// The calls that can be reached now, by Pod, oldest first. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct WaysIn(Arc<Mutex<HashMap<WorkerId, Vec<PathBuf>>>>);

/// One call's way in, for as long as the call runs.
#[derive(Debug)]
pub(crate) struct Entered {
    ways: WaysIn,
    worker_id: WorkerId,
    way_in: WayIn,
}

impl WaysIn {
    /// # Errors
    /// The socket cannot be created.
    pub(crate) fn open(&self, worker_id: &WorkerId) -> io::Result<Entered> {
        let way_in = WayIn::open()?;
        self.sockets().entry(worker_id.clone()).or_default().push(way_in.socket());
        Ok(Entered { ways: self.clone(), worker_id: worker_id.clone(), way_in })
    }

    /// Connects to a port of the newest call that serves it. `None` if no call of this Pod does.
    pub(crate) async fn connect(&self, worker_id: &WorkerId, port: u16) -> Option<UnixStream> {
        let sockets = self.sockets().get(worker_id).cloned().unwrap_or_default();
        for socket in sockets.iter().rev() {
            if let Ok(stream) = preview::connect(socket, port).await {
                return Some(stream);
            }
        }
        None
    }

    /// The ports that calls of this Pod listen on, in ascending order.
    pub(crate) async fn listening(&self, worker_id: &WorkerId) -> BTreeSet<u16> {
        let sockets = self.sockets().get(worker_id).cloned().unwrap_or_default();
        let listed = join_all(sockets.iter().map(|socket| preview::listening(socket))).await;
        // A call that has ended listens on no port.
        listed.into_iter().flatten().flatten().collect()
    }

    fn sockets(&self) -> MutexGuard<'_, HashMap<WorkerId, Vec<PathBuf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entered {
    pub(crate) fn socket(&self) -> PathBuf {
        self.way_in.socket()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut sockets = self.ways.sockets();
        if let Some(own) = sockets.get_mut(&self.worker_id) {
            own.retain(|socket| *socket != self.way_in.socket());
            if own.is_empty() {
                sockets.remove(&self.worker_id);
            }
        }
    }
}
