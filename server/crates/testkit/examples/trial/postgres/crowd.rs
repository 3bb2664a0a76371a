//! Clients that go from server to server until they have an answer, always with the same key, and viewers that continue
//! from their cursors at the next server.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::yoi::{EventSocket, YoiProcess, pod_path};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

const ANSWER_MAX: Duration = Duration::from_secs(20);
const TRY_AGAIN: Duration = Duration::from_millis(100);
const REST: Duration = Duration::from_millis(3);
/// Streams are begun again this often, in case they were interrupted.
const STREAM_AGAIN: Duration = Duration::from_millis(500);
const STREAM: &str = "stream 100000 at 300";
/// How long a viewer may take to reach the end of what there is.
const CATCH_UP_MAX: Duration = Duration::from_secs(30);

/// The servers as their clients know them, whichever processes they are now.
#[derive(Debug, Clone)]
pub(crate) struct Doors {
    /// Address and token.
    all: Vec<(String, String)>,
    http: reqwest::Client,
}

impl Doors {
    pub(crate) fn of(servers: &[YoiProcess]) -> Self {
        let all = servers.iter().map(|yoi| (yoi.base_url().to_owned(), yoi.token().to_owned())).collect();
        Self { all, http: reqwest::Client::new() }
    }

    /// Sends a command to one server after the other until it is accepted or refused for good. `None` when it is time to
    /// stop: nobody knows what became of it.
    pub(crate) async fn command(
        &self,
        first: usize,
        stop: &watch::Receiver<bool>,
        (method, path, body): (Method, &str, &Value),
    ) -> Option<(u16, Value)> {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let key = format!("trial-{}-{}", std::process::id(), KEYS.fetch_add(1, Ordering::Relaxed));
        let mut at = first;
        loop {
            sleep(REST).await;
            let (base_url, token) = &self.all[at % self.all.len()];
            let request = self.http.request(method.clone(), format!("{base_url}{path}")).bearer_auth(token);
            let request = request.header("Idempotency-Key", &key).timeout(ANSWER_MAX);
            let request = if body.is_null() { request } else { request.json(body) };
            if let Ok(answer) = request.send().await {
                let status = answer.status().as_u16();
                let text = answer.text().await;
                if status < 500
                    && status != 429
                    && let Ok(text) = text
                {
                    return Some((status, serde_json::from_str(&text).unwrap_or_default()));
                }
            }
            if *stop.borrow() {
                return None;
            }
            at += 1;
            sleep(TRY_AGAIN).await;
        }
    }

    async fn viewer(&self, at: usize) -> Option<EventSocket> {
        let (base_url, token) = self.all[at % self.all.len()].clone();
        let is_there = self.http.get(format!("{base_url}/healthz")).timeout(ANSWER_MAX).send().await;
        is_there.ok().filter(|answer| answer.status().is_success())?;
        // In a task of its own, because a server that dies in between makes it panic.
        tokio::spawn(async move { EventSocket::connect(&base_url, &token).await }).await.ok()
    }
}

/// The answers that clients got.
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
    pub(crate) streaming: [Value; 2],
    pub(crate) busy: Value,
    /// The first writes to the second.
    pub(crate) pen_friends: [Value; 2],
    pub(crate) couple: [Value; 2],
}

impl Cast {
    /// Pods of one round, which the servers in turn create and therefore run.
    pub(crate) async fn make(doors: &Doors, round: u32) -> Self {
        let (_keep, never) = watch::channel(false);
        let made = async |at: usize, name: &str| {
            let new = json!({ "name": format!("{name}-{round}"), "provider": "rehearsal" });
            match doors.command(at, &never, (Method::POST, "/api/v1/pods", &new)).await {
                Some((201, pod)) => pod,
                other => panic!("a Pod could not be made: {other:?}"),
            }
        };
        let cast = Self {
            streaming: [made(0, "fast").await, made(1, "slow").await],
            busy: made(1, "busy").await,
            pen_friends: [made(2, "writer").await, made(0, "reader").await],
            couple: [made(1, "one").await, made(2, "other").await],
        };
        let [writer, reader] = &cast.pen_friends;
        let pair = json!({ "target": target(reader) });
        let paired = doors.command(0, &never, (Method::POST, &format!("{}/peers", pod_path(writer)), &pair)).await;
        assert!(matches!(paired, Some((201, _))), "pen friends could not become peers: {paired:?}");
        cast
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        let rest = [&self.busy, &self.pen_friends[0], &self.pen_friends[1], &self.couple[0], &self.couple[1]];
        self.streaming.iter().chain(rest).cloned().collect()
    }

    /// All of the work, until it is time to stop.
    pub(crate) async fn act(&self, doors: &Doors, stop: &watch::Receiver<bool>) -> Told {
        let (_, _, inputs, messages, (introductions, partings)) = tokio::join!(
            self.stream(0, doors, stop),
            self.stream(1, doors, stop),
            self.inputs(doors, stop),
            self.messages(doors, stop),
            self.introductions(doors, stop)
        );
        Told { inputs, messages, introductions, partings }
    }

    async fn stream(&self, which: usize, doors: &Doors, stop: &watch::Receiver<bool>) {
        let path = format!("{}/input", pod_path(&self.streaming[which]));
        let words = json!({ "segments": [{ "type": "text", "text": STREAM }] });
        while !*stop.borrow() {
            // Refused while it streams.
            doors.command(which, stop, (Method::POST, &path, &words)).await;
            sleep(STREAM_AGAIN).await;
        }
    }

