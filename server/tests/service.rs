//! `yoi service` and `yoi doctor` with their own home folder and a systemd that only records its calls.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;
use testkit::yoi::{Launch, YoiProcess};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A folder with a `systemctl` that exits with this code and appends its arguments to the file `told`.
fn stand_in(launch: &Launch, code: i32) -> PathBuf {
    let folder = launch.work_dir().join(format!("bin{code}"));
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("systemctl");
    let told = launch.work_dir().join("told");
    let complaint = if code == 0 { "" } else { "echo 'Failed to connect to bus' >&2; " };
    fs::write(&script, format!("#!/bin/sh\necho \"$*\" >> '{}'; {complaint}exit {code}\n", told.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Only the `systemctl` in `bin` can be found.
async fn run(launch: &Launch, bin: &Path, words: &[&str]) -> Output {
    launch.command().env("PATH", bin).args(words).output().await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn unit(launch: &Launch) -> PathBuf {
    launch.work_dir().parent().unwrap().join("config/systemd/user/yoi.service")
}

#[tokio::test]
async fn a_service_is_installed_once_however_often_it_is_asked_for_and_removed_again() {
    let launch = Launch::new(YOI);
    let bin = stand_in(&launch, 0);
    let words = ["service", "install", "--listen", "127.0.0.1:7999", "--data", "my data", "--allow-host", "box"];
    let shown = run(&launch, &bin, &[&words[..], &["--dry-run"]].concat()).await;
    assert!(shown.status.success() && !unit(&launch).exists(), "{shown:?}");

    let done = run(&launch, &bin, &words).await;
    assert!(done.status.success(), "{done:?}");
    let written = fs::read_to_string(unit(&launch)).unwrap();
    assert_eq!(text(&shown.stdout), written);
    let program = fs::canonicalize(YOI).unwrap();
    let starts = format!(
        "ExecStart={} serve --listen 127.0.0.1:7999 --data \"{}/my data\" --allow-host box\n",
        program.display(),
        launch.work_dir().display()
    );
    assert!(written.contains(&starts), "{written}");
    assert!(written.contains("\nDelegate=yes\n"), "{written}");
    let told = fs::read_to_string(launch.work_dir().join("told")).unwrap();
    for line in ["--user daemon-reload", "--user enable yoi.service", "--user restart yoi.service"] {
        assert!(told.lines().any(|told| told == line), "{line} is not among:\n{told}");
    }

    let again = run(&launch, &bin, &words).await;
    assert!(again.status.success() && text(&again.stdout).contains("is up to date"), "{again:?}");
    assert_eq!(fs::read_to_string(unit(&launch)).unwrap(), written);
    let status = run(&launch, &bin, &["service", "status", "--json"]).await;
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!((&status["installed"], &status["running"]), (&true.into(), &true.into()), "{status}");

    let removed = run(&launch, &bin, &["service", "uninstall"]).await;
    assert!(removed.status.success() && !unit(&launch).exists(), "{removed:?}");
    let again = run(&launch, &bin, &["service", "uninstall"]).await;
    assert!(again.status.success() && text(&again.stdout).contains("nothing was done"), "{again:?}");
}

/// Where this machine has systemd's tools, their own verdict on the unit. Elsewhere it is not checked.
#[tokio::test]
async fn systemd_itself_finds_nothing_wrong_with_the_unit() {
    let launch = Launch::new(YOI);
    let words = ["service", "install", "--data", "my \"data\" 100%$HOME", "--allow-host", "box", "--dry-run"];
    let shown = run(&launch, &launch.work_dir(), &words).await;
    assert!(shown.status.success(), "{shown:?}");
    let path = launch.work_dir().join("yoi.service");
    fs::write(&path, &shown.stdout).unwrap();
    let mut verify = tokio::process::Command::new("systemd-analyze");
    verify.args(["verify", "--user", "--man=no"]).arg(&path).env("XDG_RUNTIME_DIR", launch.work_dir());
    match verify.output().await {
        Ok(verified) => {
            let said = text(&verified.stderr);
            assert!(verified.status.success() && !said.contains("yoi.service"), "{said}");
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}"),
    }
}

#[tokio::test]
async fn without_systemd_the_unit_is_written_and_what_is_left_to_do_is_said() {
    let launch = Launch::new(YOI);
    for bin in [stand_in(&launch, 1), launch.work_dir().join("nowhere")] {
        let done = run(&launch, &bin, &["service", "install"]).await;
        let said = text(&done.stdout);
        assert!(done.status.success() && unit(&launch).exists(), "{done:?}");
        assert!(said.contains("could not reach systemd") && said.contains("systemctl --user enable --now"), "{said}");
        fs::remove_file(unit(&launch)).unwrap();
    }
    let bad = run(&launch, &launch.work_dir(), &["service", "install", "--listen", "nowhere"]).await;
    assert!(bad.status.code() == Some(2) && !unit(&launch).exists(), "{bad:?}");
}

/// What the doctor reports with these variables, as JSON, and its exit code.
async fn doctor(launch: &Launch, variables: &[(&str, &str)], words: &[&str]) -> (Option<i32>, Value) {
    let mut command = launch.command();
    command.args(["doctor", "--json"]).args(words).arg("--data").arg(launch.data_dir());
    let output = command.envs(variables.iter().copied()).output().await.unwrap();
    assert!(!text(&output.stderr).contains("panicked"), "{output:?}");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[track_caller]
fn assert_found(report: &Value, about: &str, state: &str, says: &str) {
    let findings = report["findings"].as_array().unwrap();
    let is_it = |finding: &&Value| {
        finding["about"] == about && finding["state"] == state && finding["text"].as_str().unwrap().contains(says)
    };
    assert!(findings.iter().any(|finding| is_it(&finding)), "no {about} that is {state} and says {says}: {report:#}");
}

#[tokio::test]
async fn the_doctor_says_what_works_what_is_ignored_and_what_is_broken() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    let variables = [("YOI_TOKN", "hush-hush"), ("GOOGLE_API_KEY", "hush-hush")];
    let (code, report) = doctor(launch, &variables, &[]).await;
    assert_eq!(code, Some(0), "{report:#}");
    assert_found(&report, "server", "ok", &format!("pid {}", yoi.pid().unwrap()));
    assert_found(&report, "server", "ok", env!("CARGO_PKG_VERSION"));
    assert_eq!(report["walls"], yoi.get("/api/v1/walls").await.expect(200)["items"], "of the server that answers");
    for limit in ["10000 Pods that are not stopped (max in [pods])", "at most 32", "at most 128"] {
        assert_found(&report, "limits", "ok", limit);
    }
    assert_found(&report, "provider", "ok", "rehearsal");
    assert_found(&report, "provider", "note", "OPENAI_API_KEY");
    assert_found(&report, "environment", "note", "did you mean YOI_TOKEN?");
    assert_found(&report, "environment", "note", "did you mean GEMINI_API_KEY?");
    assert_found(&report, "database", "ok", "yoi.db");
    assert_found(&report, "database", "ok", "no damage");
    assert_found(&report, "database", "ok", "up to date");
    assert_found(&report, "database", "ok", "can be written");
    assert_found(&report, "database", "ok", "its log has");
    let whole = report.to_string();
    assert!(!whole.contains("hush-hush") && !whole.contains(yoi.token()), "a secret is shown");

    fs::set_permissions(launch.data_dir().join("token"), fs::Permissions::from_mode(0o644)).unwrap();
    let (code, report) = doctor(launch, &[], &[]).await;
    assert_eq!(code, Some(1), "{report:#}");
    assert_found(&report, "token", "broken", "chmod 600");
    let (code, report) = doctor(launch, &[("YOI_TOKEN", "wrong")], &[]).await;
    assert_eq!(code, Some(1), "{report:#}");
    assert_found(&report, "server", "broken", "refuses the token");
}

#[tokio::test]
async fn the_doctor_looks_into_the_database_and_leaves_it_as_it_is() {
    let mut yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    yoi.kill9().await;
    let launch = yoi.launch().clone();
    let file = launch.data_dir().join("yoi.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("begin immediate").execute(&mut other).await.unwrap();
    let (_, report) = doctor(&launch, &[], &[]).await;
    assert_found(&report, "database", "broken", "another program holds it");
    sqlx::query("rollback").execute(&mut other).await.unwrap();
    sqlx::query("pragma user_version = 4711").execute(&mut other).await.unwrap();
    let (_, report) = doctor(&launch, &[], &[]).await;
    assert_found(&report, "database", "broken", "from a newer yoi");
    sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut other).await.unwrap();
    sqlx::Connection::close(other).await.unwrap();

    let mut bytes = fs::read(&file).unwrap();
    // The second page and everything after it: the beginning of every table.
    bytes[4096..].fill(0xA5);
    fs::write(&file, &bytes).unwrap();
    let (code, report) = doctor(&launch, &[], &[]).await;
    assert_ne!(code, Some(0));
    assert_found(&report, "database", "broken", "");
    assert_eq!(fs::read(&file).unwrap(), bytes, "it is left as it is");

    fs::write(&file, "").unwrap();
    let log = launch.data_dir().join("yoi.db-wal");
    fs::write(&log, vec![1; 200_000]).unwrap();
    let (_, report) = doctor(&launch, &[], &[]).await;
    assert_found(&report, "database", "broken", "is empty, but there was one");
    assert_found(&report, "database", "broken", "yoi.db-wal (196 kB)");
    assert_eq!(fs::metadata(&log).unwrap().len(), 200_000, "it is all that there is");
}

#[tokio::test]
async fn the_doctor_helps_where_there_is_no_server_or_a_bad_configuration() {
    let launch = Launch::new(YOI);
    // The port is taken at one address, so that nobody is given it at the other.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("127.0.0.7:{}", taken.local_addr().unwrap().port());
    let (code, report) = doctor(&launch, &[("YOI_LISTEN", &listen)], &[]).await;
    assert_eq!(code, Some(3), "{report:#}");
    assert_found(&report, "server", "note", "`yoi` starts one");
    assert_found(&report, "port", "ok", "free");
    assert_found(&report, "data", "note", "does not exist yet");

    let config = launch.work_dir().join("config.toml");
    fs::write(&config, "lisen = 1").unwrap();
    let (code, report) = doctor(&launch, &[], &["--config", config.to_str().unwrap()]).await;
    assert_eq!(code, Some(2), "{report:#}");
    assert_found(&report, "configuration", "broken", "`lisen`");
}

#[tokio::test]
async fn a_provider_that_is_configured_and_does_not_answer_is_broken() {
    let yoi = Launch::new(YOI).env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").start().await;
    let (code, report) = doctor(yoi.launch(), &[], &[]).await;
    assert_eq!(code, Some(1), "{report:#}");
    assert_found(&report, "provider", "broken", "openai");
    let (code, _) = doctor(yoi.launch(), &[], &["--no-test"]).await;
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn the_doctor_asks_a_postgresql_and_shows_no_password() {
    let launch = Launch::new(YOI);
    let database = testkit::postgres::fresh_database().await.unwrap();
    let (_, report) = doctor(&launch, &[("YOI_DATABASE", &database)], &["--no-test"]).await;
    assert_found(&report, "database", "ok", "PostgreSQL 1");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("postgres://me:hush-hush@{}/yoi", listener.local_addr().unwrap());
    for (address, says) in [
        ("postgres://me:hush-hush@127.0.0.1:1/yoi", "check that it runs"),
        (silent.as_str(), "does not answer within"),
        ("postgres://me:hush-hush@127.0.0.1:not-a-port/yoi", "cannot read the address"),
    ] {
        let (code, report) = doctor(&launch, &[("YOI_DATABASE", address)], &["--no-test"]).await;
        assert_ne!(code, Some(0), "{report:#}");
        assert_found(&report, "database", "broken", says);
        assert!(!report.to_string().contains("hush-hush"), "{report:#}");
    }
}
