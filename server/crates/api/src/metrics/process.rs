//! The process itself, under the names that Prometheus' own libraries use. What only Linux tells is left out elsewhere.

use std::{
    fs,
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};

/// In this unit the kernel reports processor time to programs, whatever its own is.
const TICKS_PER_SECOND: f64 = 100.0;

/// The running process.
#[derive(Debug)]
pub(crate) struct Process {
    /// In seconds since 1970.
    started: f64,
}

impl Default for Process {
    fn default() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started: since.as_secs_f64() }
    }
}

impl Process {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "start_time_seconds",
            "When the server started, in seconds since 1970",
            ConstGauge::new(self.started),
        );
        let gauge = |number: u64| ConstGauge::new(i64::try_from(number).unwrap_or(i64::MAX));
        if let Some(bytes) = status_kib("VmRSS:").map(|kib| kib.saturating_mul(1024)) {
            registry.register("resident_memory_bytes", "Memory of the process", gauge(bytes));
        }
        if let Some(seconds) = cpu_seconds() {
            registry.register("cpu_seconds", "Processor time of the process", ConstCounter::new(seconds));
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            registry.register("open_fds", "Files that the process has open", gauge(files.count() as u64));
        }
        if let Some(limit) = open_files_max() {
            registry.register("max_fds", "How many files the process may have open", gauge(limit));
        }
    }
}

fn status_kib(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the process, in brackets, may contain anything. After it, the 12th and 13th are user and system time.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    (ticks.len() == 2).then(|| ticks.iter().sum::<f64>() / TICKS_PER_SECOND)
}

fn open_files_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use prometheus_client::encoding::text;

    use super::*;

    #[test]
    fn the_kernel_tells_what_the_process_uses() {
        let mut registry = Registry::with_prefix("process");
        Process::default().register(&mut registry);
        let mut told = String::new();
        text::encode(&mut told, &registry).unwrap();
        let value = |name: &str| -> f64 {
            let line = told.lines().find_map(|line| line.strip_prefix(&format!("process_{name} ")));
            line.unwrap_or_else(|| panic!("no {name} in {told}")).parse().unwrap()
        };
        assert!(value("resident_memory_bytes") > 100_000.0 && value("open_fds") > 2.0, "{told}");
        assert!(value("max_fds") >= value("open_fds") && value("start_time_seconds") > 1.7e9, "{told}");
        assert!(value("cpu_seconds_total") >= 0.0, "{told}");
    }
}
