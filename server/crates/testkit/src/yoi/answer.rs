//! Requests with the bearer token, and answers as plain JSON: tests compare what is on the wire, not our own types.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use super::YoiProcess;

/// One answer: the status and the body (a text that is not JSON becomes a JSON string, an empty one `null`).
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    /// The body if the status is this one; otherwise fails and shows the answer.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "answered with {:#}", self.body);
        self.body
    }

    /// The `code` of an error, after the same check.
    #[track_caller]
    pub fn expect_error(self, status: u16) -> String {
        let body = self.expect(status);
        body["code"].as_str().unwrap_or_else(|| panic!("an error without a code: {body:#}")).to_owned()
    }
}

impl YoiProcess {
    /// A request with the token, for modification before it is sent. `path` begins with a slash.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base_url)).bearer_auth(&self.token)
    }

    pub async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        answer(self.request(Method::POST, path).json(body)).await
    }

    /// A command with an id of the caller's choice, so that it can be repeated.
    pub async fn post_with_key(&self, key: &str, path: &str, body: &Value) -> Answer {
        answer(self.request(Method::POST, path).header("Idempotency-Key", key).json(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        answer(self.request(Method::PATCH, path).json(body)).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        answer(self.request(Method::DELETE, path)).await
    }

    /// All records of a Pod, from all pages, oldest first.
    pub async fn journal(&self, pod: &Value) -> Vec<Value> {
        let mut records = Vec::new();
        let mut before = String::new();
        loop {
            let page = self.get(&format!("{}/transcript?limit=1000{before}", pod_path(pod))).await.expect(200);
            let mut items = page["items"].as_array().expect("a list of records").clone();
            items.append(&mut records);
            records = items;
            match page["next"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => return records,
            }
        }
    }

    /// Makes a Pod with the rehearsal model and returns its summary.
    pub async fn new_pod(&self, name: &str) -> Value {
        self.post("/api/v1/pods", &json!({ "name": name, "provider": "rehearsal" })).await.expect(201)
    }

    /// Sends a line of text as input, queued if the Pod is busy, and returns the receipt.
    pub async fn say(&self, pod: &Value, text: &str) -> Value {
        let body = json!({ "segments": [{ "type": "text", "text": text }], "queue": true });
        self.post(&format!("{}/input", pod_path(pod)), &body).await.expect(202)
    }

    /// Sends these lines, and waits for the end of the run.
    pub async fn run(&self, pod: &Value, text: &str) {
        let mut socket = self.events().await;
        socket.subscribe("a", pod, None).await;
        // The journal already contains the earlier runs.
        socket.wait_for(|frame| frame["type"] == "snapshot").await;
        self.say(pod, text).await;
        socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
        socket.close().await;
    }
}

/// The API path of a Pod, from its summary or from a bare reference.
pub fn pod_path(pod: &Value) -> String {
    let reference = if pod["pod"].is_object() { &pod["pod"] } else { pod };
    let part = |name: &str| {
        reference[name].as_str().unwrap_or_else(|| panic!("no {name} in what should be a Pod: {pod:#}")).to_owned()
    };
    format!("/api/v1/runtimes/{}/workers/{}", part("runtime_id"), part("worker_id"))
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = request.timeout(super::WAIT_MAX).send().await.expect("yoi answers");
    let status = response.status().as_u16();
    let text = response.text().await.expect("the answer arrives whole");
    let body = match text.as_str() {
        "" => Value::Null,
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    };
    Answer { status, body }
}

/// reqwest is built without a cryptography provider; the first client of a process installs one.
pub(crate) fn install_tls_provider() {
    // An error means that one is installed already, which is just as good.
    rustls::crypto::ring::default_provider().install_default().ok();
}
