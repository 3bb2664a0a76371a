//! `cargo xtask bench`: in-process benchmarks, then the whole server against its goals, in one table.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::{cargo, metadata, passes, step, target_dir};

/// The benchmark of the built binary. All others use criterion.
const WHOLE: &str = "whole";

/// What to measure.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Names of benchmarks (`append`, `host`, …) or of topics of the whole server (`start`, `burst`, …); empty means
    /// all.
    only: Vec<String>,
    /// Growth up to 10,000 Pods and 1,000,000 records.
    is_long: bool,
}

impl Extent {
    /// Parses `[--only NAME]… [--long]`; `None` for anything else.
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let mut extent = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--long" => extent.is_long = true,
                "--only" => extent.only.push((*arguments.next()?).to_owned()),
                _ => return None,
            }
        }
        Some(extent)
    }

    fn wants(&self, bench: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == bench)
    }
}

/// Returns false if a benchmark failed or does not exist.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    let benches = benches(&metadata()?);
    if !benches.iter().any(|(_, bench)| bench == WHOLE) {
        bail!("the workspace has no bench called {WHOLE}");
    }
    let target = target_dir()?;
    let results = target.join("criterion");
    let began = SystemTime::now();
    let mut is_ok = true;
    for (package, bench) in benches.iter().filter(|(_, bench)| bench != WHOLE && extent.wants(bench)) {
        let done = step("benchmark", || {
            let mut criterion = cargo(&["bench", "--locked", "--package", package, "--bench", bench, "--"]);
            criterion.args(["--noplot", "--warm-up-time", "0.5", "--measurement-time", "2"]);
            passes(&mut criterion)
        });
        is_ok &= done.is_ok;
    }
    print_medians(&results, began);

    // A name that is not a benchmark is a topic of the whole server; `whole` means all topics.
    let is_bench = |name: &String| benches.iter().any(|(_, bench)| bench == name);
    let topics: Vec<&String> = extent.only.iter().filter(|name| !is_bench(name)).collect();
    if extent.wants(WHOLE) || !topics.is_empty() {
        is_ok &= step("the whole server", || whole(&target, &results, &topics, extent)).is_ok;
    }
    Ok(is_ok)
}

/// Builds the binary as users get it and measures it. Its table ends with criterion's results.
fn whole(target: &Path, results: &Path, topics: &[&String], extent: &Extent) -> Result<bool> {
    let json = target.join("bench.json");
    let mut whole = cargo(&["bench", "--locked", "--package", "yoi", "--bench", WHOLE, "--"]);
    whole.arg("--json").arg(&json);
    for topic in topics {
        whole.args(["--only", topic]);
    }
    if extent.only.is_empty() {
        whole.arg("--criterion").arg(results);
    }
    if extent.is_long {
        whole.arg("--long");
    }
    let is_ok = passes(&mut whole)?;
    if is_ok {
        println!("    the same as JSON: {}", json.display());
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

fn print_medians(results: &Path, since: SystemTime) {
    let mut medians = Vec::new();
    collect_medians(results, results, since, &mut medians);
    if medians.is_empty() {
        return;
    }
    medians.sort_by(|left, right| left.0.cmp(&right.0));
    println!("\nmedians");
    for (name, nanoseconds) in medians {
        println!("    {name:<60} {:>12}", readable(nanoseconds));
    }
}

/// criterion writes `NAME…/new/estimates.json`; files older than this run belong to benchmarks that no longer exist.
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
