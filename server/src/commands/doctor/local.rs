//! Checks that need no server: folder, files, variables, kernel, port.

use std::{
    cmp::Ordering,
    fs,
    io::ErrorKind,
    net::TcpListener,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use pod_store::{DamagedRecord, DamagedRecords, Database, Inspection, Probe, StoreError};
use protocol::{WallItem, WallState};
use tools::bash::{Builder, Confine, Confinement, Groups, confinement, walls};

use super::Report;
use crate::{
    config::{Config, Environment, units_folder},
    serve,
};

/// A database that does not answer within this time is of no use to a server either.
const DATABASE_WAIT_MAX: Duration = Duration::from_secs(5);

const MB: u64 = 1024 * 1024;
/// A log is normally truncated long before it is this large.
const LOG_BYTES_NOTED: u64 = 64 * MB;
/// With less space than this, a disk counts as full …
const ROOM_BYTES_MIN: u64 = 32 * MB;
/// … and with less than this, as nearly full.
const ROOM_BYTES_NOTED: u64 = 512 * MB;

/// Whether commands have a sandbox, and which walls stand around them as far as this process can tell.
pub(super) fn commands(report: &mut Report, builder: Builder) {
    match confinement(builder) {
        Confinement::Room { .. } => {
            report.commands_confined = true;
            report.ok("commands", "run in a sandbox with their Pod's scope");
        }
        Confinement::Missing { reason, .. } => {
            report.note("commands", format!("have no sandbox here, so each asks for permission: {reason}"));
        }
    }
    // The groups are those of a server, which this process is none of.
    report.walls =
        walls(Confine::Auto, builder, &Groups::none("cgroups belong to a running server, and none was asked"));
    if rustix::process::geteuid().is_root() {
        report.note("account", serve::host::ROOT_WARNING);
    }
}

/// The walls of the server that was asked, otherwise those of this machine.
pub(super) fn walls_found(report: &mut Report) {
    for WallItem { wall, state, detail } in report.walls.clone() {
        let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
        let text = format!("{} {}{detail}", wall.as_str(), state.as_str());
        match state {
            WallState::On => report.ok("walls", text),
            WallState::Partly | WallState::Off => report.note("walls", text),
        }
    }
}

/// Which variables are used, and which were probably meant to be.
pub(super) fn variables(report: &mut Report, environment: &Environment, of_configuration: &[String]) {
    let used = environment.used();
    if !used.is_empty() {
        report.ok("environment", format!("{} in use", used.join(", ")));
    }
    for (name, meant) in environment.ignored(of_configuration) {
        match meant {
            Some(meant) => report.note("environment", format!("{name} is ignored; did you mean {meant}?")),
            None => report.note("environment", format!("{name} is ignored: unknown variable")),
        }
    }
}

pub(super) fn configuration(report: &mut Report, config: &Config, environment: &Environment) {
    match &config.file {
        Some(path) => report.ok("configuration", format!("{} was read", path.display())),
        None => report.ok("configuration", "no file; using the defaults"),
    }
    for variable in &config.key_variables {
        if environment.text(variable).is_none() {
            report.note("configuration", format!("{variable} should hold a provider's key, but is not set here"));
        }
    }
    for server in &config.mcp {
        if let mcp::Address::Program { is_confined: false, .. } = &server.address {
            let name = &server.name;
            report.note(
                "configuration",
                format!("[mcp.{name}] is not confined: what it runs has all rights of this account"),
            );
        }
    }
    for path in &config.private_files {
        private(report, "configuration", path, 0o077, "chmod 600");
    }
}

/// The limits on the number of Pods.
pub(super) fn limits(report: &mut Report, config: &Config) {
    for (of, max, key) in config.pods.limits().lines() {
        report.ok("limits", format!("{of}: at most {max} Pods that are not stopped ({key} in [pods])"));
    }
}

pub(super) fn data_folder(report: &mut Report, config: &Config) {
    report.data = Some(config.data.display().to_string());
    match fs::metadata(&config.data) {
        Ok(folder) if !folder.is_dir() => {
            report.broken("data", format!("{} is not a folder; give another one with --data", config.data.display()));
        }
        Ok(_) => {
            if private(report, "data", &config.data, 0o077, "chmod 700") {
                report.ok("data", format!("{} is private to you", config.data.display()));
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            report.note("data", format!("{} does not exist yet; the first start creates it", config.data.display()));
        }
        Err(error) => report.broken("data", format!("{} cannot be read: {error}", config.data.display())),
    }
}

pub(super) fn token(report: &mut Report, config: &Config) {
    let path = config.data.join("token");
    if config.token.is_some() {
        report.ok("token", "YOI_TOKEN holds it");
        return;
    }
    match crate::token::read(&config.data) {
        Ok(Some(_)) => {
            if private(report, "token", &path, 0o077, "chmod 600") {
                report.ok("token", format!("{} holds it; only you can read it", path.display()));
            }
        }
        Ok(None) => report.note("token", "none yet; the first start creates one"),
        Err(error) => report.broken("token", format!("{error:#}")),
    }
}

pub(super) async fn database(report: &mut Report, config: &Config) {
    if let Some(sentence) = config.database.missed(&serve::host::remains(config)) {
        return report.broken("database", sentence);
    }
    match &config.database {
        postgres @ Database::Postgres { .. } => match tokio::time::timeout(DATABASE_WAIT_MAX, postgres.probe()).await {
            Ok(Ok(None)) => (),
            Ok(Ok(Some(Probe { version, damaged }))) => {
                report.ok("database", format!("PostgreSQL {version} answers"));
                records(report, &damaged);
            }
            Ok(Err(error)) => report.broken(
                "database",
                format!("PostgreSQL: {error}; check that it runs, and that YOI_DATABASE or --database is its address"),
            ),
            Err(_) => {
                let seconds = DATABASE_WAIT_MAX.as_secs();
                report.broken(
                    "database",
                    format!(
                        "PostgreSQL does not answer within {seconds} s; check that its host can be reached from here"
                    ),
                );
            }
        },
        sqlite @ Database::Sqlite { path } => match fs::metadata(path) {
            Ok(file) => {
                if private(report, "database", path, 0o077, "chmod 600") {
                    report.ok("database", format!("SQLite in {} ({} kB)", path.display(), file.len() / 1024));
                }
                look_into(report, sqlite, path).await;
                room(report, path);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                report.note("database", format!("{} does not exist yet; the first start creates it", path.display()));
            }
            Err(error) => report.broken("database", format!("{} cannot be read: {error}", path.display())),
        },
    }
}

async fn look_into(report: &mut Report, database: &Database, path: &Path) {
    let found = match database.inspect().await {
        Ok(Some(found)) => found,
        Ok(None) => return,
        Err(error @ StoreError::Damaged(_)) => return report.broken("database", error.to_string()),
        Err(error) => {
            return report
                .broken("database", format!("{error}; see docs/operations.md, or put a copy of yours in its place"));
        }
    };
    let Inspection { version, known_version, damage, damaged, log_bytes, unwritable } = found;
    records(report, &damaged);
    match version.cmp(&known_version) {
        Ordering::Equal => report.ok("database", format!("schema version {version}, up to date")),
        Ordering::Less => {
            report.note("database", format!("schema version {version}; the next start upgrades it to {known_version}"))
        }
        Ordering::Greater => report.broken(
            "database",
            format!(
                "schema version {version}, from a newer yoi; this one supports {known_version}: start the newer one"
            ),
        ),
    }
    match damage.is_empty() {
        true => report.ok("database", "checked, no damage"),
        false => report.broken(
            "database",
            format!(
                "is damaged: {}; stop yoi, keep a copy of the folder, and see docs/operations.md",
                damage.join("; ")
            ),
        ),
    }
    match log_bytes {
        0..LOG_BYTES_NOTED => report.ok("database", format!("its log has {} kB", log_bytes / 1024)),
        _ => report.note(
            "database",
            format!("its log has {} MB: something reads it all the time, or it cannot be written", log_bytes / MB),
        ),
    }
    match unwritable {
        None => report.ok("database", "can be written"),
        Some(why) => report.broken("database", format!("{} cannot be written: {why}", path.display())),
    }
}

/// Damaged records, each with its position.
fn records(report: &mut Report, damaged: &DamagedRecords) {
    let DamagedRecords { count, listed } = damaged;
    for DamagedRecord { pod, seq, reason, set_aside_at } in listed {
        let since = set_aside_at.map(|at| format!(", set aside at {at:.0}")).unwrap_or_default();
        report.broken("records", format!("record {seq} of \"{pod}\" is damaged: {reason}{since}"));
    }
    let others = count.saturating_sub(listed.len() as u64);
    if others > 0 {
        report.broken("records", format!("{others} more are damaged"));
    }
    if *count > 0 {
        report.note("records", "readers see a note in their place; see docs/operations.md");
    }
}

/// The free space on the database's disk.
fn room(report: &mut Report, path: &Path) {
    let Ok(disk) = rustix::fs::statvfs(path) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("its disk has {} MB left", free / MB);
    match free {
        ..ROOM_BYTES_MIN => report.broken("database", format!("{text}; make room, or nothing can be written soon")),
        ROOM_BYTES_MIN..ROOM_BYTES_NOTED => report.note("database", text),
        _ => report.ok("database", text),
    }
}

/// A unit written by this program at another path starts a different one, or none.
pub(super) fn service(report: &mut Report) {
    let Ok(path) = units_folder().map(|folder| folder.join("yoi.service")) else { return };
    let Ok(text) = fs::read_to_string(&path) else { return };
    let starts = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap_or_default();
    let program = PathBuf::from(starts.split(" serve").next().unwrap_or_default().trim_matches('"'));
    match program.exists() {
        true => report.ok("service", format!("{} starts {starts}", path.display())),
        false => report.broken(
            "service",
            format!("{} starts {}, which is gone; `yoi service install` mends it", path.display(), program.display()),
        ),
    }
}

/// Whether the port is free; only checked if no server answers there.
pub(super) fn port(report: &mut Report, config: &Config) {
    match TcpListener::bind(config.listen) {
        Ok(_) => report.ok("port", format!("{} is free", config.listen)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => report
            .broken("port", format!("{} is in use by another program; choose another with --listen", config.listen)),
        Err(error) => report.broken("port", format!("{} cannot be listened on: {error}", config.listen)),
    }
}

/// Whether a path is closed to others; reports it if it is not.
fn private(report: &mut Report, about: &'static str, path: &Path, others: u32, mend: &str) -> bool {
    let Ok(there) = fs::metadata(path) else { return true };
    let mode = there.mode() & 0o777;
    if mode & others == 0 {
        return true;
    }
    report.broken(about, format!("other accounts have access to {0} (mode {mode:o}); {mend} {0}", path.display()));
    false
}
