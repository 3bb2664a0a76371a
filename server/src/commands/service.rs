//! yoi as a systemd user service: one unit file that systemd is told about. Needs no root.
//!
//! If no systemd runs for this account (in a container, or under another init), the file is written all the same, and
//! the remaining steps are printed.

mod unit;

use std::{
    fs,
    io::ErrorKind,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::{
    cli::{InstallOptions, ServiceVerb, UninstallOptions},
    config::{BadConfig, Config, Environment, units_folder},
    data_dir,
    options::CommonOptions,
    output,
};

const UNIT: &str = "yoi.service";

/// What a verb did, and what is left to do.
#[derive(Debug, Default, Serialize)]
struct Report {
    path: String,
    /// What was done, in order.
    done: Vec<String>,
    /// What a person has to do.
    next: Vec<String>,
}

/// Installs, removes or checks the service.
pub(crate) fn service(verb: ServiceVerb, common: &CommonOptions, environment: &Environment) -> Result<()> {
    let path = units_folder()?.join(UNIT);
    match verb {
        ServiceVerb::Install(options) => install(&path, options, common, environment),
        ServiceVerb::Uninstall(options) => uninstall(&path, &options, common),
        ServiceVerb::Status => status(&path, common),
    }
}

fn install(path: &Path, options: InstallOptions, common: &CommonOptions, environment: &Environment) -> Result<()> {
    // A configuration that could not be served is not installed either.
    let config = Config::load(common, &options.serve, environment)?;
    let program = std::env::current_exe().context("the path of this program cannot be found")?;
    let program = program.to_str().context("the path of this program is not valid UTF-8")?;
    let text = unit::unit(program, &unit::words(common, &options.serve).map_err(BadConfig)?);
    if options.dry_run {
        return match common.json {
            true => output::json(&serde_json::json!({ "path": path, "unit": text })),
            false => output::bytes(text.as_bytes()),
        };
    }
    let is_new = read(path)?.as_deref() != Some(text.as_str());
    let mut report = Report { path: path.display().to_string(), ..Report::default() };
    if is_new {
        let folder = path.parent().context("the unit has no folder")?;
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        data_dir::write_private(path, &text)?;
        report.done.push(format!("{} is written", path.display()));
    } else {
        report.done.push(format!("{} is up to date", path.display()));
    }
    start(&mut report, is_new, data_dir::holder(&config.data));
    print(&report, common)
}

/// Tells systemd, if there is one.
fn start(report: &mut Report, is_new: bool, holder: Option<String>) {
    let is_running = systemctl(&["is-active", "--quiet", UNIT]).is_ok();
    if let Err(why) = systemctl(&["daemon-reload"]).and_then(|()| systemctl(&["enable", UNIT])) {
        report.done.push(format!("could not reach systemd ({why})"));
        report.next.push(format!("systemctl --user daemon-reload && systemctl --user enable --now {UNIT}"));
        return;
    }
    report.done.push("starts when you log in".to_owned());
    if let (false, Some(pid)) = (is_running, holder) {
        report.done.push(format!("not started: yoi with pid {pid} is using the data folder"));
        report.next.push(format!("kill {pid} && systemctl --user start {UNIT}"));
    } else if let Err(why) = systemctl(&[if is_new { "restart" } else { "start" }, UNIT]) {
        report.done.push(format!("failed to start ({why})"));
        report.next.push(format!("systemctl --user status {UNIT}"));
    } else {
        report.done.push("running".to_owned());
    }
    report.next.push("loginctl enable-linger   # if it is to run while you are not logged in".to_owned());
}

fn uninstall(path: &Path, options: &UninstallOptions, common: &CommonOptions) -> Result<()> {
    let mut report = Report { path: path.display().to_string(), ..Report::default() };
    if read(path)?.is_none() {
        report.done.push(format!("there was no {}; nothing was done", path.display()));
        return print(&report, common);
    }
    if options.dry_run {
        report.next.push(format!("systemctl --user disable --now {UNIT}"));
        report.next.push(format!("rm {}", path.display()));
        return print(&report, common);
    }
    match systemctl(&["disable", "--now", UNIT]) {
        Ok(()) => report.done.push("stopped, and no longer starts at login".to_owned()),
        Err(why) => report.done.push(format!("could not reach systemd ({why})")),
    }
    fs::remove_file(path).with_context(|| format!("{} cannot be removed", path.display()))?;
    report.done.push(format!("{} is removed; the data folder stays", path.display()));
    // Without a systemd, nothing has to forget the unit.
    let _ = systemctl(&["daemon-reload"]);
    print(&report, common)
}

fn status(path: &Path, common: &CommonOptions) -> Result<()> {
    let text = read(path)?;
    let is_enabled = systemctl(&["is-enabled", "--quiet", UNIT]).is_ok();
    let is_running = systemctl(&["is-active", "--quiet", UNIT]).is_ok();
    let starts = text.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("ExecStart=")));
    if common.json {
        return output::json(&serde_json::json!({
            "path": path, "installed": text.is_some(), "starts": starts, "enabled": is_enabled, "running": is_running,
        }));
    }
    let Some(starts) = starts else {
        return output::line("not installed; run `yoi service install`");
    };
    let rows = [
        ("unit", path.display().to_string()),
        ("starts", starts.to_owned()),
        ("at login", if is_enabled { "yes" } else { "no" }.to_owned()),
        ("runs", if is_running { "yes" } else { "no" }.to_owned()),
    ];
    output::table(&rows.map(|(what, text)| vec![what.to_owned(), text]))
}

fn print(report: &Report, common: &CommonOptions) -> Result<()> {
    if common.json {
        return output::json(report);
    }
    report.done.iter().try_for_each(|line| output::line(line))?;
    if !report.next.is_empty() {
        output::line("To finish, run:")?;
    }
    report.next.iter().try_for_each(|line| output::line(&format!("  {line}")))
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Calls the account's own systemd. The error is one line.
fn systemctl(words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("systemctl");
    command.arg("--user").args(words).stdin(Stdio::null());
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().next().map(str::trim).filter(|line| !line.is_empty());
            Err(line.map_or_else(|| format!("systemctl: {}", output.status), str::to_owned))
        }
        Err(error) => Err(format!("systemctl: {error}")),
    }
}
