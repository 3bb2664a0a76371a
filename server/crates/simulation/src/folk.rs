//! The people at a server: they make Pods, talk to them, answer their questions, stop and restore them, and repeat what
//! got no answer.

use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    Chance,
    http::Call,
    model::peer_name,
    plan::{CALM, REST_MAX, ServerPlan},
    script::script,
    world::{World, pod_name},
};

/// No more Pods than this are made by the people of one server.
const PODS_MAX: usize = 3;
/// For how many looks nothing may happen until servers that know each other are at rest: nothing is said between them
/// later than 15 s after both are up.
const FAR_ROUNDS: usize = 36;

/// The people at one server.
#[derive(Debug)]
pub(crate) struct Folk {
    me: String,
    /// Where its Pods are.
    server: usize,
    /// Its own number, for the names of its Pods.
    number: usize,
    /// The servers that it may ask.
    hosts: Vec<String>,
    world: World,
    chance: Chance,
    commands: u64,
}

impl Folk {
    pub(crate) fn new(server: usize, world: World, chance: Chance) -> Self {
        Self {
            me: format!("people-{server}"),
            server: world.site(server),
            number: server,
            hosts: world.hosts(server),
            world,
            chance,
            commands: 0,
        }
    }

    /// One of the servers, each time another one.
    fn host(&mut self) -> String {
        match self.hosts.as_slice() {
            [only] => only.clone(),
            several => self.chance.pick(several).clone(),
        }
    }

    /// Works for a day, then brings everything to rest.
    pub(crate) async fn work(mut self, pods: usize, messages: usize) {
        let first = if self.hosts.len() > 1 { PODS_MAX * self.number } else { 0 };
        for number in first..first + pods {
            let body = json!({ "name": format!("pod-{number}") });
            let made = self.carry_out("", "/api/v1/pods", body, Kind::Create).await;
            let Some(id) = made.as_ref().and_then(|made| made["pod"]["worker_id"].as_str()) else { return };
            self.world.has_pod(self.server, id);
        }
        let mut left = messages;
        while left > 0 && self.world.now() < CALM {
            // Children are spoken to by their parents.
            let pods = self.world.tops(self.server);
            let pod = self.chance.pick(&pods).clone();
            match self.chance.below(if self.world.far() > 0 { 20 } else { 15 }) {
                10 | 15 | 16 => self.introduce(&pods).await,
                11 => self.part(&pods).await,
                12 | 13 => self.stop_or_restore().await,
                14 | 17..=19 => self.write_to_peer(&pod).await,
                0..=4 => {
                    left -= 1;
                    self.say(&pod).await;
                }
                5..=7 => self.answer_questions(&pod).await,
                _ => {
                    let verb = *self.chance.pick(&["pause", "resume", "resume", "cancel"]);
                    self.control(&pod, verb).await;
                }
            }
            self.wait(30, 900).await;
        }
        while self.world.now() < CALM {
            self.wait(100, 300).await;
        }
        if self.world.together().is_some() {
            // The first ones bring all Pods to rest, once nobody else does anything any more.
            if self.number > 0 {
                return self.world.is_done();
            }
            while self.world.at_work() > 1 {
                self.wait(100, 300).await;
            }
        }
        self.bring_to_rest().await;
    }

    async fn wait(&mut self, first: u64, last: u64) {
        sleep(Duration::from_millis(self.chance.within(first, last))).await;
    }

    async fn say(&mut self, pod: &str) {
        let text = script(&mut self.chance, self.world.far());
        let body = json!({ "segments": [{ "type": "text", "text": text }], "queue": true });
        self.carry_out(pod, &format!("{}/input", path(pod)), body, Kind::Message).await;
    }

    /// Makes two Pods peers.
    async fn introduce(&mut self, pods: &[String]) {
        if let Some((other, there)) = self.far_pod() {
            let own = self.chance.pick(pods).clone();
            // Either of the two may be named first.
            let (source, target) = match self.chance.once_in(3) {
                true => (path_at(&other, &there), format!("local/{own}")),
                false => (path(&own), format!("{other}/{there}")),
            };
            self.carry_out(&own, &format!("{source}/peers"), json!({ "target": target }), Kind::Now).await;
            return;
        }
        let (one, other) = (self.chance.pick(pods).clone(), self.chance.pick(pods).clone());
        let body = json!({ "target": format!("local/{other}") });
        self.carry_out(&one, &format!("{}/peers", path(&one)), body, Kind::Other).await;
    }

