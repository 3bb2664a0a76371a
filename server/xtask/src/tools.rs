//! Makes sure that the tools of a step are installed: uses rustup and Debian's packages, or says what to do.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Result, bail};

use crate::run::{cargo, passes};

const WASM: &str = "wasm32-unknown-unknown";

pub(crate) fn ensure_rust_tools() -> Result<()> {
    for (verb, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !answers(&mut cargo(&[verb, "--version"])) {
            println!("    {component} is missing");
            rustup(&["component", "add", component])?;
        }
    }
    if !has_wasm_target() {
        println!("    the target {WASM} is missing");
        rustup(&["target", "add", WASM])?;
        if !has_wasm_target() {
            bail!("the compiler still has no {WASM}; docs/building.md tells the ways to get it");
        }
    }
    Ok(())
}

pub(crate) fn ensure_browser() -> Result<()> {
    ensure_packages("a headless browser", &["chromium", "chromium-driver"], || {
        is_in_path("chromium") && is_in_path("chromedriver")
    })
}

/// Ensures what the client generators need; `testkit` fetches their pinned versions for its tests.
pub(crate) fn ensure_generators() -> Result<()> {
    let has_venv = || answers(Command::new("python3").args(["-c", "import venv, ensurepip"]));
    ensure_packages("Python with its venv", &["python3", "python3-venv"], has_venv)?;
    ensure_packages("Node with npm", &["nodejs", "npm"], || is_in_path("node") && is_in_path("npm"))
}

/// Ensures the tools for sandboxing Pods' commands and for attacking the sandbox. Without bubblewrap that half is not
/// tested, and the tests say so.
pub(crate) fn ensure_walls() {
    let is_there = || is_in_path("bwrap") && is_in_path("tmux");
    if let Err(error) = ensure_packages("bubblewrap", &["bubblewrap", "tmux"], is_there) {
        println!("    {error:#}");
    }
}

/// Ensures PostgreSQL's programs. Debian does not put them into the PATH, so returns the folder to add.
pub(crate) fn ensure_postgres() -> Result<Option<PathBuf>> {
    let is_there = || is_in_path("initdb") && is_in_path("postgres") || debian_postgres().is_some();
    ensure_packages("PostgreSQL", &["postgresql"], is_there)?;
    Ok(if is_in_path("initdb") { None } else { debian_postgres() })
}

/// Ensures what runs PostgreSQL with a failover: Patroni, etcd, HAProxy, and PgBouncer.
pub(crate) fn ensure_patroni() -> Result<()> {
    ensure_postgres()?;
    let packages = ["patroni", "python3-etcd", "etcd-server", "haproxy", "pgbouncer"];
    let is_there = || ["patroni", "etcd", "haproxy", "pgbouncer"].into_iter().all(is_installed);
    ensure_packages("PostgreSQL with Patroni", &packages, is_there)
}

/// The newest of `/usr/lib/postgresql/VERSION/bin`.
fn debian_postgres() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let found = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").is_file());
    found.max_by_key(|bin| bin.parent().and_then(Path::file_name).and_then(|name| name.to_str()?.parse::<u32>().ok()))
}

fn ensure_packages(what: &str, packages: &[&str], is_there: impl Fn() -> bool) -> Result<()> {
    if is_there() {
        return Ok(());
    }
    let remedy = format!("apt-get update && apt-get install -y {}", packages.join(" "));
    println!("    {what} is missing");
    let Some(apt_get) = apt_get() else {
        bail!(
            "{what} is needed and is not installed. On Debian or Ubuntu, as root: {remedy}\n\
             Elsewhere install what provides the same programs ({}), or leave them out: cargo xtask test --fast",
            packages.join(", ")
        );
    };
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend(packages);
    let is_installed = passes(&mut apt(&apt_get, &["update"]))? && passes(&mut apt(&apt_get, &install))?;
    if !is_installed || !is_there() {
        bail!("{what} could not be installed by itself; try as root: {remedy}");
    }
    Ok(())
}

/// The command that runs apt-get with sufficient rights and without prompting, if there is one.
fn apt_get() -> Option<Vec<&'static str>> {
    if !is_in_path("apt-get") {
        return None;
    }
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    if is_root {
        return Some(vec!["apt-get"]);
    }
    answers(Command::new("sudo").args(["-n", "true"])).then(|| vec!["sudo", "-n", "apt-get"])
}

fn apt(words: &[&str], arguments: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).arg("-q").args(arguments);
    command.env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    command
}

fn rustup(arguments: &[&str]) -> Result<()> {
    let remedy = format!("rustup {}", arguments.join(" "));
    if !is_in_path("rustup") {
        bail!("rustup is not installed, so add by other means what `{remedy}` would; see docs/building.md");
    }
    if !passes(Command::new("rustup").args(arguments).current_dir(crate::run::workspace()))? {
        bail!("`{remedy}` failed; run it by hand to see why");
    }
    Ok(())
}

fn has_wasm_target() -> bool {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut asked = Command::new(rustc);
    asked.args(["--print", "target-libdir", "--target", WASM]).current_dir(crate::run::workspace());
    let Ok(answer) = asked.output() else { return false };
    let folder = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

/// Debian puts servers into a folder that is in root's PATH alone.
fn is_installed(program: &str) -> bool {
    is_in_path(program) || Path::new("/usr/sbin").join(program).is_file()
}

pub(crate) fn is_in_path(program: &str) -> bool {
    let Some(path) = env::var_os("PATH") else { return false };
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
