//! `cargo xtask simulate`: days of whole servers, each decided by one seed; and the faults that they have to find.

use std::{fs, path::PathBuf, process::Command};

use anyhow::{Context, Result, bail};

use crate::run::{cargo, output_of, passes, target_dir, workspace};

/// Within how many seeds a fault that was put into the code has to be found.
const SEEDS_MAX: u64 = 1_000;

/// What to simulate.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// Passed on: `--seeds`, `--minutes`, `--from`.
    days: Vec<String>,
    is_release: bool,
    /// The name of a mutation, or all of them.
    mutation: Option<Option<String>>,
}

impl Extent {
    /// `None` if it is not understood.
    pub(crate) fn parse(arguments: &[&str]) -> Option<Self> {
        let mut extent = Self::default();
        let mut rest = arguments;
        loop {
            match rest {
                [] => return Some(extent),
                [name @ ("--seeds" | "--minutes" | "--from"), value, more @ ..] => {
                    value.parse::<u64>().ok()?;
                    extent.days.extend([(*name).to_owned(), (*value).to_owned()]);
                    rest = more;
                }
                ["--release", more @ ..] => (extent.is_release, rest) = (true, more),
                ["--mutations", more @ ..] => (extent.mutation, rest) = (Some(None), more),
                ["--mutation", name, more @ ..] => (extent.mutation, rest) = (Some(Some((*name).to_owned())), more),
                _ => return None,
            }
        }
    }
}

/// Plays the days. True if nothing broke, or if each mutation was found.
pub(crate) fn run(extent: &Extent) -> Result<bool> {
    match &extent.mutation {
        None => {
            let mut days = cargo(&["run", "--package", "simulation", "--quiet"]);
            if extent.is_release {
                days.arg("--release");
            }
            passes(days.args(["--", "run"]).args(&extent.days))
        }
        Some(name) => mutations(name.as_deref(), extent),
    }
}

/// Puts each fault into a copy of the sources, and plays days until one breaks.
fn mutations(only: Option<&str>, extent: &Extent) -> Result<bool> {
    let folder = workspace().join("server/crates/simulation/mutations");
    let mut patches: Vec<PathBuf> = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    patches.retain(|path| only.is_none_or(|name| path.file_stem().is_some_and(|stem| stem == name)));
    patches.sort();
    if patches.is_empty() {
        bail!("there is no such mutation in {}", folder.display());
    }
    let copy = copied()?;
    let mut table = Vec::new();
    for patch in patches {
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let apply = |reverse: &[&str]| -> Result<bool> {
            passes(Command::new("git").args(["apply"]).args(reverse).arg(&patch).current_dir(&copy))
        };
        if !apply(&[])? {
            bail!("{name} does not apply any more; write it anew");
        }
        let found = found(&copy, extent);
        // The next one begins with sources that are whole.
        apply(&["-R"])?;
        table.push((name, found?));
    }
    println!();
    for (name, found) in &table {
        println!("    {name:<24} {}", found.as_deref().unwrap_or("NOT FOUND"));
    }
    Ok(table.iter().all(|(_, found)| found.is_some()))
}

/// Builds the copy and plays days. Returns the first seed that breaks and what breaks on it.
fn found(copy: &std::path::Path, extent: &Extent) -> Result<Option<String>> {
    let target = copy.with_file_name("simulation-target");
    let profile: &[&str] = if extent.is_release { &["--release"] } else { &[] };
    let mut build = cargo(&["build", "--package", "simulation"]);
    if !passes(build.args(profile).current_dir(copy).arg("--target-dir").arg(&target))? {
        bail!("the mutated sources do not compile");
    }
    let binary = target.join(if extent.is_release { "release" } else { "debug" }).join("simulation");
    let mut days = Command::new(binary);
    days.arg("run").args(&extent.days);
    if extent.days.is_empty() {
        days.args(["--seeds", &SEEDS_MAX.to_string()]);
    }
    let days = days.output().context("the simulation does not start")?;
    let text = String::from_utf8_lossy(&days.stdout);
    println!("{}", text.lines().next().unwrap_or_default());
    if days.status.success() {
        return Ok(None);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let seed = lines.iter().find_map(|line| line.strip_prefix("seed ")?.split_once(" failed;")).map(|(seed, _)| seed);
    let what = lines.iter().rev().nth(2).copied().unwrap_or("it ended");
    let what: String = what.chars().take(160).collect();
    Ok(Some(format!("seed {}: {what}", seed.unwrap_or("?"))))
}

/// A copy of the sources as they are, in the target folder.
fn copied() -> Result<PathBuf> {
    let copy = target_dir()?.join("simulation-sources");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    let files = output_of(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(workspace()),
    )?;
    for file in files.split('\0').filter(|file| !file.is_empty()) {
        let (from, to) = (workspace().join(file), copy.join(file));
        if !from.is_file() {
            continue;
        }
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        // With its time, so that what has not changed since the last copy is not compiled again.
        let time = fs::metadata(&from)?.modified()?;
        fs::copy(&from, &to)?;
        fs::File::options().append(true).open(&to)?.set_modified(time)?;
    }
    passes(Command::new("git").args(["init", "--quiet"]).current_dir(&copy))?;
    Ok(copy)
}
