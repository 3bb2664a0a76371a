//! What the writer and the leases do, counted in memory for those who watch over a server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use prometheus_client::{
    metrics::{
        counter::Counter,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
    },
    registry::Registry,
};

/// Upper bounds of the durations of a commit, in seconds.
const COMMIT_SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Upper bounds of how much one commit contains.
const COMMIT_SIZES: [f64; 8] = [1.0, 4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0, 16_384.0];

/// The counters of one store. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Meters {
    commit_seconds: Histogram,
    commit_batches: Histogram,
    commit_records: Histogram,
    waiting: Gauge,
    /// Since when the oldest of the batches that the writer has taken waits.
    oldest: Arc<Mutex<Option<Instant>>>,
    pub(crate) fenced: Counter,
    pub(crate) leases_lost: Counter,
    pub(crate) renewals_failed: Counter,
}

/// One batch that waits for the writer. Dropping it ends the wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) since: Instant,
    waiting: Gauge,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.waiting.dec();
    }
}

impl Default for Meters {
    fn default() -> Self {
        Self {
            commit_seconds: Histogram::new(COMMIT_SECONDS),
            commit_batches: Histogram::new(COMMIT_SIZES),
            commit_records: Histogram::new(COMMIT_SIZES),
            waiting: Gauge::default(),
            oldest: Arc::default(),
            fenced: Counter::default(),
            leases_lost: Counter::default(),
            renewals_failed: Counter::default(),
        }
    }
}

impl Meters {
    /// A batch that was handed in just now.
    pub(crate) fn wait(&self) -> Waiting {
        self.waiting.inc();
        Waiting { since: Instant::now(), waiting: self.waiting.clone() }
    }

    /// Since when the oldest batch waits that the writer has in hand; `None` once it has answered all of them.
    pub(crate) fn set_oldest(&self, since: Option<Instant>) {
        *self.oldest.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    /// A group is durable.
    pub(crate) fn committed(&self, took: Duration, batches: usize, records: usize) {
        self.commit_seconds.observe(took.as_secs_f64());
        self.commit_batches.observe(batches as f64);
        self.commit_records.observe(records as f64);
    }

    fn oldest(&self) -> Duration {
        let since = *self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
        since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Adds them to the registry of one scrape.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let age = ConstGauge::new(self.oldest().as_secs_f64());
        registry.register(
            "commit_duration_seconds",
            "How long a transaction of the journal writer took, from its begin until it was durable",
            self.commit_seconds.clone(),
        );
        registry.register(
            "commit_batches",
            "How many batches (commands, pieces of answers) one transaction wrote together",
            self.commit_batches.clone(),
        );
        registry.register(
            "commit_records",
            "How many journal records one transaction wrote",
            self.commit_records.clone(),
        );
        registry.register(
            "writer_queue_batches",
            "Batches that wait for the journal writer or are being written now",
            self.waiting.clone(),
        );
        registry.register(
            "writer_queue_oldest_seconds",
            "Age of the oldest batch that the journal writer has not answered; 0 when it has answered all",
            age,
        );
        registry.register(
            "lease_fenced",
            "Groups that were refused because another process has taken over this host's Pods",
            self.fenced.clone(),
        );
        registry.register(
            "leases_lost",
            "How often this host lost its lease on its Pods and had to rejoin (PostgreSQL)",
            self.leases_lost.clone(),
        );
        registry.register(
            "lease_renewals_failed",
            "Heartbeats with which this host could not renew its lease (PostgreSQL); after 5 s others take its Pods",
            self.renewals_failed.clone(),
        );
    }
}