    /// Has a Pod write to one of its peers, if it has any.
    async fn write_to_peer(&mut self, pod: &str) {
        let Some((200, page)) = Call::get(format!("{}/peers", path(pod))).ask(&self.host()).await else { return };
        let peers = page["items"].as_array().cloned().unwrap_or_default();
        if peers.is_empty() {
            return;
        }
        let peer = &self.chance.pick(&peers)["pod"];
        let (runtime, id) = (peer["runtime_id"].as_str(), peer["worker_id"].as_str());
        let to = format!("{}/{}", runtime.unwrap_or_default(), id.unwrap_or_default());
        let text = script(&mut self.chance, self.world.far());
        let body = json!({ "to": to, "text": text });
        self.carry_out(pod, &format!("{}/messages", path(pod)), body, Kind::Now).await;
    }

    /// A Pod of another server, and that server, on days on which servers know each other.
    fn far_pod(&mut self) -> Option<(String, String)> {
        let far = self.world.far();
        if far == 0 || self.chance.once_in(3) {
            return None;
        }
        let other = (self.number + usize::try_from(self.chance.within(1, far as u64 - 1)).unwrap_or(1)) % far;
        let pods = self.world.tops(other);
        (!pods.is_empty()).then(|| (format!("server-{other}"), self.chance.pick(&pods).clone()))
    }

    /// Ends a relation of two Pods, if there is one.
    async fn part(&mut self, pods: &[String]) {
        let one = self.chance.pick(pods).clone();
        let other = match self.far_pod() {
            Some((server, pod)) => format!("{server}/{pod}"),
            None => format!("local/{}", self.chance.pick(pods)),
        };
        self.commands += 1;
        let key = format!("{}-{}", self.me, self.commands);
        let call =
            Call { method: Method::DELETE, key: Some(key), ..Call::get(format!("{}/peers/{other}", path(&one))) };
        let answer = call.ask(&self.host()).await;
        self.world.note(&self.me, format!("{one} and {other} part: {:?}", answer.map(|(status, _)| status)));
    }

    async fn control(&mut self, pod: &str, verb: &str) {
        self.carry_out(pod, &format!("{}/{verb}", path(pod)), json!({}), Kind::Other).await;
    }

    /// Stops or restores a Pod, most often one that another Pod has spawned.
    async fn stop_or_restore(&mut self) {
        self.look_around().await;
        let all = self.world.pods(self.server);
        let pod = match self.chance.once_in(4) {
            true => self.chance.pick(&all).clone(),
            false => all[all.len() - 1].clone(),
        };
        let verb = *self.chance.pick(&["stop", "restore"]);
        let body = if verb == "restore" { json!({ "tree": self.chance.once_in(2) }) } else { json!({}) };
        self.carry_out(&pod, &format!("{}/{verb}", path(&pod)), body, Kind::Other).await;
    }

    /// Finds Pods that were spawned. True if all are known already.
    async fn look_around(&mut self) -> bool {
        let Some((200, page)) = Call::get("/api/v1/pods?limit=1000").ask(&self.host()).await else { return false };
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let children = items.iter().filter(|item| !item["relations"]["parent"].is_null());
        let ids = children.filter_map(|item| item["pod"]["worker_id"].as_str());
        let new = ids.filter(|id| self.world.has_child(self.server, id)).count();
        new == 0
    }

    async fn answer_questions(&mut self, pod: &str) {
        let Some((200, page)) = Call::get(format!("{}/approvals", path(pod))).ask(&self.host()).await else { return };
        let items = page["items"].as_array().cloned().unwrap_or_default();
        for id in items.iter().filter_map(|item| item["id"].as_str()) {
            let decision = if self.chance.once_in(4) { "deny" } else { "allow" };
            let path = format!("{}/approvals/{id}", path(pod));
            self.carry_out(pod, &path, json!({ "decision": decision }), Kind::Other).await;
        }
    }

