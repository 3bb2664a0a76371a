//! The health of the host.

use std::sync::atomic::Ordering;

use prometheus_client::registry::Registry;

use super::{Inner, figures};
use crate::{Readiness, ground};

/// The health of the host.
#[derive(Debug, Clone, Copy)]
pub struct Health<'a> {
    pub(super) inner: &'a Inner,
}

impl Health<'_> {
    pub async fn readiness(self) -> Readiness {
        let database = self.inner.look_at_database().await;
        let is_usable = database.reads.is_none() && database.writes.is_none();
        let recovering = self.inner.recovering.borrow().len();
        let failed = self.inner.failed.lock().expect("no holder of this list panics");
        Readiness {
            ready: is_usable && recovering == 0 && !self.inner.stopping.is_cancelled(),
            recovering: recovering.try_into().unwrap_or(u32::MAX),
            failed: failed.iter().map(|(name, reason)| (name.clone(), reason.clone())).collect(),
            database,
        }
    }

    /// What currently keeps this host from writing, if anything does.
    pub fn outage(self) -> Option<String> {
        self.inner.store.health().outage().borrow().as_ref().map(ground::reason)
    }

    /// The number of Pods that have a task now.
    pub fn active_pods(self) -> usize {
        self.inner.actors.tasks.count()
    }

    /// The number of streams that are open now.
    pub fn viewers(self) -> u64 {
        self.inner.viewers.load(Ordering::Relaxed)
    }

    /// Adds everything that this host counts to the registry of one scrape. Waits at most 2 s for the database.
    pub async fn register(self, registry: &mut Registry) {
        figures::register(self.inner, registry).await;
    }
}
