//! Two yoi as their users have them: one added to the other, worked with through it, down for a while, removed.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    until_so,
    yoi::{EventSocket, Launch, YoiProcess, pod_path},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// Shorter than the time that a caller waits for an unresponsive server. A busy machine may occasionally need longer,
/// but not every time.
const WAITED_FOR_AWAY: Duration = Duration::from_secs(2);

async fn add(at: &YoiProcess, id: &str, other: &YoiProcess) -> Value {
    let body = json!({ "runtime_id": id, "url": other.base_url(), "token": other.token() });
    at.post("/api/v1/runtimes", &body).await.expect(201)
}

async fn runtime(at: &YoiProcess, id: &str) -> Option<Value> {
    let listing = at.get("/api/v1/runtimes").await.expect(200);
    listing["items"].as_array().unwrap().iter().find(|runtime| runtime["runtime_id"] == id).cloned()
}

async fn until_state(at: &YoiProcess, id: &str, state: &str) {
    until_so(format!("{id} is {state}"), async || runtime(at, id).await.is_some_and(|now| now["state"] == state)).await;
}

async fn names(at: &YoiProcess) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listing = at.get("/api/v1/pods").await.expect(200);
    let pods = listing["items"].as_array().unwrap();
    pods.iter().map(|pod| (text(&pod["pod"]["runtime_id"]), text(&pod["name"]))).collect()
}

/// A Pod of the other server, as this one lists it.
async fn seen(at: &YoiProcess, name: &str, runtime_id: &str) -> Value {
    let mut found = None;
    until_so(format!("{name}@{runtime_id} is listed"), async || {
        let listing = at.get(&format!("/api/v1/pods?name={name}")).await.expect(200);
        let pods = listing["items"].as_array().unwrap();
        found = pods.iter().find(|pod| pod["pod"]["runtime_id"] == runtime_id).cloned();
        found.is_some()
    })
    .await;
    found.unwrap()
}

async fn journal(at: &YoiProcess, pod: &Value) -> Vec<Value> {
    let page = at.get(&format!("{}/transcript?limit=1000", pod_path(pod))).await.expect(200);
    page["items"].as_array().unwrap().clone()
}

fn is_over(record: &Value) -> bool {
    record["event"]["kind"] == "run_finished"
}