    async fn inputs(&self, doors: &Doors, stop: &watch::Receiver<bool>) -> Vec<String> {
        let (path, mut accepted) = (format!("{}/input", pod_path(&self.busy)), Vec::new());
        let words = json!({ "segments": [{ "type": "text", "text": "say one two three" }], "queue": true });
        for first in 0.. {
            if *stop.borrow() {
                break;
            }
            if let Some((202, receipt)) = doors.command(first, stop, (Method::POST, &path, &words)).await {
                accepted.extend(receipt["command_id"].as_str().map(str::to_owned));
            }
        }
        accepted
    }

    async fn messages(&self, doors: &Doors, stop: &watch::Receiver<bool>) -> Vec<String> {
        let [writer, reader] = &self.pen_friends;
        let (path, mut taken) = (format!("{}/messages", pod_path(writer)), Vec::new());
        let message = json!({ "to": target(reader), "text": "say thank you" });
        for first in 0.. {
            if *stop.borrow() {
                break;
            }
            if let Some((202, answer)) = doors.command(first, stop, (Method::POST, &path, &message)).await {
                taken.extend(answer["message_id"].as_str().map(str::to_owned));
            }
        }
        taken
    }

    async fn introductions(&self, doors: &Doors, stop: &watch::Receiver<bool>) -> (usize, usize) {
        let [one, other] = &self.couple;
        let (path, mut linked, mut parted) = (format!("{}/peers", pod_path(one)), 0, 0);
        let (pair, peer) = (json!({ "target": target(other) }), format!("{path}/{}", target(other)));
        for first in 0.. {
            if *stop.borrow() {
                break;
            }
            let met = matches!(doors.command(first, stop, (Method::POST, &path, &pair)).await, Some((201, _)));
            linked += usize::from(met);
            let left = doors.command(first, stop, (Method::DELETE, &peer, &Value::Null)).await;
            // Parting is not refused where there is no pair, so it says something only after an introduction.
            parted += usize::from(met && matches!(left, Some((204, _))));
        }
        (linked, parted)
    }
}

/// What one viewer saw, by Pod: the records since each snapshot, and the last cursor.
#[derive(Debug, Default)]
pub(crate) struct Viewer {
    pub(crate) shown: BTreeMap<usize, Vec<Vec<Value>>>,
    cursors: BTreeMap<usize, String>,
    /// How often it was cut off and continued.
    pub(crate) resumed: usize,
}

impl Viewer {
    /// Watches these Pods until the heads are known and reached, or for too long.
    pub(crate) async fn watch(
        doors: Doors,
        first: usize,
        pods: Vec<Value>,
        heads: watch::Receiver<Option<Vec<i64>>>,
    ) -> Self {
        let (mut viewer, mut at, mut ends) = (Self::default(), first, heads.clone());
        let mut watching = async |viewer: &mut Self| {
            loop {
                if let Some(socket) = doors.viewer(at).await
                    && viewer.follow(socket, &pods, &heads).await
                {
                    return;
                }
                at += 1;
                viewer.resumed += 1;
                sleep(TRY_AGAIN).await;
            }
        };
        tokio::select! {
            () = watching(&mut viewer) => (),
            () = async {
                drop(ends.wait_for(Option::is_some).await);
                sleep(CATCH_UP_MAX).await;
            } => (),
        }
        viewer
    }

    /// Returns true when everything was seen, and false when the socket was closed.
    async fn follow(
        &mut self,
        mut socket: EventSocket,
        pods: &[Value],
        heads: &watch::Receiver<Option<Vec<i64>>>,
    ) -> bool {
        for (index, pod) in pods.iter().enumerate() {
            socket.subscribe(&index.to_string(), pod, self.cursors.get(&index).map(String::as_str)).await;
        }
        loop {
            if let Some(heads) = &*heads.borrow()
                && heads.iter().enumerate().all(|(index, head)| self.last(index) >= *head)
            {
                return true;
            }
            let frame = match timeout(TRY_AGAIN, socket.next_frame()).await {
                Ok(Some(frame)) => frame,
                Ok(None) => return false,
                Err(_) => continue,
            };
            // What was refused while the database was out is asked for again.
            if matches!(frame["type"].as_str(), Some("diagnostic" | "closed")) && !is_followed_by_snapshot(&frame) {
                return false;
            }
            self.take(&frame);
        }
    }

    fn take(&mut self, frame: &Value) {
        let Some(index) = frame["id"].as_str().and_then(|id| id.parse().ok()) else { return };
        let shown = self.shown.entry(index).or_default();
        if frame["type"] == "snapshot" || shown.is_empty() {
            shown.push(Vec::new());
        }
        let records = frame["records"].as_array().into_iter().flatten().cloned();
        shown.last_mut().expect("one has just been added").extend(records);
        if let Some(cursor) = frame["cursor"].as_str() {
            self.cursors.insert(index, cursor.to_owned());
        }
    }

    /// The last record that was shown of a Pod.
    pub(crate) fn last(&self, index: usize) -> i64 {
        let last = self.shown.get(&index).and_then(|shown| shown.last()).and_then(|shown| shown.last());
        last.map(crate::witness::seq).unwrap_or_default()
    }
}

fn is_followed_by_snapshot(frame: &Value) -> bool {
    matches!(frame["code"].as_str(), Some("lagged" | "cursor_expired" | "cursor_invalid"))
}

/// `runtime_id/worker_id`.
fn target(pod: &Value) -> String {
    let part = |name: &str| pod["pod"][name].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", part("runtime_id"), part("worker_id"))
}
