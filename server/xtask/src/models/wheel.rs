//! The newest litellm on PyPI: its version, its release date, and its price table. Fetched with uv and pip.
//!
//! The files in a wheel are all dated 1980, and pip does not report when a wheel was uploaded; uv writes it into its
//! lock file.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::run::{output_of, passes, target_dir};

/// This version writes lock files in the format that is read here.
const UV: &str = "uv==0.13.9";
const PRICES: &str = "litellm/model_prices_and_context_window_backup.json";
/// Writes one file of an archive to standard output.
const READ: &str = "import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))";

#[derive(Debug)]
pub(super) struct Wheel {
    pub(super) release: Release,
    pub(super) prices: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) version: String,
    /// As `2026-01-31`.
    pub(super) day: String,
}

/// Fetches it into a folder below the target folder, which is created anew each time.
pub(super) fn newest() -> Result<Wheel> {
    let folder = target_dir()?.join("models");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not empty {}", folder.display()))?;
    }
    let python = python(&folder)?;
    let release = release(&folder, &python)?;
    let mut fetch = pip(&python, "download");
    fetch.args(["--no-deps", "--only-binary", ":all:", "--dest"]).arg(&folder);
    if !passes(fetch.arg(format!("litellm=={}", release.version)))? {
        bail!("litellm {} could not be fetched from PyPI", release.version);
    }
    let found = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let wheel =
        found.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl")).context("pip left no wheel")?;
    let prices = output_of(Command::new(&python).args(["-c", READ]).arg(&wheel).arg(PRICES))?;
    Ok(Wheel { release, prices })
}

/// A Python with its own pip and uv.
fn python(folder: &Path) -> Result<PathBuf> {
    let is_made = passes(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let python = folder.join("venv").join("bin").join("python");
    if !is_made || !passes(pip(&python, "install").arg(UV))? {
        bail!("uv could not be fetched; this needs a python3 with venv, and a way to PyPI");
    }
    Ok(python)
}

fn pip(python: &Path, verb: &str) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-input"]);
    pip
}

fn release(folder: &Path, python: &Path) -> Result<Release> {
    let wanted = folder.join("wanted.txt");
    fs::write(&wanted, "litellm\n").with_context(|| format!("could not write {}", wanted.display()))?;
    let mut uv = Command::new(python);
    uv.current_dir(folder).args(["-m", "uv", "pip", "compile", "--quiet", "--no-deps", "--format", "pylock.toml"]);
    let lock = output_of(uv.arg("--python").arg(python).arg(&wanted))?;
    Release::parse(&lock).context("uv's lock does not say which litellm came out when")
}

impl Release {
    /// Parses the lock file of one package: `version = "1.2.3"`, and for its files `upload-time = 2026-01-31T…`.
    fn parse(lock: &str) -> Option<Self> {
        let (_, package) = lock.split_once("[[packages]]")?;
        let version = package.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))?;
        let (_, files) = package.split_once("wheels = ")?;
        let (_, uploaded) = files.split_once("upload-time = ")?;
        let (day, _) = uploaded.split_once('T')?;
        Some(Self { version: version.to_owned(), day: day.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_says_which_version_came_out_when() {
        let lock = r#"lock-version = "1.0"
created-by = "uv"

[[packages]]
name = "litellm"
version = "1.2.3"
sdist = { url = "https://example.com/litellm-1.2.3.tar.gz", upload-time = 2026-02-01T00:00:18Z, size = 2 }
wheels = [{ url = "https://example.com/litellm-1.2.3-py3-none-any.whl", upload-time = 2026-01-31T23:59:05Z, size = 4 }]
"#;
        let release = Release { version: "1.2.3".to_owned(), day: "2026-01-31".to_owned() };
        assert_eq!(Release::parse(lock), Some(release));
        assert_eq!(Release::parse("lock-version = \"1.0\"\n"), None);
    }
}
