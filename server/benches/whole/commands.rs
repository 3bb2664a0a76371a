//! What a command costs: `true` through the whole room, and the tests of a small crate inside and outside.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use serde_json::{Value, json};
use testkit::yoi::{Launch, YoiProcess, pod_path};

use crate::{
    house::{self, BINARY, median, ms, quantile},
    options::Options,
    report::{Line, Report, Unit::Milliseconds},
};

const CALLS: usize = 100;
/// A build is long, and the same each time.
const BUILDS: usize = 5;

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let yoi = with_tool_chain(Launch::new(BINARY)).start().await;
        let work = yoi.launch().work_dir();
        // Nobody is asked, and no proxy is made for it.
        let body = json!({ "name": "bench", "provider": "rehearsal", "network": "none" });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        nothing(&yoi, &pod, report).await;
        tests_of_a_crate(&yoi, &pod, &work, report).await;
    });
}

/// Its home is not ours, where cargo looks for its own.
fn with_tool_chain(launch: Launch) -> Launch {
    let home = std::env::var("HOME").unwrap_or_default();
    let folders = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")];
    folders.into_iter().fold(launch, |launch, (name, folder)| {
        let known = std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"));
        launch.env(name, &known)
    })
}

async fn nothing(yoi: &YoiProcess, pod: &Value, report: &mut Report) {
    let mut floor = Vec::new();
    let mut took = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        assert!(Command::new("sh").args(["-c", "true"]).status().is_ok_and(|status| status.success()));
        floor.push(ms(began.elapsed()));
        let began = Instant::now();
        bash(yoi, pod, "true").await;
        took.push(ms(began.elapsed()));
    }
    let p99 = quantile(&mut took, 0.99);
    report.add(
        Line::new("commands", "`true` through a room, over the API", Milliseconds, median(&mut took))
            .floor(median(&mut floor))
            .at_most(15.0)
            .note(format!("median of {CALLS}, p99 {p99:.2} ms; floor: a bare sh -c true")),
    );
}

async fn tests_of_a_crate(yoi: &YoiProcess, pod: &Value, work: &Path, report: &mut Report) {
    let make = "cargo init -q --vcs none --lib --name small .";
    let test = "touch src/lib.rs && CARGO_TARGET_DIR=target cargo test -q --offline";
    bash(yoi, pod, make).await;
    bash(yoi, pod, test).await;
    let (mut floor, mut took) = (Vec::new(), Vec::new());
    for _ in 0..BUILDS {
        let began = Instant::now();
        let outside = Command::new("bash").args(["-c", test]).current_dir(work).stdout(Stdio::null()).status();
        assert!(outside.is_ok_and(|status| status.success()), "the crate's tests run outside");
        floor.push(ms(began.elapsed()));
        let began = Instant::now();
        bash(yoi, pod, test).await;
        took.push(ms(began.elapsed()));
    }
    let (floor, took) = (median(&mut floor), median(&mut took));
    let ratio = took / floor;
    report.add(
        Line::new("commands", "`cargo test` of a small crate in a room", Milliseconds, took)
            .floor(floor)
            .at_most(floor * 1.05)
            .note(format!("median of {BUILDS}, {ratio:.2} times the same outside")),
    );
}

async fn bash(yoi: &YoiProcess, pod: &Value, command: &str) {
    let body = json!({ "arguments": { "command": command } });
    let said = yoi.post(&format!("{}/tools/Bash", pod_path(pod)), &body).await.expect(200);
    assert_eq!(said["is_error"], json!(false), "{said}");
}
