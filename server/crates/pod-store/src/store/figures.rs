//! What a scrape of the metrics is told about a store.

use jiff::Timestamp;
use prometheus_client::{
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::ConstGauge,
    },
    registry::Registry,
};

use super::Store;
use crate::{OutageKind, StoreError, columns, statement::Text};

/// How many Pods are at work, as the database has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Pods with a run in progress, of all hosts on the database.
    pub running: u64,
    /// Pods whose run waits for a person, of all hosts on the database.
    pub waiting: u64,
    /// Since when the one of them waits that has waited longest.
    pub waiting_since: Option<Timestamp>,
    /// Pods that this host owns; 0 on a database that is served by one host alone.
    pub leased: u64,
}

impl Store {
    /// Adds what is counted in memory to the registry of one scrape. Reads nothing from the database.
    pub fn register(&self, registry: &mut Registry) {
        let (health, shared) = (self.health(), &self.shared);
        shared.meters.register(registry);
        let failures = health.failures();
        let storage = Family::<Vec<(&str, &str)>, Counter>::default();
        for (what, count) in [("read", failures.reads), ("write", failures.writes)] {
            storage.get_or_create(&vec![("operation", what)]).inc_by(count);
        }
        registry.register("storage_failures", "Reads and writes of the database that failed", storage);
        let outage = health.outage().borrow().clone();
        let is_lost = outage.as_ref().is_some_and(|outage| outage.kind == OutageKind::Lost);
        let lasts = outage.as_ref().map(|outage| outage.since.duration_until(Timestamp::now()).as_secs_f64());
        registry.register("storage_out", "1 while the database cannot be written", flag(outage.is_some()));
        registry.register("storage_lost", "1 while the database is gone: deleted, moved or replaced", flag(is_lost));
        let seconds = ConstGauge::new(lasts.unwrap_or_default().max(0.0));
        registry.register(
            "storage_out_seconds",
            "How long the present outage of the database lasts; 0 for none",
            seconds,
        );
        let outages = ConstCounter::new(health.outages());
        registry.register("storage_outages", "Outages of the database that have begun since the start", outages);
        let damaged = ConstGauge::new(i64::try_from(failures.damaged).unwrap_or(i64::MAX));
        registry.register(
            "records_damaged",
            "Records that are damaged and set aside; `yoi doctor` lists them",
            damaged,
        );
    }

    /// Counts the Pods at work. Idle and stopped Pods cost nothing.
    pub async fn census(&self) -> Result<Census, StoreError> {
        let text = Text {
            sqlite: "select state, count(*), min(updated_at) from pods indexed by pods_open where open = 1 group by state",
            postgres: "select state, count(*), min(updated_at) from pods where open group by state",
        };
        let rows = self.shared.reader.select(text);
        let rows = rows.all("count the Pods at work", |row: (String, i64, Option<i64>)| Ok(row)).await?;
        let mut census = Census::default();
        for (state, count, since) in rows {
            match state.as_str() {
                "running" => census.running = count.unsigned_abs(),
                "waiting" => {
                    census.waiting = count.unsigned_abs();
                    census.waiting_since = since.map(columns::time).transpose()?;
                }
                _ => (),
            }
        }
        if let Some(host) = self.shared.cluster() {
            let owned =
                self.shared.reader.select("select count(*) from pods where owner = $1").bind(host.member().id());
            census.leased = owned.count("count this host's Pods").await?.unsigned_abs();
        }
        Ok(census)
    }
}

fn flag(is_set: bool) -> ConstGauge<i64> {
    ConstGauge::new(i64::from(is_set))
}
