//! The cost of a command: `true` through the whole sandbox, and the tests of a small crate inside and outside.

use std::{
    fmt::Write as _,
    fs,
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
const BUILDS: usize = 31;
/// Modules of a crate such as an agent works on: about 1,000 lines.
const MODULES: usize = 24;
const TEST: &str = "CARGO_TARGET_DIR=target cargo test -q --offline";

pub(crate) fn run(_: &Options, report: &mut Report) {
    house::tokio_runtime().block_on(async {
        let yoi = with_tool_chain(Launch::new(BINARY)).start().await;
        let work = yoi.launch().work_dir();
        // Nothing needs approval, and no proxy is created for it.
        let body = json!({ "name": "bench", "provider": "rehearsal", "network": "none" });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        nothing(&yoi, &pod, report).await;
        tests_of_an_empty_crate(&yoi, &pod, &work, report).await;
        tests_after_an_edit(&yoi, &pod, &work, report).await;
    });
}

/// Sets the folders of cargo and rustup, because the home of the launch is not ours.
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

/// What `cargo init` creates: next to nothing is compiled, and the start of the sandbox matters most.
async fn tests_of_an_empty_crate(yoi: &YoiProcess, pod: &Value, work: &Path, report: &mut Report) {
    bash(yoi, pod, "cargo init -q --vcs none --lib --name empty empty").await;
    let folder = work.join("empty");
    let source = fs::read_to_string(folder.join("src/lib.rs")).expect("cargo made it");
    let edit = |round: usize| write(&folder, "lib", &format!("{source}// {round}\n"));
    let what = "`cargo test` of an empty crate in a room, after an edit";
    measured(yoi, pod, &folder, edit).await.line(what, None, report);
}

/// What an agent does all day: it changes one file of a crate, which is compiled, linked and tested.
async fn tests_after_an_edit(yoi: &YoiProcess, pod: &Value, work: &Path, report: &mut Report) {
    bash(yoi, pod, "cargo init -q --vcs none --lib --name small small").await;
    let folder = work.join("small");
    let names = (0..MODULES).map(|number| format!("part{number}"));
    let list = names.map(|name| {
        write(&folder, &name, &module(0));
        format!("pub mod {name};\n")
    });
    let list = list.collect::<String>();
    write(&folder, "lib", &list);
    let what = "`cargo test` of a small crate in a room, after an edit";
    measured(yoi, pod, &folder, |round| write(&folder, "part0", &module(round))).await.line(what, Some(1.05), report);
}

/// A file of some types, functions and tests; each `round` has a different text.
fn module(round: usize) -> String {
    let mut text = format!("use std::collections::BTreeMap;\n\npub const ROUND: usize = {round};\n");
    for kind in ["Stock", "Order", "Price"] {
        let _ = write!(
            text,
            "\n#[derive(Debug, Clone, Default, PartialEq)]\npub struct {kind} {{\n    items: BTreeMap<String, u64>,\n}}\n\n\
             impl {kind} {{\n    pub fn add(&mut self, name: &str, count: u64) {{\n        \
             *self.items.entry(name.to_owned()).or_default() += count + ROUND as u64;\n    }}\n\n    \
             pub fn sum(&self) -> u64 {{\n        self.items.values().sum()\n    }}\n}}\n\n\
             #[test]\nfn {lower}_sums() {{\n    let mut all = {kind}::default();\n    all.add(\"a\", 1);\n    \
             all.add(\"b\", 2);\n    assert_eq!(all.sum(), 3 + 2 * ROUND as u64, \"{{all:?}}\");\n}}\n",
            lower = kind.to_lowercase(),
        );
    }
    text
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(format!("src/{name}.rs")), text).expect("the crate is ours");
}

/// Milliseconds outside and inside, alternating, each after an edit of its own.
struct Measured {
    outside: f64,
    inside: f64,
}

async fn measured(yoi: &YoiProcess, pod: &Value, folder: &Path, edit: impl Fn(usize)) -> Measured {
    let command = format!("cd {} && {TEST}", folder.display());
    bash(yoi, pod, &command).await;
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for round in 0..BUILDS {
        edit(2 * round + 1);
        let began = Instant::now();
        let status = Command::new("bash").args(["-c", &command]).stdout(Stdio::null()).status();
        assert!(status.is_ok_and(|status| status.success()), "the crate's tests run outside");
        outside.push(ms(began.elapsed()));
        edit(2 * round + 2);
        let began = Instant::now();
        bash(yoi, pod, &command).await;
        inside.push(ms(began.elapsed()));
    }
    Measured { outside: median(&mut outside), inside: median(&mut inside) }
}

impl Measured {
    /// `goal`: how many times as long as outside it may take.
    fn line(&self, what: &str, goal: Option<f64>, report: &mut Report) {
        let Self { outside, inside } = *self;
        let note = format!("median of {BUILDS}, {:.2} times the same outside", inside / outside);
        let line = Line::new("commands", what, Milliseconds, inside).floor(outside).note(note);
        report.add(match goal {
            Some(times) => line.at_most(outside * times),
            None => line,
        });
    }
}

async fn bash(yoi: &YoiProcess, pod: &Value, command: &str) {
    let body = json!({ "arguments": { "command": command } });
    let said = yoi.post(&format!("{}/tools/Bash", pod_path(pod)), &body).await.expect(200);
    assert_eq!(said["is_error"], json!(false), "{said}");
}
