//! What `/metrics` says, and that the dashboard and the alerts in the documents ask only for what it says.

#![allow(clippy::unwrap_used)]

mod common;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use common::Server;
use pod::ToolOutcome;
use protocol::PermissionDecision;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::until_so;
use tools::{Output, Place, Tool, Toolbox};

const DASHBOARD: &str = include_str!("../../../../docs/grafana.json");
const OPERATIONS: &str = include_str!("../../../../docs/operations.md");

/// Allowed without a rule if it is called `Grep`.
#[derive(Debug)]
struct Quiet(&'static str);

#[async_trait]
impl Tool for Quiet {
    fn name(&self) -> &'static str {
        self.0
    }

    fn description(&self) -> &'static str {
        "Does nothing."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    fn default_permission(&self) -> PermissionDecision {
        pod::default_permission(self.0)
    }

    async fn call(&self, _: &Place, _: Value, _: Output) -> ToolOutcome {
        ToolOutcome::done("nothing was done")
    }
}

async fn server() -> Server {
    let quiet = |name| Arc::new(Quiet(name)) as Arc<dyn Tool>;
    Server::start_with(Toolbox::new([quiet("Grep"), quiet("Bash")])).await
}

async fn metrics(server: &Server) -> String {
    server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap()
}

/// The value of a sample by everything that stands before it.
fn value(metrics: &str, sample: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("{sample} ")));
    line.unwrap_or_else(|| panic!("no {sample} in {metrics}")).parse().unwrap()
}

async fn until_value(server: &Server, sample: &str, wanted: f64) {
    until_so(format!("{sample} is {wanted}"), async || value(&metrics(server).await, sample) == wanted).await;
}

#[tokio::test]
async fn an_operator_reads_what_the_server_does_and_no_name_of_a_pod() {
    let server = server().await;
    let pod = server.pod("nightingale").await;
    let before = metrics(&server).await;
    assert_eq!(value(&before, "yoi_runs_ended_total{outcome=\"completed\"}"), 0.0);
    server.say(&pod, "call Grep {}\nsay all is well").await;
    until_value(&server, "yoi_runs_ended_total{outcome=\"completed\"}", 1.0).await;
    server.say_until(&pod, "call Bash {\"command\":\"id nightingale\"}", "waiting").await;
    until_value(&server, "yoi_runs{state=\"waiting\"}", 1.0).await;

    let told = metrics(&server).await;
    assert_eq!(value(&told, "yoi_tool_calls_total{tool=\"Grep\",outcome=\"ok\"}"), 1.0);
    assert_eq!(value(&told, "yoi_tool_call_duration_seconds_count"), 1.0);
    // One request before each call, and one after the first.
    assert_eq!(value(&told, "yoi_provider_requests_total{provider=\"rehearsal\",outcome=\"ok\"}"), 3.0);
    assert_eq!(value(&told, "yoi_provider_first_piece_seconds_count{provider=\"rehearsal\"}"), 3.0);
    assert!(value(&told, "yoi_provider_tokens_total{provider=\"rehearsal\",direction=\"output\"}") > 0.0);
    assert!(value(&told, "yoi_commit_duration_seconds_count") > 3.0);
    assert!(value(&told, "yoi_commit_records_sum") >= value(&told, "yoi_records_total"));
    assert_eq!(value(&told, "yoi_writer_queue_batches"), 0.0);
    assert_eq!(value(&told, "yoi_writer_queue_oldest_seconds"), 0.0);
    assert!(value(&told, "yoi_runs_waiting_oldest_seconds") > 0.0);
    assert_eq!([value(&told, "yoi_storage_out"), value(&told, "yoi_storage_out_seconds")], [0.0, 0.0]);
    assert!(value(&told, "yoi_data_disk_free_bytes") > 0.0);
    assert_eq!(value(&told, "yoi_viewer_lag_seconds"), 0.0);
    assert!(!told.contains("nightingale"), "{told}");
    server.end().await;
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_ask_only_for_metrics_that_are_there() {
    let server = server().await;
    // Requests are counted when they are answered.
    drop(metrics(&server).await);
    let told = metrics(&server).await;
    let sample = |line: &str| line.split(['{', ' ']).next().unwrap().to_owned();
    let there: BTreeSet<String> = told.lines().filter(|line| !line.starts_with('#')).map(sample).collect();

    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = || panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let drawn: Vec<&str> = targets().map(|target| target["expr"].as_str().unwrap()).collect();
    let (_, alerts) = OPERATIONS.split_once("groups:\n  - name: yoi\n").expect("the alerts stand in the document");
    let (alerts, _) = alerts.split_once("```").unwrap();
    let alerts: Vec<&str> = alerts.lines().filter_map(|line| line.trim_start().strip_prefix("expr: ")).collect();
    assert!(drawn.len() >= panels.len() / 2 && drawn.len() > 10, "{drawn:?}");
    assert!(alerts.len() > 10, "{alerts:?}");
    for expression in drawn.iter().chain(&alerts) {
        let asked = names(expression);
        assert!(!asked.is_empty(), "{expression}");
        for name in asked.iter().filter(|name| *name != "up") {
            assert!(there.contains(name), "{name} in `{expression}` is not exported:\n{told}");
        }
    }
    server.end().await;
}

/// The metrics in an expression.
fn names(expression: &str) -> BTreeSet<String> {
    let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_metric = |word: &&str| word.starts_with("yoi_") || word.starts_with("process_") || *word == "up";
    words.filter(is_metric).map(str::to_owned).collect()
}
