//! A server with the scripted agent.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::yoi::{EventSocket, Launch, YoiProcess, pod_path, until};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
/// The system's own: a sandbox has no other.
const PYTHON: &str = "/usr/bin/python3";
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/agent.py");

/// A server whose agent is the scripted one, and the folder in which that agent keeps its state.
pub(crate) struct House {
    pub(crate) yoi: YoiProcess,
    pub(crate) state: PathBuf,
}

impl House {
    pub(crate) async fn open() -> Self {
        Self::with("", "").await
    }

    /// Starts the server with more variables in the agent's environment, and more lines in its table.
    pub(crate) async fn with(variables: &str, lines: &str) -> Self {
        let launch = Launch::new(YOI);
        let folder = launch.work_dir().parent().unwrap().to_owned();
        let state = folder.join("state");
        std::fs::create_dir(&state).unwrap();
        let config = folder.join("agents.toml");
        let text = format!(
            "[agents.scripted]\ncommand = [\"{PYTHON}\", \"{AGENT}\"]\nenv = {{ {variables} AGENT_STATE = \"{}\" }}\n{lines}\n",
            state.display()
        );
        std::fs::write(&config, text).unwrap();
        let yoi = launch.arg("--config").arg(config.to_str().unwrap()).start().await;
        Self { yoi, state }
    }

    pub(crate) async fn pod(&self, name: &str) -> Value {
        let asked = json!({ "name": name, "agent": "scripted" });
        self.yoi.post("/api/v1/pods", &asked).await.expect(201)
    }

    /// Sends a message and waits for the end of the run.
    pub(crate) async fn said(&self, pod: &Value, text: &str) -> Vec<Value> {
        let from = self.yoi.journal(pod).await.len();
        self.yoi.say(pod, text).await;
        self.ended(pod, from).await
    }

    /// Returns the events after this many records, once a run has ended in them.
    pub(crate) async fn ended(&self, pod: &Value, from: usize) -> Vec<Value> {
        until("the run has ended", async || {
            let events = self.events(pod).await.split_off(from);
            let is_over = events.iter().any(|event| event["kind"] == "run_finished");
            is_over.then_some(events)
        })
        .await
    }

    pub(crate) async fn events(&self, pod: &Value) -> Vec<Value> {
        self.yoi.journal(pod).await.into_iter().map(|record| record["event"].clone()).collect()
    }

    /// Returns the one open question.
    pub(crate) async fn question(&self, pod: &Value) -> Value {
        let path = format!("{}/approvals", pod_path(pod));
        until("a question is open", async || {
            let page = self.yoi.get(&path).await.expect(200);
            page["items"].as_array().unwrap().first().cloned()
        })
        .await
    }

    pub(crate) async fn answer(&self, pod: &Value, question: &Value, answer: Value) -> testkit::yoi::Answer {
        let path = format!("{}/approvals/{}", pod_path(pod), question["id"].as_str().unwrap());
        self.yoi.post(&path, &answer).await
    }

    pub(crate) async fn detail(&self, pod: &Value) -> Value {
        self.yoi.get(&pod_path(pod)).await.expect(200)
    }

    pub(crate) async fn in_state(&self, pod: &Value, state: &str) -> Value {
        until(format!("the Pod is {state}"), async || {
            let detail = self.detail(pod).await;
            (detail["state"] == state).then_some(detail)
        })
        .await
    }

    /// Returns what the agent wrote down.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.state.join("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn logged(&self, beginning: &str) -> Vec<String> {
        let lines = self.log().into_iter();
        lines.filter_map(|line| line.strip_prefix(beginning).map(str::to_owned)).collect()
    }

    /// Returns the process of the agent that was started last.
    pub(crate) fn pid(&self) -> i32 {
        self.logged("pid ").pop().unwrap().parse().unwrap()
    }

    pub(crate) fn is_running(pid: i32) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with('Z'))
    }
}

pub(crate) fn kill9(pid: i32) {
    let killed = std::process::Command::new("kill").arg("-9").arg(pid.to_string()).status().unwrap();
    assert!(killed.success());
}

pub(crate) fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["kind"] == kind).collect()
}

pub(crate) fn texts(events: &[Value]) -> Vec<&str> {
    of_kind(events, "message_finished").iter().map(|event| event["text"].as_str().unwrap()).collect()
}

pub(crate) async fn watch(yoi: &YoiProcess, pod: &Value) -> EventSocket {
    let mut socket = yoi.events().await;
    socket.subscribe("a", pod, None).await;
    socket.wait_for(|frame| frame["type"] == "snapshot").await;
    socket
}
