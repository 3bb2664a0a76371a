//! Three yoi on one PostgreSQL, as processes: one is killed, one is paused until it is declared dead, and nothing that
//! anybody saw is lost, duplicated or out of order.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use testkit::{
    until_so,
    yoi::{EventSocket, Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
const PODS: usize = 200;
/// Subscriptions per socket, well below the limit.
const WATCHED: usize = 24;
const AT_ONCE: usize = 12;
/// After both takeovers, everything can be used within this time.
const USABLE_MAX: Duration = Duration::from_secs(60);

async fn start(url: &str, name: &str) -> YoiProcess {
    Launch::new(YOI).arg("--database").arg(url).arg("--name").arg(name).start().await
}

fn signal(yoi: &YoiProcess, name: &str) {
    let pid = yoi.pid().unwrap().to_string();
    assert!(std::process::Command::new("kill").args([name, &pid]).status().unwrap().success());
}

/// Returns when this server has found that one to be silent.
async fn until_silent(at: &YoiProcess, name: &str) {
    let is_said = |line: &String| line.contains("a host is silent") && line.contains(name);
    until_so(format!("{name} is found to be silent"), async || at.log().iter().any(is_said)).await;
}

fn seq(record: &Value) -> i64 {
    record["seq"].as_i64().unwrap()
}

fn is_chunk(record: &Value) -> bool {
    record["event"]["kind"].as_str().unwrap().ends_with("_chunk")
}

/// Text by block; a finished record replaces its chunks.
fn texts<'a>(records: impl IntoIterator<Item = &'a Value>) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for event in records.into_iter().map(|record| &record["event"]) {
        let text = event["text"].as_str().unwrap_or_default();
        let block = || event["block"].as_str().unwrap().to_owned();
        match event["kind"].as_str().unwrap() {
            "text_chunk" => texts.entry(block()).or_default().push_str(text),
            "message_finished" => drop(texts.insert(block(), text.to_owned())),
            _ => (),
        }
    }
    texts
}

/// What one viewer saw of several Pods.
#[derive(Default)]
struct Seen {
    records: BTreeMap<String, Vec<Value>>,
}

impl Seen {
    fn take(&mut self, frame: &Value) {
        let Some(id) = frame["id"].as_str() else { return };
        match frame["type"].as_str().unwrap() {
            "snapshot" => {
                let known = self.records.entry(id.to_owned()).or_default();
                let last = known.last().map_or(0, seq);
                known.extend(frame["records"].as_array().unwrap().iter().filter(|record| seq(record) > last).cloned());
            }
            "records" => {
                let records = frame["records"].as_array().unwrap().clone();
                self.records.entry(id.to_owned()).or_default().extend(records);
            }
            _ => (),
        }
    }
}

/// Watches some Pods until the socket is cut or nothing more arrives.
async fn watch(mut socket: EventSocket, pods: Vec<Value>, until: tokio::sync::watch::Receiver<bool>) -> Seen {
    for pod in &pods {
        socket.subscribe(pod["pod"]["worker_id"].as_str().unwrap(), pod, None).await;
    }
    let mut seen = Seen::default();
    let mut is_last = false;
    while let Ok(Some(frame)) = tokio::time::timeout(Duration::from_secs(60), socket.next_frame()).await {
        seen.take(&frame);
        // Whatever is still under way when everything is quiet has arrived by the heartbeat after the next.
        if *until.borrow() && frame["type"] == "heartbeat" && std::mem::replace(&mut is_last, true) {
            break;
        }
    }
    seen
}

/// Nothing twice, in order; whatever was shown is in the journal, or in the block that replaced it.
fn check_seen(what: &str, seen: &[Value], kept: &[Value]) {
    assert!(seen.windows(2).all(|pair| seq(&pair[0]) < seq(&pair[1])), "{what}: twice or out of order");
    let by_seq: BTreeMap<i64, &Value> = kept.iter().map(|record| (seq(record), record)).collect();
    for record in seen.iter().filter(|record| !is_chunk(record)) {
        assert_eq!(by_seq.get(&seq(record)), Some(&record), "{what}: it was shown and is not in the journal");
    }
    let whole = texts(kept);
    for (block, shown) in texts(seen) {
        let kept = whole.get(&block).unwrap_or_else(|| panic!("{what}: {block} is lost"));
        assert!(kept.starts_with(&shown), "{what}: showed {shown:?}, kept {kept:?}");
    }
}

/// Each run began once and ended once, and each message is there once.
fn check_journal(name: &str, kept: &[Value], inputs: usize) {
    assert!(kept.windows(2).all(|pair| seq(&pair[0]) < seq(&pair[1])), "{name}: {kept:?}");
    let kind = |wanted: &'static str| kept.iter().filter(move |record| record["event"]["kind"] == wanted);
    assert_eq!(kind("user_message").count(), inputs, "{name}");
    let begun: Vec<&Value> = kind("run_started").map(|record| &record["run_id"]).collect();
    let mut distinct = begun.clone();
    distinct.dedup();
    assert_eq!(begun.len(), distinct.len(), "{name}");
    assert_eq!(kind("run_finished").count(), begun.len(), "{name}");
    // Seqs are missing only where chunks were folded: such a gap is followed by a finished block, and nothing else.
    for pair in kept.windows(2).filter(|pair| seq(&pair[1]) > seq(&pair[0]) + 1) {
        let kind = pair[1]["event"]["kind"].as_str().unwrap();
        assert!(kind.ends_with("_finished") || kind == "tool_called", "{name}: a gap before {kind}");
    }
}