    /// Sends a command until there is an answer, each time with the same key. Returns the answer unless it is a refusal.
    async fn carry_out(&mut self, pod: &str, path: &str, body: Value, kind: Kind) -> Option<Value> {
        self.commands += 1;
        let id = format!("{}-{}", self.me, self.commands);
        self.world.model(|model| model.sends(&id, &pod_name(self.server, pod), kind == Kind::Message));
        let call = Call::post(path, &id, body);
        let mut repeats = self.chance.below(3) / 2;
        let mut accepted = None;
        loop {
            let answer = match self.chance.once_in(6) {
                // Two at once: a person who presses twice.
                true => {
                    let (one, other) = (self.host(), self.host());
                    let (one, two) = tokio::join!(call.ask(&one), call.ask(&other));
                    self.hear(&id, path, one.as_ref(), kind);
                    two
                }
                false => {
                    let host = self.host();
                    call.ask(&host).await
                }
            };
            self.hear(&id, path, answer.as_ref(), kind);
            match answer {
                Some((200..=299, answer)) => {
                    accepted = Some(answer);
                    if repeats == 0 {
                        return accepted;
                    }
                    repeats -= 1;
                }
                // It was refused, and nothing happened. After a yes, the model has seen to it already.
                Some((400..=499, _)) => return accepted,
                _ => (),
            }
            if self.world.now() > CALM + REST_MAX {
                self.world.model(|model| model.breaks(format!("{id}, {path}, is never answered")));
                return None;
            }
            self.wait(20, 900).await;
        }
    }

    fn hear(&self, id: &str, path: &str, answer: Option<&(u16, Value)>, kind: Kind) {
        let Some((status, answer)) = answer else {
            return self.world.note(&self.me, format!("{id} {path}: no answer"));
        };
        // A Pod's summary says how it is now.
        let answer = if kind == Kind::Create && *status < 300 { &answer["pod"] } else { answer };
        self.world.note(&self.me, format!("{id} {path}: {status} {answer}"));
        // What was on its way to another server may be refused there later, and a repeat tells that.
        if kind == Kind::Now && (400..500).contains(status) && self.world.far() > 0 {
            return;
        }
        let answer = if kind == Kind::Now && *status < 300 { &Value::Null } else { answer };
        self.world.model(|model| model.answered(id, *status, answer));
    }

    /// Nothing breaks any more: ends everything that has begun, and compares the journals with what was seen.
    async fn bring_to_rest(mut self) {
        let together = self.world.together();
        let sites = together.unwrap_or_else(|| vec![self.server]);
        // What is on its way to another server is there by then.
        let rounds = if self.world.far() > 0 { FAR_ROUNDS } else { 2 };
        let mut rested = 0;
        while rested < rounds {
            let mut is_quiet = true;
            for site in &sites {
                self.go_to(*site);
                is_quiet &= self.is_quiet_here().await;
            }
            rested = if is_quiet { rested + 1 } else { 0 };
            if self.world.now() > CALM + REST_MAX {
                return self.world.model(|model| model.breaks(format!("server-{} never came to rest", self.server)));
            }
            self.wait(300, 600).await;
        }
        for site in sites {
            self.go_to(site);
            if !self.compare().await {
                return;
            }
        }
        self.world.is_done();
    }

    fn go_to(&mut self, site: usize) {
        (self.server, self.hosts) = (site, self.world.hosts(site));
    }

    /// Answers what Pods of this server wait for. True if none of them has anything left to do.
    async fn is_quiet_here(&mut self) -> bool {
        let mut is_quiet = self.look_around().await;
        for pod in &self.world.pods(self.server) {
            is_quiet &= self.settle(pod).await;
        }
        is_quiet
    }

    /// Compares all journals of this server with what was seen. False if one cannot be read.
    async fn compare(&mut self) -> bool {
        for pod in &self.world.pods(self.server) {
            let name = pod_name(self.server, pod);
            // All servers show the same.
            for host in self.hosts.clone().iter().skip(1) {
                let Some(records) = self.journal(host, pod).await else { return false };
                self.world.model(|model| model.rests_alike(host, &name, &records));
            }
            let Some(records) = self.journal(&self.hosts[0].clone(), pod).await else { return false };
            let head = records.last().and_then(|record| record["seq"].as_u64()).unwrap_or(0);
            self.world.note(&self.me, format!("{name} rests at {head} with {} records", records.len()));
            self.world.model(|model| model.rests(&name, &records));
            let Some(peers) = self.peers(pod).await else { return false };
            self.world.model(|model| model.has_peers(&name, peers));
            let Some(children) = self.children(pod).await else { return false };
            self.world.model(|model| model.has_children(&name, &children));
            self.world.rests(&name, head);
        }
        true
    }

