//! A server with many Pods and long transcripts, and what Linux and the server itself tell of it.

use std::{fmt::Write as _, fs, time::Duration};

use futures_util::{StreamExt, stream};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{
    timed_model::{Pace, Plan, TimedModel},
    yoi::{Launch, YoiProcess, pod_path},
};

/// How many requests at once make Pods.
const AT_ONCE: usize = 16;
/// The text of one record of the long transcripts, and how many of them one import has.
const RECORD_BYTES: usize = 4_000;
const RECORDS: usize = 12_500;

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) pods: usize,
    pub(crate) at_work: usize,
    pub(crate) turns: usize,
    /// Imports of 50 MB.
    pub(crate) transcripts: usize,
    pub(crate) viewers: usize,
    pub(crate) deltas: usize,
}

#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) yoi: YoiProcess,
    /// They call the timed model.
    pub(crate) workers: Vec<Value>,
    /// Its journal has all the turns.
    pub(crate) long: Value,
    pub(crate) short: Value,
    /// Ends when this is dropped.
    _model: TimedModel,
}

impl Stage {
    pub(crate) async fn set(binary: &str, size: Size, pause: Duration) -> Self {
        let model = TimedModel::start(Plan { deltas: size.deltas, pace: Pace::Every(pause) }).await;
        let config = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        let settings = format!(
            "[pods]\nmax = 100000\n[providers.timed]\nkind = \"openai-compatible\"\nbase_url = \"{}\"\nmodels = [\"timed\"]\n",
            model.base_url()
        );
        fs::write(config.path(), settings).expect("a new file can be filled");
        let launch = Launch::new(binary);
        let yoi = launch.arg("--config").arg(&config.path().display().to_string()).start().await;
        let make = |prefix: &'static str, count: usize, body: Value| {
            let yoi = &yoi;
            stream::iter(0..count)
                .map(move |number| {
                    let mut new = body.clone();
                    new["name"] = json!(format!("{prefix}-{number}"));
                    async move { yoi.post("/api/v1/pods", &new).await.expect(201) }
                })
                .buffered(AT_ONCE)
                .collect::<Vec<Value>>()
        };
        let workers = make("worker", size.at_work, json!({ "provider": "timed" })).await;
        make("idle", size.pods - size.at_work, json!({ "provider": "rehearsal" })).await;
        let short = import(&yoi, "short", 20, turn).await;
        let long = import(&yoi, "long", size.turns * 2, turn).await;
        let text = "word ".repeat(RECORD_BYTES / 5);
        for number in 0..size.transcripts {
            let said = |record: usize| json!({ "kind": "message_finished", "block": format!("b{record}"), "text": text, "interrupted": false });
            import(&yoi, &format!("transcript-{number}"), RECORDS, said).await;
        }
        for pod in [&short, &long] {
            yoi.post(&format!("{}/restore", pod_path(pod)), &json!({})).await.expect(202);
            yoi.patch(&pod_path(pod), &json!({ "provider": "rehearsal" })).await.expect(200);
        }
        Self { yoi, workers, long, short, _model: model }
    }

    fn pid(&self) -> u32 {
        self.yoi.pid().expect("it runs")
    }

    /// Proportional set size, in megabytes.
    pub(crate) fn pss_mb(&self) -> f64 {
        let rollup = fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid())).expect("Linux tells of memory");
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1e3
    }

    /// Processor time of the server, user and system.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        const TICKS_PER_SECOND: f64 = 100.0;
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("Linux tells of time");
        // The name, in brackets, may contain spaces.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
        let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        ticks.sum::<f64>() / TICKS_PER_SECOND
    }

    /// The database with its log, in megabytes.
    pub(crate) fn database_mb(&self) -> f64 {
        let size = |name: &str| fs::metadata(self.yoi.launch().data_dir().join(name)).map_or(0, |it| it.len());
        (size("yoi.db") + size("yoi.db-wal")) as f64 / 1e6
    }

    /// The sum of the lines of this metric; `None` if this version of yoi has none.
    pub(crate) async fn metric(&self, name: &str) -> Option<f64> {
        let request = self.yoi.request(Method::GET, "/metrics");
        let text = request.send().await.expect("yoi answers").text().await.expect("the answer arrives whole");
        let lines =
            text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
        let values: Vec<f64> = lines.filter_map(|line| line.rsplit(' ').next()?.parse().ok()).collect();
        (!values.is_empty()).then(|| values.iter().sum())
    }
}

fn turn(number: usize) -> Value {
    match number % 2 {
        1 => json!({ "kind": "user_message", "segments": [{ "type": "text", "text": format!("say {number}") }],
            "command_id": format!("c{number}"), "by": "operator" }),
        _ => json!({ "kind": "message_finished", "block": format!("b{number}"), "text": number.to_string(),
            "interrupted": false }),
    }
}

/// A stopped Pod with these events.
async fn import(yoi: &YoiProcess, name: &str, records: usize, event: impl Fn(usize) -> Value) -> Value {
    let mut lines = String::new();
    for number in 1..=records {
        let record = json!({ "seq": number, "at": "2026-11-22T06:00:00Z", "event": event(number) });
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{record}");
    }
    let request = yoi.request(Method::POST, &format!("/api/v1/import?name={name}"));
    let request = request.header("Content-Type", "application/x-ndjson").body(lines);
    let answer = request.send().await.expect("yoi answers");
    let (status, pod) = (answer.status().as_u16(), answer.json::<Value>().await.expect("an answer is JSON"));
    assert_eq!(status, 201, "an import of {records} records: {pod}");
    pod
}