async fn on_each<T>(pods: &[Value], work: impl AsyncFn(usize, &Value) -> T) -> Vec<T> {
    let work = &work;
    let each = pods.iter().enumerate().map(|(index, pod)| work(index, pod));
    stream::iter(each).buffered(AT_ONCE).collect().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn three_servers_with_one_killed_and_one_paused_lose_duplicate_and_reorder_nothing() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let mut one = start(&url, "one").await;
    let (two, three) = (start(&url, "two").await, start(&url, "three").await);
    let hosts = [&one, &two, &three];
    let names: Vec<Value> = (0..PODS).map(|index| json!(format!("pod-{index}"))).collect();
    let pods = on_each(&names, async |index, name| hosts[index % 3].new_pod(name.as_str().unwrap()).await).await;
    assert_eq!(three.get("/api/v1/pods?limit=500").await.expect(200)["items"].as_array().unwrap().len(), PODS);

    // Viewers on each host, of Pods of every host.
    let (done, is_done) = tokio::sync::watch::channel(false);
    let mut viewers = Vec::new();
    for (at, host) in hosts.iter().enumerate() {
        let watched: Vec<Value> = pods.iter().skip(at * 40).take(WATCHED).cloned().collect();
        viewers.push(tokio::spawn(watch(host.events().await, watched, is_done.clone())));
    }
    // Most of them are sent at another host than the one that runs the Pod.
    on_each(&pods, async |index, pod| {
        hosts[(index + 1) % 3].say(pod, &format!("say begin {index}\nstream 40 at 2\nsay end {index}")).await
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;

    signal(&two, "-STOP");
    one.kill9().await;
    until_silent(&three, "two").await;
    signal(&two, "-CONT");

    // Everything can be used again, at both remaining hosts.
    let begun = Instant::now();
    let left = [&two, &three];
    let used = on_each(&pods, async |index, pod| {
        let key = format!("after-{index}");
        loop {
            let say = json!({ "segments": [{ "type": "text", "text": "say again" }], "queue": true });
            let path = format!("{}/input", pod_path(pod));
            let answer = left[index % 2].post_with_key(&key, &path, &say).await;
            if answer.status == 202 {
                return begun.elapsed();
            }
            assert!(begun.elapsed() < USABLE_MAX, "pod-{index}: {answer:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    })
    .await;
    eprintln!("{PODS} Pods could be used again within {:?}", used.iter().max().unwrap());

    // Until everything is quiet.
    let begun = Instant::now();
    loop {
        let listed = three.get("/api/v1/pods?limit=500").await.expect(200);
        let states: Vec<&str> =
            listed["items"].as_array().unwrap().iter().map(|pod| pod["state"].as_str().unwrap()).collect();
        if states.iter().all(|state| *state == "idle" || *state == "paused") {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{states:?}");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    done.send_replace(true);
    let journals = on_each(&pods, async |index, pod| {
        let (of_two, of_three) = (two.journal(pod).await, three.journal(pod).await);
        assert_eq!(of_two, of_three, "pod-{index}");
        check_journal(&format!("pod-{index}"), &of_two, 2);
        of_two
    })
    .await;
    let by_id: BTreeMap<&str, &Vec<Value>> =
        pods.iter().map(|pod| pod["pod"]["worker_id"].as_str().unwrap()).zip(&journals).collect();
    for (viewer, name) in viewers.into_iter().zip(["one", "two", "three"]) {
        let seen = viewer.await.unwrap();
        assert_eq!(seen.records.len(), WATCHED, "{name}");
        for (id, records) in &seen.records {
            check_seen(&format!("a viewer of {name}"), records, by_id[id.as_str()]);
            // A viewer that was not cut off has seen all of it.
            if name == "three" {
                assert_eq!(records.last().map(seq), by_id[id.as_str()].last().map(seq), "{name}");
            }
        }
    }
    let log = two.log().join("\n");
    assert!(log.contains("has rejoined"), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stops_hands_its_pods_over_and_one_that_starts_again_has_its_name() {
    let url = testkit::postgres::fresh_database().await.unwrap();
    let (mut one, two) = (start(&url, "one").await, start(&url, "two").await);
    let pod = one.new_pod("ada").await;
    one.say(&pod, "say hello\nstream 2000 at 50").await;
    let mut socket = two.events().await;
    socket.subscribe("a", &pod, None).await;
    socket.records_until("a", |record| record["event"]["text"] == "hello").await;
    assert!(one.terminate().await.success());
    socket.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    two.say(&pod, "say still here").await;
    socket.records_until("a", |record| record["event"]["outcome"] == "completed").await;
    // A crash and a restart: nobody waits for it to be declared dead, which here would take an hour.
    one.restart().await;
    let other = one.new_pod("bob").await;
    one.say(&other, "stream 400 at 50").await;
    one.kill9().await;
    let lives = "update hosts set heartbeat_at = now() + interval '1 hour' where name = 'one'";
    testkit::postgres::execute(&url, lives).await.unwrap();
    one.restart().await;
    let mut socket = one.events().await;
    socket.subscribe("b", &other, None).await;
    socket.records_until("b", |record| record["event"]["kind"] == "run_finished").await;
}
