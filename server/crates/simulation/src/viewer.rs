//! A viewer: follows the Pods of a server over the event socket, loses its connection, and continues after its cursor.

use std::{collections::BTreeMap, time::Duration};

use futures_util::{SinkExt, StreamExt};
use hyper::header;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest},
};
use turmoil::net::TcpStream;

use crate::{
    Chance,
    http::{PORT, TOKEN},
    model::Reading,
    plan::{CALM, REST_MAX},
    world::{World, pod_name},
};

/// A client that hears nothing for this long reconnects. Heartbeats do not count: the simulated network never sends
/// again what it lost, so a connection may be dead in one direction.
const SILENCE_MAX: Duration = Duration::from_secs(15);
const PING_EVERY: Duration = Duration::from_secs(4);
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// How often to look for Pods that are new.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// More than any simulated Pod has, so that a snapshot is the whole journal.
const TAIL: u32 = 10_000;

/// A viewer, and how far it has read.
#[derive(Debug)]
pub(crate) struct Viewer {
    pub(crate) me: String,
    /// Where the Pods are.
    pub(crate) server: usize,
    /// The servers that it may ask.
    hosts: Vec<String>,
    pub(crate) world: World,
    pub(crate) chance: Chance,
    pods: BTreeMap<String, Followed>,
}

#[derive(Debug, Default)]
struct Followed {
    cursor: Option<String>,
    reading: Reading,
    /// Subscribed to on this connection.
    is_asked: bool,
}

impl Viewer {
    pub(crate) fn new(me: String, server: usize, world: World, chance: Chance) -> Self {
        let (server, hosts) = (world.site(server), world.hosts(server));
        Self { me, server, hosts, world, chance, pods: BTreeMap::new() }
    }

    /// Views until everything is at rest and it has seen all of it.
    pub(crate) async fn view(mut self) {
        while !self.has_seen_all() {
            if self.world.now() > CALM + REST_MAX {
                let read: Vec<_> = self.pods.iter().map(|(pod, of)| (pod, of.reading.seq())).collect();
                return self.world.model(|model| model.breaks(format!("{} never read to the end: {read:?}", self.me)));
            }
            match timeout(CONNECT_MAX, self.connect()).await {
                Ok(Some(socket)) => {
                    self.world.note(&self.me, "connected");
                    let left = self.follow(socket).await;
                    self.world.note(&self.me, format!("disconnected: {left}"));
                }
                Ok(None) | Err(_) => self.world.note(&self.me, "no connection"),
            }
            sleep(Duration::from_millis(self.chance.within(20, 600))).await;
        }
        self.world.note(&self.me, "has seen everything");
    }

    fn has_seen_all(&self) -> bool {
        let has_seen = |id: &String| {
            let read = self.pods.get(id).map_or(0, |followed| followed.reading.seq());
            self.world.head(&pod_name(self.server, id)).is_some_and(|head| read >= head)
        };
        self.world.is_at_rest() && self.world.pods(self.server).iter().all(has_seen)
    }

    async fn connect(&mut self) -> Option<WebSocketStream<TcpStream>> {
        let name = match self.hosts.as_slice() {
            [only] => only.clone(),
            several => self.chance.pick(several).clone(),
        };
        let stream = TcpStream::connect((name.as_str(), PORT)).await.ok()?;
        let mut request = format!("ws://{name}:{PORT}/api/v1/events").into_client_request().ok()?;
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {TOKEN}").parse().ok()?);
        Some(client_async(request, stream).await.ok()?.0)
    }

    /// Reads until the connection is lost, or given up. Returns why.
    async fn follow(&mut self, mut socket: WebSocketStream<TcpStream>) -> &'static str {
        self.pods.values_mut().for_each(|followed| followed.is_asked = false);
        let mut patience = self.chance.within(3, 300);
        let mut heard = self.world.now();
        let mut pinged = heard;
        loop {
            let mut frames = self.asking();
            if self.world.now() >= pinged + PING_EVERY {
                pinged = self.world.now();
                frames.push(json!({ "type": "ping" }));
            }
            for frame in frames {
                // What it sends may be lost without anyone noticing.
                let sent = timeout(CONNECT_MAX, socket.send(Message::text(frame.to_string()))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return "it cannot be written to";
                }
            }
            if self.has_seen_all() {
                return "all is seen";
            }
            match timeout(LOOK_EVERY, socket.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => {
                    let Ok(frame) = serde_json::from_str::<Value>(&text) else { return "a frame that is not JSON" };
                    if frame["type"] != "heartbeat" {
                        heard = self.world.now();
                    }
                    self.take(&frame);
                    patience -= 1;
                    if patience == 0 {
                        return "it is given up";
                    }
                }
                Ok(Some(Ok(_))) => (),
                Ok(Some(Err(_)) | None) => return "it is lost",
                Err(_) if self.world.now() > heard + SILENCE_MAX => return "it is silent",
                Err(_) => (),
            }
        }
    }

    /// The subscriptions that this connection does not have yet.
    fn asking(&mut self) -> Vec<Value> {
        let mut frames = Vec::new();
        for id in self.world.pods(self.server) {
            let followed = self.pods.entry(id.clone()).or_default();
            if !std::mem::replace(&mut followed.is_asked, true) {
                let pod = json!({ "runtime_id": "local", "worker_id": id });
                let after = &followed.cursor;
                frames.push(json!({ "type": "subscribe", "id": id, "pod": pod, "after": after, "tail": TAIL }));
            }
        }
        frames
    }

    fn take(&mut self, frame: &Value) {
        let kind = frame["type"].as_str().unwrap_or_default();
        let id = frame["id"].as_str().unwrap_or_default();
        if !matches!(kind, "snapshot" | "records") {
            if matches!(kind, "diagnostic" | "closed") {
                self.world.note(&self.me, format!("{kind} of {id}: {frame}"));
                let is_expected = frame["code"] == "lagged" || frame["code"] == "runtime_unavailable";
                if let Some(followed) = self.pods.get_mut(id).filter(|_| kind == "closed") {
                    // It is asked for again.
                    followed.is_asked = false;
                }
                if !is_expected && kind == "diagnostic" {
                    self.world.model(|model| model.breaks(format!("{} is told {frame}", self.me)));
                }
            }
            return;
        }
        let Some(followed) = self.pods.get_mut(id) else { return };
        let pod = pod_name(self.server, id);
        match kind {
            "snapshot" => followed.reading = Reading::default(),
            _ if followed.cursor.as_deref() != frame["after"].as_str() => {
                let what = format!("{} continues {pod} after {:?} and is sent {frame}", self.me, followed.cursor);
                return self.world.model(|model| model.breaks(what));
            }
            _ => (),
        }
        followed.cursor = frame["cursor"].as_str().map(str::to_owned);
        let records = frame["records"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.world.model(|model| {
            records.iter().for_each(|record| model.read(&self.me, &pod, &mut followed.reading, record));
        });
        let (seq, prefix) = (followed.reading.seq(), followed.reading.short());
        self.world.note(&self.me, format!("{kind} {pod} {} to {seq} {prefix}", records.len()));
    }
}
