//! The work during which the server is killed: Pods that stream, call tools and receive messages, driven by clients
//! that note each receipt.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::yoi::{EventSocket, YoiProcess, pod_path};

/// Chunks at every speed, reasoning, and a command's output.
const ALONE: [(&str, &str); 3] = [
    ("fast", "think it over\nstream 100000 at 3000"),
    ("slow", "say a word\nstream 100000 at 150"),
    ("calls", r#"call Bash {"command":"for i in $(seq 1 5000); do echo out $i; sleep 0.005; done"}"#),
];
/// How many of the newest records a viewer starts with.
const TAIL: u32 = 1_000;
/// Each client pauses this long between two requests, so that the server has more to do than receipts.
const REST: Duration = Duration::from_millis(3);

/// One server as its clients know it, whichever process it is now.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    base_url: String,
    token: String,
    http: reqwest::Client,
}

/// What clients were told before the server was gone.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Accepted inputs, by command id.
    pub(crate) inputs: Vec<String>,
    /// Accepted messages, by id.
    pub(crate) messages: Vec<String>,
    pub(crate) introductions: usize,
    pub(crate) partings: usize,
}

/// The Pods of one round.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) alone: Vec<Value>,
    /// Receives one input after the other.
    pub(crate) busy: Value,
    /// The first writes to the second.
    pub(crate) pen_friends: [Value; 2],
    /// Become peers and stop being peers, repeatedly.
    pub(crate) couple: [Value; 2],
}

impl Cast {
    pub(crate) async fn make(yoi: &YoiProcess, round: u32) -> Self {
        let made = async |name: &str| yoi.new_pod(&format!("{name}-{round}")).await;
        let mut alone = Vec::new();
        for (name, _) in ALONE {
            let pod = made(name).await;
            let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
            yoi.patch(&pod_path(&pod), &rules).await.expect(200);
            alone.push(pod);
        }
        let cast = Self {
            alone,
            busy: made("busy").await,
            pen_friends: [made("writer").await, made("reader").await],
            couple: [made("one").await, made("other").await],
        };
        let [writer, reader] = &cast.pen_friends;
        yoi.post(&format!("{}/peers", pod_path(writer)), &json!({ "target": target(reader) })).await.expect(201);
        cast
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        let pairs = self.pen_friends.iter().chain(&self.couple);
        self.alone.iter().chain([&self.busy]).chain(pairs).cloned().collect()
    }

    /// Starts all of the work and continues until the server is gone.
    pub(crate) async fn act(&self, door: &Door) -> Told {
        for (pod, (_, words)) in self.alone.iter().zip(ALONE) {
            door.ask(Method::POST, &format!("{}/input", pod_path(pod)), input(words)).await;
        }
        let (inputs, messages, (introductions, partings)) =
            tokio::join!(self.inputs(door), self.messages(door), self.introductions(door));
        Told { inputs, messages, introductions, partings }
    }

    async fn inputs(&self, door: &Door) -> Vec<String> {
        let (path, mut accepted) = (format!("{}/input", pod_path(&self.busy)), Vec::new());
        while let Some((status, receipt)) = door.ask(Method::POST, &path, input("say one two three")).await {
            if status == 202 {
                accepted.extend(receipt["command_id"].as_str().map(str::to_owned));
            }
        }
        accepted
    }

    async fn messages(&self, door: &Door) -> Vec<String> {
        let [writer, reader] = &self.pen_friends;
        let (path, mut taken) = (format!("{}/messages", pod_path(writer)), Vec::new());
        let message = json!({ "to": target(reader), "text": "say thank you" });
        while let Some((status, answer)) = door.ask(Method::POST, &path, message.clone()).await {
            if status == 202 {
                taken.extend(answer["message_id"].as_str().map(str::to_owned));
            }
        }
        taken
    }

    async fn introductions(&self, door: &Door) -> (usize, usize) {
        let [one, other] = &self.couple;
        let (path, mut linked, mut parted) = (format!("{}/peers", pod_path(one)), 0, 0);
        loop {
            match door.ask(Method::POST, &path, json!({ "target": target(other) })).await {
                Some((status, _)) => linked += usize::from(status == 201),
                None => return (linked, parted),
            }
            match door.ask(Method::DELETE, &format!("{path}/{}", target(other)), Value::Null).await {
                Some((status, _)) => parted += usize::from(status == 204),
                None => return (linked, parted),
            }
        }
    }
}

impl Door {
    pub(crate) fn of(yoi: &YoiProcess) -> Self {
        let (base_url, token) = (yoi.base_url().to_owned(), yoi.token().to_owned());
        Self { base_url, token, http: reqwest::Client::new() }
    }

    /// A viewer of these Pods that has received its snapshots.
    pub(crate) async fn viewer(&self, pods: &[Value]) -> EventSocket {
        let mut socket = EventSocket::connect(&self.base_url, &self.token).await;
        for (index, pod) in pods.iter().enumerate() {
            let id = index.to_string();
            socket.send(&json!({ "type": "subscribe", "id": id, "pod": pod["pod"], "tail": TAIL })).await;
            socket.wait_for(|frame| frame["type"] == "snapshot" && frame["id"] == id.as_str()).await;
        }
        socket
    }

    /// `None` if the server is gone before it has answered.
    async fn ask(&self, method: Method, path: &str, body: Value) -> Option<(u16, Value)> {
        tokio::time::sleep(REST).await;
        let request = self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.token);
        let request = if body.is_null() { request } else { request.json(&body) };
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let text = response.text().await.ok()?;
        Some((status, serde_json::from_str(&text).unwrap_or_default()))
    }
}

fn input(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }], "queue": true })
}

/// `runtime_id/worker_id`.
fn target(pod: &Value) -> String {
    let part = |name: &str| pod["pod"][name].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", part("runtime_id"), part("worker_id"))
}
