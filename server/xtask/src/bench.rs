//! `cargo xtask bench`: runs every benchmark of the workspace and lists the medians.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::{cargo, metadata, passes, step, target_dir};

/// False when a benchmark failed, or when there is none.
pub(crate) fn run() -> Result<bool> {
    let benches = benches(&metadata()?);
    let results = target_dir()?.join("criterion");
    let began = SystemTime::now();
    let mut is_ok = !benches.is_empty();
    for (package, bench) in benches {
        let done = step("benchmark", || {
            passes(&mut cargo(&["bench", "--locked", "--package", &package, "--bench", &bench, "--", "--noplot"]))
        });
        is_ok &= done.is_ok;
    }

    let mut medians = Vec::new();
    collect_medians(&results, &results, began, &mut medians);
    medians.sort_by(|left, right| left.0.cmp(&right.0));
    println!("\nmedians");
    for (name, nanoseconds) in medians {
        println!("    {name:<60} {:>12}", readable(nanoseconds));
    }
    Ok(is_ok)
}

/// Package and name of each benchmark.
fn benches(metadata: &Value) -> Vec<(String, String)> {
    let mut benches = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            if target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bench"))
                && let (Some(package), Some(bench)) = (package["name"].as_str(), target["name"].as_str())
            {
                benches.push((package.to_owned(), bench.to_owned()));
            }
        }
    }
    benches
}

/// criterion leaves `NAME…/new/estimates.json`; files from before this run are of benchmarks that are gone.
fn collect_medians(root: &Path, folder: &Path, since: SystemTime, medians: &mut Vec<(String, f64)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect_medians(root, &path, since, medians);
        } else if path.ends_with("new/estimates.json")
            && let Ok(median) = median(&path, since)
        {
            let name: PathBuf = path.ancestors().nth(2).unwrap_or(root).strip_prefix(root).unwrap_or(&path).into();
            medians.extend(median.map(|nanoseconds| (name.display().to_string(), nanoseconds)));
        }
    }
}

fn median(estimates: &Path, since: SystemTime) -> Result<Option<f64>> {
    if fs::metadata(estimates)?.modified()? < since {
        return Ok(None);
    }
    let estimates: Value = serde_json::from_slice(&fs::read(estimates)?)?;
    Ok(Some(estimates["median"]["point_estimate"].as_f64().context("an estimate has a median")?))
}

fn readable(nanoseconds: f64) -> String {
    match nanoseconds {
        small if small < 1e3 => format!("{small:.1} ns"),
        middle if middle < 1e6 => format!("{:.2} µs", middle / 1e3),
        large if large < 1e9 => format!("{:.2} ms", large / 1e6),
        seconds => format!("{:.2} s", seconds / 1e9),
    }
}
