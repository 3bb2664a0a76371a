//! Lines whose figures are measured inside the process: criterion's results of the store's and the runtime's benches.

use std::{fs, path::Path};

use serde_json::Value;

use crate::report::{Line, Report, Unit::PerSecond};

/// Rows of one measurement of the store's bench, and of its baseline.
const STORE_ROWS: f64 = 100.0 * 20.0 * 50.0;
const BARE_ROWS: f64 = 100.0 * 50.0;
/// Deliveries of one measurement of the runtime's bench.
const FAN_OUT: f64 = 100.0 * 2_000.0;

pub(crate) fn run(folder: &Path, report: &mut Report) {
    let per_second = |name: &str, count: f64| median_ns(&folder.join(name)).map(|ns| count / ns * 1e9);
    if let Some(rows) = per_second("append_100_pods/store_rows/50", STORE_ROWS) {
        report.add(
            Line::new("append", "journal appends over 100 Pods, synchronous=FULL, rows", PerSecond, rows)
                .floor(per_second("append_100_pods/bare_rows/50", BARE_ROWS))
                .at_least(120_000.0)
                .note("batches of 50; floor: bare sqlx, one statement and transaction for each batch"),
        );
    }
    if let Some(records) = per_second("fan_out/100_viewers", FAN_OUT) {
        report.add(
            Line::new("fan_out", "fan-out of 200-byte records, 100 viewers, batched", PerSecond, records)
                .floor(per_second("fan_out/bare_100_viewers", FAN_OUT))
                .at_least(1_000_000.0)
                .note("in the process; floor: a broadcast channel of batches"),
        );
    }
}

fn median_ns(bench: &Path) -> Option<f64> {
    let text = fs::read_to_string(bench.join("new/estimates.json")).ok()?;
    let estimates: Value = serde_json::from_str(&text).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}