/// Seqs rise, and the missing ones are chunks replaced by a finished block.
fn assert_in_order(records: &[Value]) {
    let seqs: Vec<i64> = records.iter().map(|record| record["seq"].as_i64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story")]
async fn another_server_is_added_worked_with_and_taken_out() {
    let (mut here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("bob").await;
    here.new_pod("ada").await;
    let mut list = here.events().await;
    list.subscribe_pods("list").await;
    list.wait_for(|frame| frame["type"] == "pods" && frame["snapshot"] == true).await;

    let added = add(&here, "box", &there).await;
    assert_eq!((&added["runtime_id"], &added["kind"]), (&json!("box"), &json!("remote")));
    until_state(&here, "box", "live").await;
    list.wait_for(|frame| frame["upserts"][0]["pod"]["runtime_id"] == "box" && frame["snapshot"] == false).await;
    let both = [("local".to_owned(), "ada".to_owned()), ("box".to_owned(), "bob".to_owned())];
    assert_eq!(names(&here).await, both);
    let first = here.get("/api/v1/pods?limit=1").await.expect(200);
    let next = here.get(&format!("/api/v1/pods?limit=1&after={}", first["next"].as_str().unwrap())).await.expect(200);
    assert_eq!(next["items"][0]["name"], "bob");

    // Commands and their results use our names; a repeated key is the same command.
    let bob = seen(&here, "bob", "box").await;
    let path = format!("{}/input", pod_path(&bob));
    let input = json!({ "segments": [{ "type": "text", "text": "say hello from afar" }] });
    let receipt = here.post_with_key("k1", &path, &input).await.expect(202);
    assert_eq!(here.post_with_key("k1", &path, &input).await.expect(202), receipt);
    let mut socket = here.events().await;
    socket.subscribe("bob", &bob, None).await;
    let snapshot = socket.wait_for(|frame| frame["type"] == "snapshot").await;
    assert_eq!(snapshot["summary"]["pod"], bob["pod"]);
    until_so("it has answered", async || journal(&here, &bob).await.iter().any(is_over)).await;
    let there_bob = there.get("/api/v1/pods/resolve?target=bob").await.expect(200);
    assert_eq!(journal(&here, &bob).await, journal(&there, &json!({ "pod": there_bob })).await);
    let history = here.get(&format!("{}/history", pod_path(&bob))).await.expect(200);
    assert!(history.to_string().contains("hello from afar"));
    let export = here.get(&format!("{}/export?format=markdown", pod_path(&bob))).await;
    assert!(format!("{export:?}").contains("hello from afar"));
    let refused = here.post(&format!("{}/resume", pod_path(&bob)), &json!({})).await;
    assert_eq!(refused.expect_error(409), "not_paused");

    // Pods there are created and become peers, and their records use our names.
    let eve = here.post("/api/v1/pods", &json!({ "name": "eve", "runtime_id": "box" })).await.expect(201);
    assert_eq!(eve["pod"]["runtime_id"], "box");
    let answer = here.post(&format!("{}/peers", pod_path(&bob)), &json!({ "target": "eve@box" })).await.expect(201);
    assert_eq!((&answer["source"], &answer["peer"]), (&bob["pod"], &eve["pod"]));
    let linked = socket.records_until("bob", |record| record["event"]["kind"] == "peer_linked").await;
    assert_eq!(linked.last().unwrap()["event"]["peer"]["runtime_id"], "box");
    let peers = here.get(&format!("{}/peers", pod_path(&bob))).await.expect(200);
    assert_eq!(peers["items"][0]["pod"], eve["pod"]);
    // Twice is once: they were peers already.
    here.post(&format!("{}/peers", pod_path(&bob)), &json!({ "target": "eve@box" })).await.expect(200);

    // It is kept across a restart, readable only by its owner.
    let file = here.launch().data_dir().join("runtimes.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&file).unwrap().contains(there.token()));
    here.restart().await;
    until_state(&here, "box", "live").await;
    seen(&here, "eve", "box").await;

    // The address and the token are never shown.
    let port = there.base_url().rsplit(':').next().unwrap();
    let mut told = here.log().join("\n");
    for path in ["/api/v1/runtimes", "/readyz", "/api/v1/audit", "/api/v1/pods", "/metrics", &pod_path(&bob)] {
        let answer = here.request(reqwest::Method::GET, path).send().await.unwrap();
        told += &format!("{:?}", answer.headers());
        told += &answer.text().await.unwrap();
    }
    assert!(!told.contains(there.token()) && !told.contains(&format!(":{port}")), "{told}");
    for record in journal(&here, &bob).await {
        assert!(!record.to_string().contains(there.token()));
    }

    here.delete("/api/v1/runtimes/box").await.expect(204);
    let own = [("local".to_owned(), "ada".to_owned())];
    assert_eq!(names(&here).await, own);
    assert_eq!(here.get(&pod_path(&bob)).await.expect_error(404), "runtime_not_found");
    assert_eq!(here.delete("/api/v1/runtimes/box").await.expect_error(404), "runtime_not_found");
    assert!(!fs::read_to_string(&file).unwrap().contains(there.token()));
    let audit = here.get("/api/v1/audit").await.expect(200);
    let rows = audit["items"].as_array().unwrap();
    for (action, target) in [("runtime_add", "box"), ("runtime_remove", "box")] {
        assert!(rows.iter().any(|row| row["action"] == action && row["target"] == target && row["result"] == "done"));
    }
    let input = |row: &Value| row["action"] == "input" && row["target"].as_str().unwrap().starts_with("box/");
    assert!(rows.iter().any(input), "{rows:?}");
}

#[tokio::test]
async fn a_stream_goes_on_by_cursor_when_the_other_server_was_killed_in_the_middle() {
    let (here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("bob").await;
    add(&here, "box", &there).await;
    let bob = seen(&here, "bob", "box").await;
    let mut socket = here.events().await;
    socket.subscribe("bob", &bob, None).await;
    let snapshot = socket.wait_for(|frame| frame["type"] == "snapshot").await;
    let mut list = here.events().await;
    list.subscribe_pods("list").await;
    here.say(&bob, "stream 40000 at 1000").await;
    let mut records = snapshot["records"].as_array().unwrap().clone();
    let mut chunks = 0;
    records.extend(
        socket
            .records_until("bob", |record| {
                chunks += usize::from(record["event"]["kind"] == "text_chunk");
                chunks >= 20
            })
            .await,
    );
    there.kill9().await;
    until_state(&here, "box", "unreachable").await;
    let away = |frame: &Value| {
        frame["upserts"].as_array().is_some_and(|pods| {
            pods.iter().any(|pod| pod["pod"]["runtime_id"] == "box" && pod["state"] == "unreachable")
        })
    };
    list.wait_for(away).await;
    // Nobody waits for it: the list is returned, a command is refused at once, a new viewer is told.
    until_so("nobody waits for it", async || {
        let started = Instant::now();
        assert_eq!(seen(&here, "bob", "box").await["state"], "unreachable");
        let refused = here.post(&format!("{}/pause", pod_path(&bob)), &json!({})).await;
        assert_eq!(refused.expect_error(503), "runtime_unavailable");
        started.elapsed() < WAITED_FOR_AWAY
    })
    .await;
    let mut late = here.events().await;
    late.subscribe("late", &bob, None).await;
    late.wait_for(|frame| frame["type"] == "closed" && frame["reason"] == "runtime_unavailable").await;
    let ready = here.get("/readyz").await.expect(200);
    assert!(ready["runtimes"].as_array().unwrap().iter().any(|runtime| runtime["state"] == "unreachable"));

    there.restart_on_same_port().await;
    until_state(&here, "box", "live").await;
    records.extend(socket.records_until("bob", is_over).await);
    assert_in_order(&records);
    // No second snapshot: it continued where it was.
    assert_eq!(socket.seen().iter().filter(|frame| frame["type"] == "snapshot").count(), 1);
    let cursors: Vec<&Value> = socket.seen().iter().filter(|frame| frame["type"] == "records").collect();
    assert!(cursors.windows(2).all(|pair| pair[0]["cursor"] == pair[1]["after"]), "a frame follows the one before it");
    // Everything in the journal that is not a chunk was sent, and nothing else.
    let seqs = |records: &[Value]| -> Vec<i64> {
        let whole = records.iter().filter(|record| !record["event"]["kind"].as_str().unwrap().ends_with("_chunk"));
        whole.map(|record| record["seq"].as_i64().unwrap()).collect()
    };
    let last = records.last().unwrap()["seq"].as_i64().unwrap();
    let kept = seqs(
        &journal(&there, &json!({ "pod": { "runtime_id": "local", "worker_id": bob["pod"]["worker_id"] } })).await,
    );
    assert_eq!(seqs(&records), kept.into_iter().filter(|seq| *seq <= last).collect::<Vec<_>>());
}

async fn viewers_at(yoi: &YoiProcess) -> f64 {
    let text = yoi.request(reqwest::Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let line = text.lines().find(|line| line.starts_with("yoi_viewers ")).unwrap_or_else(|| panic!("{text}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn all_viewers_of_a_pod_share_one_subscription_of_one_socket() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("bob").await;
    add(&here, "box", &there).await;
    let bob = seen(&here, "bob", "box").await;
    let mut sockets: Vec<EventSocket> = Vec::new();
    for _ in 0..5 {
        let mut socket = here.events().await;
        socket.subscribe("bob", &bob, None).await;
        socket.wait_for(|frame| frame["type"] == "snapshot").await;
        sockets.push(socket);
    }
    until_so("one viewer is left there", async || viewers_at(&there).await == 1.0).await;
    here.say(&bob, "stream 50 at 500").await;
    let mut told = Vec::new();
    for socket in &mut sockets {
        let records = socket.records_until("bob", is_over).await;
        assert_in_order(&records);
        told.push(records.last().unwrap().clone());
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(viewers_at(&there).await, 1.0);
    for socket in sockets {
        socket.close().await;
    }
    until_so("nobody looks any more", async || viewers_at(&there).await == 0.0).await;
}

#[tokio::test]
async fn a_name_that_two_runtimes_have_is_asked_back_and_nothing_is_done() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let ada = here.new_pod("ada").await;
    let bob = here.new_pod("bob").await;
    there.new_pod("bob").await;
    there.new_pod("eve").await;
    add(&here, "box", &there).await;
    let far = seen(&here, "bob", "box").await;
    let answer = here.request(reqwest::Method::GET, "/api/v1/pods/resolve?target=bob").send().await.unwrap();
    assert_eq!(answer.status(), 409);
    let problem: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(problem["code"], "ambiguous_name");
    let candidates: Vec<&Value> = problem["candidates"].as_array().unwrap().iter().map(|one| &one["pod"]).collect();
    assert_eq!(candidates, [&bob["pod"], &far["pod"]]);
    assert!(problem["detail"].as_str().unwrap().contains("bob@local or bob@box"), "{problem}");
    let peered = here.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await;
    assert_eq!(peered.expect_error(409), "ambiguous_name");
    assert_eq!(here.get(&format!("{}/peers", pod_path(&ada))).await.expect(200)["items"], json!([]));
    for (target, expected) in [("bob@local", &bob), ("bob@box", &far), ("eve", &seen(&here, "eve", "box").await)] {
        let found = here.get(&format!("/api/v1/pods/resolve?target={target}")).await.expect(200);
        assert_eq!(found, expected["pod"], "{target}");
    }
    let mut command = here.launch().command();
    let output = command.args(["--data", here.launch().data_dir().to_str().unwrap()]);
    let output = output.args(["send", "bob", "say hello"]).output().await.unwrap();
    let sentence = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && sentence.contains("bob@box"), "{sentence}");

    // A viewer of the list sees all of it go, and the name is unambiguous again.
    let mut list = here.events().await;
    list.subscribe_pods("list").await;
    let whole = list.wait_for(|frame| frame["type"] == "pods").await;
    assert_eq!((&whole["snapshot"], whole["upserts"].as_array().unwrap().len()), (&json!(true), 4));
    here.delete("/api/v1/runtimes/box").await.expect(204);
    let gone = list.wait_for(|frame| frame["removed"].as_array().is_some_and(|gone| gone.len() == 2)).await;
    assert!(gone["removed"].as_array().unwrap().contains(&far["pod"]), "{gone}");
    assert_eq!(here.get("/api/v1/pods/resolve?target=bob").await.expect(200), bob["pod"]);
}

#[tokio::test]
async fn what_is_no_server_of_ours_is_refused_with_a_sentence_and_one_that_is_away_is_kept() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let body = |id: &str, url: &str, token: &str| json!({ "runtime_id": id, "url": url, "token": token });
    let refuse = async |body: Value, code: &str, status: u16| {
        let answer = here.post("/api/v1/runtimes", &body).await;
        assert_eq!(answer.expect_error(status), code, "{body}");
    };
    refuse(body("box", there.base_url(), "wrong"), "invalid_input", 400).await;
    refuse(body("self", here.base_url(), here.token()), "invalid_input", 400).await;
    refuse(body("local", there.base_url(), there.token()), "name_taken", 409).await;
    refuse(body("Box", there.base_url(), there.token()), "invalid_input", 400).await;
    refuse(body("box", "unix:/tmp/x", there.token()), "invalid_input", 400).await;
    refuse(body("box", &format!("{}/nowhere", there.base_url()), there.token()), "invalid_input", 400).await;
    refuse(body("box", there.base_url(), ""), "invalid_input", 400).await;
    assert!(runtime(&here, "box").await.is_none());
    add(&here, "box", &there).await;
    refuse(body("box", there.base_url(), there.token()), "name_taken", 409).await;
    refuse(body("box-2", there.base_url(), there.token()), "name_taken", 409).await;
    // Nothing listens on port 1.
    let away = here.post("/api/v1/runtimes", &body("away", "http://127.0.0.1:1", "t")).await.expect(201);
    until_state(&here, "away", "unreachable").await;
    assert!(!away.to_string().contains("127.0.0.1"), "{away}");
    assert!(names(&here).await.is_empty());
}

#[tokio::test]
async fn what_was_seen_of_another_server_is_there_after_a_restart_of_this_one_and_a_key_stays_one_command() {
    let (mut here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let ada = here.new_pod("ada").await;
    there.new_pod("bob").await;
    add(&here, "box", &there).await;
    let bob = seen(&here, "bob", "box").await;
    let input = |pod: &Value| format!("{}/input", pod_path(pod));
    let say = json!({ "segments": [{ "type": "text", "text": "say the striped zebra" }] });
    let first = here.post_with_key("k1", &input(&bob), &say).await.expect(202);
    until_so("it has answered", async || journal(&here, &bob).await.iter().any(is_over)).await;
    let file = here.launch().data_dir().join("runtime-box.seen.json");
    until_so("its list is written down", async || fs::read_to_string(&file).is_ok_and(|text| text.contains("\"bob\"")))
        .await;
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // A server that does not answer in time is left out, and named; it is asked again.
    let mut found = Value::Null;
    until_so("both have said what they found", async || {
        found = here.get("/api/v1/search?q=zebra").await.expect(200);
        found.get("absent").is_none()
    })
    .await;
    assert_eq!(found["items"].as_array().unwrap().len(), 2, "{found}");

    // Both are killed, and only this one comes back.
    there.kill9().await;
    here.kill9().await;
    here.restart().await;
    let away = seen(&here, "bob", "box").await;
    assert_eq!((&away["pod"], &away["state"]), (&bob["pod"], &json!("unreachable")));
    let reason = away["state_reason"].as_str().unwrap();
    assert!(reason.contains("when it was last seen, 20"), "{reason}");
    until_state(&here, "box", "unreachable").await;
    // The first answer is known here, and the key is bound to its command.
    assert_eq!(here.post_with_key("k1", &input(&bob), &say).await.expect(202), first);
    assert_eq!(here.post_with_key("k1", &input(&ada), &say).await.expect_error(422), "key_reused");
    assert_eq!(here.post_with_key("k2", &input(&bob), &say).await.expect_error(503), "runtime_unavailable");
    here.post_with_key("k2", &input(&ada), &say).await.expect(202);
    // Nobody waits for a server that is down, and it is named.
    for path in ["/api/v1/search?q=zebra", "/api/v1/usage", "/api/v1/audit", "/api/v1/rules"] {
        until_so(format!("{path} waits for nobody"), async || {
            let started = Instant::now();
            assert_eq!(here.get(path).await.expect(200)["absent"], json!(["box"]), "{path}");
            started.elapsed() < WAITED_FOR_AWAY
        })
        .await;
    }

    there.restart_on_same_port().await;
    until_state(&here, "box", "live").await;
    until_so("bob is as it is", async || seen(&here, "bob", "box").await["state"] == "idle").await;
    assert_eq!(here.post_with_key("k1", &input(&bob), &say).await.expect(202), first);
    let said = journal(&here, &bob).await.into_iter().filter(|record| record["event"]["command_id"] == "k1");
    assert_eq!(said.filter(|record| record["event"]["kind"] == "user_message").count(), 1);
    let found = here.get("/api/v1/search?q=zebra&runtime=box").await.expect(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 2);
    here.delete("/api/v1/runtimes/box").await.expect(204);
    assert!(!file.exists(), "its list goes with it");
}

/// Answers every request in the same way, and counts the requests.
async fn stranger(answer: String) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = asked.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, asked)
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn the_token_goes_to_the_given_address_alone_and_another_protocol_is_not_spoken() {
    let here = YoiProcess::start(YOI).await;
    let (elsewhere, asked) = stranger(answer("200 OK", "", "{}")).await;
    let (redirecting, _) = stranger(answer("302 Found", &format!("location: {elsewhere}/\r\n"), "")).await;
    let newer = r#"{"protocol":99,"server":"yoi 9","name":"box","store_id":"s"}"#;
    let (newer, _) = stranger(answer("200 OK", "content-type: application/json\r\n", newer)).await;
    let (page, _) = stranger(answer("200 OK", "content-type: text/html\r\n", "<h1>hello</h1>")).await;
    let (down, _) = stranger(answer("502 Bad Gateway", "", "")).await;
    for (url, why) in [(redirecting, "elsewhere"), (newer, "version 99"), (page, "not a yoi")] {
        let body = json!({ "runtime_id": "box", "url": url, "token": "secret" });
        let refused = here.post("/api/v1/runtimes", &body).await.expect(400);
        assert!(refused["detail"].as_str().unwrap().contains(why), "{refused}");
    }
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 0, "a redirect was followed");
    let body = json!({ "runtime_id": "down", "url": down, "token": "secret" });
    let away = here.post("/api/v1/runtimes", &body).await.expect(201);
    assert_eq!(away["runtime_id"], "down", "{away}");
    until_state(&here, "down", "unreachable").await;
}

#[tokio::test]
async fn a_server_with_another_token_or_another_database_is_told_apart() {
    let (here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    add(&here, "box", &there).await;
    let token = there.token().to_owned();
    let launch = there.launch().clone().listen(there.base_url().trim_start_matches("http://"));
    there.restart_as(launch.clone().env("YOI_TOKEN", "another-token")).await;
    until_state(&here, "box", "unauthorized").await;
    let refused = here.post("/api/v1/pods", &json!({ "name": "eve", "runtime_id": "box" })).await;
    assert_eq!(refused.expect_error(503), "runtime_unavailable");
    there.restart_as(launch.clone()).await;
    until_state(&here, "box", "live").await;
    let fresh = Launch::new(YOI).listen(there.base_url().trim_start_matches("http://")).env("YOI_TOKEN", &token);
    there.restart_as(fresh).await;
    until_state(&here, "box", "incompatible").await;
    let detail = runtime(&here, "box").await.unwrap()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("another database"), "{detail}");
}

#[tokio::test]
async fn the_command_line_adds_lists_and_removes_another_server() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("bob").await;
    let token = there.launch().data_dir().join("token");
    let run = async |arguments: &[&str]| {
        let data = here.launch().data_dir().to_str().unwrap().to_owned();
        let output = here.launch().command().args(["--data", &data]).args(arguments).output().await.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &*String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    let (is_done, text) =
        run(&["runtimes", "add", "box", there.base_url(), "--token-file", token.to_str().unwrap()]).await;
    assert!(is_done && text.contains("box added; "), "{text}");
    until_state(&here, "box", "live").await;
    let (_, text) = run(&["runtimes"]).await;
    assert!(text.contains("box") && text.contains("remote") && !text.contains("127.0.0.1"), "{text}");
    let (is_done, text) = run(&["send", "bob", "say hello"]).await;
    assert!(is_done, "{text}");
    let (is_done, text) = run(&["runtimes", "remove", "box"]).await;
    assert!(is_done && text.contains("removed"), "{text}");
    let (is_done, text) = run(&["runtimes", "remove", "box"]).await;
    assert!(!is_done && text.contains("no runtime is called"), "{text}");
}

#[tokio::test]
async fn a_file_goes_along_to_another_server_and_is_shown_from_there() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    there.new_pod("bob").await;
    add(&here, "box", &there).await;
    let bob = seen(&here, "bob", "box").await;
    let keep = |at: &YoiProcess, body: &'static str| {
        at.request(reqwest::Method::POST, "/api/v1/blobs").header("content-type", "text/plain").body(body).send()
    };
    let blob: Value = keep(&here, "words").await.unwrap().json().await.unwrap();
    let segments = json!([{ "type": "file", "blob": blob["blob"], "name": "a.txt" }]);
    here.post(&format!("{}/input", pod_path(&bob)), &json!({ "segments": segments })).await.expect(202);
    until_so("bob was sent it".to_owned(), async || {
        journal(&here, &bob).await.iter().any(|record| record.to_string().contains("file a.txt (5 bytes of text)"))
    })
    .await;
    // What only the other server stores is shown here.
    let theirs: Value = keep(&there, "from there").await.unwrap().json().await.unwrap();
    let path = format!("/api/v1/blobs/{}", theirs["blob"].as_str().unwrap());
    let shown = here.request(reqwest::Method::GET, &path).send().await.unwrap();
    assert_eq!((shown.status().as_u16(), shown.text().await.unwrap().as_str()), (200, "from there"));
}
