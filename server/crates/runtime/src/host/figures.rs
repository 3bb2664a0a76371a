//! What a scrape of the metrics is told about a host.

use std::{
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use pod_store::Census;
use prometheus_client::{
    metrics::{
        counter::ConstCounter,
        family::Family,
        gauge::{ConstGauge, Gauge},
    },
    registry::Registry,
};

use super::Inner;

/// How long a scrape waits for the database. Without an answer, what only the database knows is left out.
const CENSUS_WAIT_MAX: Duration = Duration::from_secs(2);

/// A label and its value, and the number of it.
type Of = [(&'static str, &'static str); 1];

/// Adds everything that this host and the parts below it count to the registry of one scrape. What this costs depends on
/// the Pods at work and their viewers, not on the others.
pub(super) async fn register(host: &Inner, registry: &mut Registry) {
    host.store.register(registry);
    host.actors.equipment.providers.register(registry);
    host.meters.register(registry);
    let gauge = |number: u64| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
    let total = |number: &AtomicU64| ConstCounter::new(number.load(Ordering::Relaxed));
    let viewers = host.viewers.load(Ordering::Relaxed);
    registry.register("active_pods", "Pods that have a task now", gauge(host.actors.tasks.count() as u64));
    registry.register("viewers", "Streams that are open now", gauge(viewers));
    registry.register("records", "Records committed since the start", total(&host.records));
    registry.register("commands", "Commands accepted since the start", total(&host.commands));
    registry.register(
        "runtime_poll_seconds_max",
        "The longest that a task held a shared thread at once, in the last minute",
        ConstGauge::new(crate::watchdog::longest_step().as_secs_f64()),
    );
    let now = Timestamp::now();
    registry.register(
        "viewer_lag_seconds",
        "Age of the oldest committed record that an open stream has not been sent; 0 when each has all",
        age(host.actors.feeds.oldest_unsent(), now),
    );
    processes(host, registry);
    disk(&host.actors.equipment.outputs, registry);
    match tokio::time::timeout(CENSUS_WAIT_MAX, host.store.census()).await {
        Ok(Ok(census)) => at_work(census, now, registry),
        Ok(Err(error)) => tracing::debug!(%error, "a scrape could not count the Pods at work"),
        Err(_) => tracing::debug!("a scrape could not wait for the database"),
    }
}

fn at_work(census: Census, now: Timestamp, registry: &mut Registry) {
    let runs = Family::<Of, Gauge>::default();
    for (state, count) in [("running", census.running), ("waiting", census.waiting)] {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        runs.get_or_create(&[("state", state)]).set(count);
    }
    registry.register(
        "runs",
        "Runs in progress, and runs that wait for a person; over all hosts of the database",
        runs,
    );
    registry.register(
        "runs_waiting_oldest_seconds",
        "How long the longest-waiting run has waited for a person; over all hosts of the database",
        age(census.waiting_since, now),
    );
    let leased = ConstGauge::new(i64::try_from(census.leased).unwrap_or(i64::MAX));
    registry.register("leases", "Pods that this host owns (PostgreSQL; 0 with SQLite, which needs no leases)", leased);
}

fn processes(host: &Inner, registry: &mut Registry) {
    let gauge = |number: usize| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
    let equipment = &host.actors.equipment;
    let agents = gauge(equipment.agents.running());
    registry.register("agent_processes", "Agents of Pods that have a process now or are about to", agents);
    let programs = gauge(equipment.servers.programs());
    registry.register("mcp_processes", "MCP servers that run as programs for Pods now", programs);
    let commands = gauge(equipment.background.count());
    registry.register("background_commands", "Commands of Pods that run in the background now", commands);
}

/// The folder of outputs is in the data folder, and may not be there yet.
fn disk(folder: &Path, registry: &mut Registry) {
    let Some(found) = folder.ancestors().find_map(|folder| rustix::fs::statvfs(folder).ok()) else { return };
    let bytes = |blocks: u64| ConstGauge::new(i64::try_from(blocks.saturating_mul(found.f_frsize)).unwrap_or(i64::MAX));
    registry.register("data_disk_free_bytes", "Room for yoi on the disk of the data folder", bytes(found.f_bavail));
    registry.register("data_disk_bytes", "Size of the disk of the data folder", bytes(found.f_blocks));
}

fn age(since: Option<Timestamp>, now: Timestamp) -> ConstGauge<f64> {
    ConstGauge::new(since.map_or(0.0, |since| since.duration_until(now).as_secs_f64().max(0.0)))
}