    /// The names of a Pod's peers.
    async fn peers(&mut self, pod: &str) -> Option<Vec<String>> {
        while self.world.now() < CALM + 2 * REST_MAX {
            if let Some((200, page)) = Call::get(format!("{}/peers", path(pod))).ask(&self.host()).await {
                let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                if let Some(open) = items.iter().find(|item| item["link"] == "pending") {
                    let what = format!("{pod} still waits to become a peer: {open}");
                    self.world.model(|model| model.breaks(what));
                }
                return Some(items.iter().map(|item| peer_name(&pod_name(self.server, pod), &item["pod"])).collect());
            }
            self.wait(100, 300).await;
        }
        self.world.model(|model| model.breaks(format!("the peers of {pod} cannot be read")));
        None
    }

    /// A Pod's children, with what is lent to them.
    async fn children(&mut self, pod: &str) -> Option<Vec<Value>> {
        while self.world.now() < CALM + 2 * REST_MAX {
            if let Some((200, detail)) = Call::get(path(pod)).ask(&self.host()).await {
                return detail["children"].as_array().cloned();
            }
            self.wait(100, 300).await;
        }
        self.world.model(|model| model.breaks(format!("the children of {pod} cannot be read")));
        None
    }

    /// Answers what a Pod waits for. True if it has nothing left to do.
    async fn settle(&mut self, pod: &str) -> bool {
        let Some((200, detail)) = Call::get(path(pod)).ask(&self.host()).await else { return false };
        let state = detail["state"].as_str().unwrap_or_default();
        let is_child = self.world.is_child(pod);
        let is_idle =
            (state == "idle" && detail["queued_count"].as_u64().unwrap_or(0) == 0) || (state == "stopped" && is_child);
        let children = detail["children"].as_array().cloned().unwrap_or_default();
        self.world.model(|model| model.shows_children(&pod_name(self.server, pod), &children));
        self.world.note(&self.me, format!("{pod} is {state}, {} queued", detail["queued_count"]));
        match state {
            "waiting" => self.answer_questions(pod).await,
            "paused" => {
                let verb = if self.chance.once_in(3) { "cancel" } else { "resume" };
                self.control(pod, verb).await;
            }
            // What it was told is still to be done.
            "stopped" if !is_child => self.control(pod, "restore").await,
            _ => (),
        }
        is_idle
    }

    /// All records of a Pod, oldest first.
    async fn journal(&mut self, host: &str, pod: &str) -> Option<Vec<Value>> {
        let mut pages: Vec<Vec<Value>> = Vec::new();
        let mut before = String::new();
        while self.world.now() < CALM + 2 * REST_MAX {
            let call = Call::get(format!("{}/transcript?limit=1000{before}", path(pod)));
            match call.ask(host).await {
                Some((200, page)) => {
                    pages.push(page["items"].as_array().cloned().unwrap_or_default());
                    match &page["next"] {
                        Value::Null => return Some(pages.into_iter().rev().flatten().collect()),
                        next => before = format!("&before={}", next.as_str().map_or(next.to_string(), str::to_owned)),
                    }
                }
                _ => self.wait(100, 300).await,
            }
        }
        self.world.model(|model| model.breaks(format!("the journal of {pod} cannot be read")));
        None
    }
}

/// What the model has to know of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Create,
    Message,
    /// The answer says how something is now.
    Now,
    Other,
}

fn path(pod: &str) -> String {
    path_at("local", pod)
}

fn path_at(runtime: &str, pod: &str) -> String {
    format!("/api/v1/runtimes/{runtime}/workers/{pod}")
}

/// Runs the work of a server's people: the numbers of their Pods and messages are the plan.
pub(crate) async fn work(folk: Folk, plan: (usize, usize)) -> turmoil::Result {
    folk.work(plan.0, plan.1).await;
    Ok(())
}

impl ServerPlan {
    /// How many Pods its people create, and how many messages they send.
    pub(crate) fn work(&self) -> (usize, usize) {
        (self.pods, self.messages)
    }
}
