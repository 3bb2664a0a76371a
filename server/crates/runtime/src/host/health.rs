//! The health of the host.

use std::sync::atomic::Ordering;

use super::Inner;
use crate::{Figures, Readiness, ground};

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

    /// Figures for `/metrics`.
    pub fn figures(self) -> Figures {
        let failures = self.inner.store.health().failures();
        Figures {
            longest_step: crate::watchdog::longest_step(),
            reads_failed_total: failures.reads,
            writes_failed_total: failures.writes,
            records_damaged: failures.damaged,
            is_out: self.inner.store.health().is_out(),
            is_lost: self.inner.store.health().is_lost(),
            active_pods: self.inner.actors.tasks.count() as u64,
            records_total: self.inner.records.load(Ordering::Relaxed),
            commands_total: self.inner.commands.load(Ordering::Relaxed),
            viewers: self.inner.viewers.load(Ordering::Relaxed),
        }
    }
}
