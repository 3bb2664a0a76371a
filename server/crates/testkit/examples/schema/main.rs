//! Schemathesis against the API of the built binary; run by `cargo xtask conformance schema`.
//!
//! It makes requests from the OpenAPI document, some that fit it and some that do not, and compares the answers with
//! the document. It runs twice: with the document as it is, where the ids of Pods are made up, and with the ids of two
//! real Pods written into the document's paths, so that requests get past "no such Pod".

mod left_out;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use serde_json::Value;
use testkit::{
    until_so,
    yoi::{Launch, YoiProcess, pod_path},
};

use self::left_out::{CHECKS, OPERATIONS, REFUSALS, WITH_A_POD};

/// Random requests per operation, besides those made from the bounds of the document.
const EXAMPLES: &str = "25";
const SEED: &str = "1";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [binary, program] = arguments.as_slice() else {
        eprintln!("usage: schema YOI SCHEMATHESIS");
        return ExitCode::from(2);
    };
    match run(binary.to_str().unwrap_or_default(), program).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(binary: &str, program: &Path) -> Result<bool> {
    let launch = Launch::new(binary);
    let folder = launch.work_dir().with_file_name("schema");
    fs::create_dir_all(&folder).context("a temporary folder can be written to")?;
    // A Pod without a model gets the rehearsal model, whatever else runs on this machine.
    let config = folder.join("yoi.toml");
    fs::write(&config, "find_models = false\n").context("a temporary folder can be written to")?;
    let yoi = launch.arg("--config").arg(&config.to_string_lossy()).start().await;
    let document = yoi.get("/api/v1/openapi.json").await.expect(200);
    for (operation, why) in OPERATIONS.iter().chain(WITH_A_POD) {
        println!("left out: {operation}: {why}");
    }
    for (operation, check, why) in CHECKS {
        println!("left out: {check} of {operation}: {why}");
    }
    let schemathesis = Schemathesis { program, folder: &folder, yoi: &yoi };
    let with_any_pod = schemathesis.run("any", &document, OPERATIONS)?;
    let (ada, bob) = (talked_to(&yoi, "ada").await, talked_to(&yoi, "bob").await);
    let left_out = [OPERATIONS, WITH_A_POD].concat();
    let with_pods = schemathesis.run("pods", &with_ids(document, &ada, &bob), &left_out)?;
    yoi.get("/healthz").await.expect(200);
    Ok(with_any_pod && with_pods)
}

/// A Pod with a run behind it.
async fn talked_to(yoi: &YoiProcess, name: &str) -> Value {
    let pod = yoi.new_pod(name).await;
    yoi.say(&pod, "think about it\nsay hello\ncall Glob {\"pattern\":\"*\"}").await;
    until_so("there is something to read", async || yoi.get(&pod_path(&pod)).await.expect(200)["state"] == "idle")
        .await;
    pod
}

/// The document with the ids of these Pods in its paths instead of parameters.
fn with_ids(mut document: Value, pod: &Value, peer: &Value) -> Value {
    let ids = [
        ("runtime_id", &pod["pod"]["runtime_id"]),
        ("worker_id", &pod["pod"]["worker_id"]),
        ("peer_runtime_id", &peer["pod"]["runtime_id"]),
        ("peer_worker_id", &peer["pod"]["worker_id"]),
    ];
    let paths = document["paths"].as_object_mut().map(std::mem::take).unwrap_or_default();
    let paths = paths.into_iter().map(|(path, mut operations)| {
        if !path.contains("{worker_id}") {
            return (path, operations);
        }
        for operation in operations.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            if let Some(parameters) = operation["parameters"].as_array_mut() {
                parameters.retain(|parameter| ids.iter().all(|(name, _)| parameter["name"] != *name));
            }
        }
        let path = ids
            .iter()
            .fold(path, |path, (name, id)| path.replace(&format!("{{{name}}}"), id.as_str().unwrap_or_default()));
        (path, operations)
    });
    document["paths"] = paths.collect::<serde_json::Map<_, _>>().into();
    document
}

struct Schemathesis<'a> {
    program: &'a Path,
    folder: &'a Path,
    yoi: &'a YoiProcess,
}

impl Schemathesis<'_> {
    /// Whether all checks hold; what fails is printed with the request that shows it.
    fn run(&self, name: &str, document: &Value, left_out: &[(&str, &str)]) -> Result<bool> {
        let (schema, config) = (self.folder.join(format!("{name}.json")), self.folder.join("schemathesis.toml"));
        fs::write(&schema, document.to_string()).context("a temporary folder can be written to")?;
        fs::write(&config, settings()).context("a temporary folder can be written to")?;
        let mut command = Command::new(self.program);
        command.current_dir(self.folder).arg("--config-file").arg(&config).arg("run").arg(&schema);
        command.args(["--url", self.yoi.base_url(), "--header"]);
        command.arg(format!("Authorization: Bearer {}", self.yoi.token()));
        command.args(["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES, "--seed", SEED]);
        command.args(["--generation-database", "none", "--suppress-health-check", "all", "--warnings", "off"]);
        command.args(["--continue-on-failure", "--no-color"]);
        for (operation, _) in left_out {
            command.args(["--exclude-operation-id", operation]);
        }
        let status = command.status();
        Ok(status.with_context(|| format!("{} could not be started", self.program.display()))?.success())
    }
}

/// The settings that have no option of their own.
fn settings() -> String {
    let refusals = REFUSALS.iter().map(|status| format!(", \"{status}\"")).collect::<String>();
    let mut settings = format!("[checks.positive_data_acceptance]\nexpected-statuses = [\"2xx\", \"3xx\"{refusals}]\n");
    for (operation, check, _) in CHECKS {
        // Writing to a string cannot fail.
        let _ = write!(
            settings,
            "\n[[operations]]\ninclude-operation-id = \"{operation}\"\nchecks.{check}.enabled = false\n"
        );
    }
    settings
}
