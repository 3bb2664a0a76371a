//! `cargo xtask test`: everything that must hold before a change is merged.

use std::{env, ffi::OsString, path::PathBuf};

use anyhow::{Context, Result, bail};

use crate::{
    build, dependencies,
    programs::{self, Given, Report},
    run::{Step, cargo, passes, readable, step},
    tools,
};

/// The limit of what a first visit loads, compressed and in bytes: the goal is 400 kB including the page itself, and
/// 300 kB is our own limit for these files. If it is exceeded, look for what was added
/// (docs/decisions/0024-like-beside-like.md tells how).
const BUNDLE_BYTES_MAX: u64 = 300_000;
/// What a first visit loads; all other files are fetched when they are needed.
const FIRST_LOAD: [&str; 4] = ["yoi.js", "yoi_bg.wasm", "yoi.css", "parts.js"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Without the release build and without tests that need a browser (their names begin with `browser_`).
    Fast,
}

/// Runs all steps, even after one has failed, so that one run reports everything. Returns false if any failed.
pub(crate) fn run(extent: Extent) -> Result<bool> {
    let mut postgres = None;
    let mut steps = vec![step("tools", || {
        tools::ensure_rust_tools()?;
        postgres = tools::ensure_postgres()?;
        tools::ensure_walls();
        tools::ensure_generators()?;
        if extent == Extent::Whole {
            tools::ensure_browser()?;
        }
        Ok(true)
    })];
    if !steps[0].is_ok {
        return finish(&steps, &Report::default());
    }

    let mut report = Report::default();
    steps.push(step("formatting", || passes(&mut cargo(&["fmt", "--all", "--check"]))));
    steps.push(step("lints, server", || {
        // With everything that is off by default: the tests and the release build compile the rest without it.
        let what = ["--workspace", "--all-targets", "--exclude", "hydrate", "--features", "yoi/otel", "--locked"];
        passes(cargo(&["clippy"]).args(what).args(["--", "-D", "warnings"]))
    }));
    steps.push(step("lints, browser", || {
        let what = ["--package", "hydrate", "--package", "app", "--features", "app/hydrate", "--locked"];
        passes(cargo(&["clippy"]).args(what).args(["--target", "wasm32-unknown-unknown", "--", "-D", "warnings"]))
    }));
    steps.push(step("dependencies", dependencies::check));
    steps.push(step("tests", || tests(extent, postgres, &mut report)));
    if extent == Extent::Whole {
        steps.push(step("release build", release_build));
    }
    finish(&steps, &report)
}

/// All test programs. Two tests of each at a time, because each test may use a browser or a PostgreSQL.
fn tests(extent: Extent, postgres: Option<PathBuf>, report: &mut Report) -> Result<bool> {
    let mut given = Given { arguments: vec!["--test-threads", "2"], ..Given::default() };
    if extent == Extent::Fast {
        given.arguments.extend(["--skip", "browser_"]);
    }
    if let Some(folder) = postgres {
        given.variables.push(("PATH", path_with(folder)?));
    }
    // What does not compile counts as failed.
    report.count.failed = 1;
    *report = programs::run(&["--workspace", "--exclude", "hydrate", "--locked"], &given)?;
    Ok(report.count.failed == 0)
}

fn path_with(folder: PathBuf) -> Result<OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths([folder].into_iter().chain(env::split_paths(&path))).context("the PATH has an odd entry")
}

/// Builds what users run, and checks the size of what a browser loads.
fn release_build() -> Result<bool> {
    let built = build::yoi(&["--release"])?;
    let bytes = std::fs::metadata(&built.binary)?.len();
    println!("    {}: {:.1} MB", built.binary.display(), bytes as f64 / 1e6);

    let Some(site) = built.site else { bail!("the binary has no browser console; is YOI_WEB=skip set?") };
    let mut total = 0;
    for (name, plain, brotli) in build::sizes(&site)? {
        let is_first = FIRST_LOAD.contains(&name.as_str());
        let when = if is_first { "" } else { ", later" };
        println!("    {name}: {:.1} kB, {:.1} kB as brotli{when}", plain as f64 / 1e3, brotli as f64 / 1e3);
        total += if is_first { brotli } else { 0 };
    }
    let (loads, most) = (total as f64 / 1e3, BUNDLE_BYTES_MAX / 1000);
    println!("    a first visit loads {loads:.1} kB; the limit is {most} kB");
    if total > BUNDLE_BYTES_MAX {
        bail!("a first visit loads {total} bytes as brotli, more than {BUNDLE_BYTES_MAX}");
    }
    Ok(true)
}

fn finish(steps: &[Step], report: &Report) -> Result<bool> {
    report.failed.iter().for_each(|failure| failure.print("failed"));
    report.unsteady.iter().for_each(|failure| failure.print("unsteady, passed when it was run again by itself"));
    println!();
    for step in steps {
        println!("    {:<16} {:>12}  {}", step.name, readable(step.took), if step.is_ok { "ok" } else { "FAILED" });
    }
    if let Some(failed) = steps.iter().find(|step| !step.is_ok) {
        println!("\nnot everything holds; the first step that failed: {}", failed.name);
    }
    if !report.unsteady.is_empty() {
        println!("\n{} unsteady, see above: each is a fault to be mended", report.unsteady.len());
    }
    println!("\n{} passed, {} failed", report.count.passed, report.count.failed);
    Ok(steps.iter().all(|step| step.is_ok))
}
