//! Two servers, one of which has added the other: keys, and lists with items from both.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::{Duration, Instant};

use testkit::until_so;

use common::{Server, TOKEN, code, pod_path, quickest_of};
use reqwest::Method;
use serde_json::{Value, json};

/// `there` is what `here` calls `box`.
async fn two() -> (Server, Server) {
    let (here, there) = (Server::start().await, Server::start().await);
    let url = format!("http://{}", there.address);
    let body = json!({ "runtime_id": "box", "url": url, "token": TOKEN });
    let (status, added) = here.post("/api/v1/runtimes", body).await;
    assert_eq!(status, 201, "{added}");
    until(&here, |state| state == "live").await;
    (here, there)
}

/// Waits until the other server is in this state.
async fn until(here: &Server, is_so: impl Fn(&Value) -> bool) {
    until_so("the other server is in the state", async || {
        let (_, list) = here.get("/api/v1/runtimes").await;
        list["items"].as_array().unwrap().iter().any(|one| one["runtime_id"] == "box" && is_so(&one["state"]))
    })
    .await;
}

/// A list with items from both. A server that is too busy to answer in time is named, and asked again.
async fn of_both(here: &Server, path: &str) -> Value {
    testkit::until(format!("the other one has its part in {path}"), async || {
        let (status, page) = here.get(path).await;
        assert_eq!(status, 200, "{page}");
        page.get("absent").is_none().then_some(page)
    })
    .await
}

async fn with_key(server: &Server, method: Method, path: &str, key: &str, body: Value) -> (u16, Value) {
    common::answer(server.request(method, path).header("Idempotency-Key", key).json(&body)).await
}

/// Creates a Pod there; returns its path here.
async fn far_pod(here: &Server, name: &str) -> String {
    let (status, pod) = here.post("/api/v1/pods", json!({ "name": name, "runtime_id": "box" })).await;
    assert_eq!(status, 201, "{pod}");
    pod_path(&pod["pod"])
}

fn say(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }], "queue": true })
}

/// The other server no longer answers.
async fn gone(here: &Server, there: Server) {
    there.end().await;
    until(here, |state| state != "live").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_one_command_over_all_runtimes_and_keeps_its_answer_when_its_runtime_is_away() {
    let (here, there) = two().await;
    let (ada, bob) = (here.pod("ada").await, far_pod(&here, "bob").await);
    let input = |pod: &str| format!("{pod}/input");
    let post =
        async |key: &str, pod: &str, text: &str| with_key(&here, Method::POST, &input(pod), key, say(text)).await;

    let first = post("k", &bob, "say one").await;
    assert_eq!(first.0, 202, "{first:?}");
    assert_eq!(post("k", &bob, "say one").await, first);
    for (pod, text) in [(&ada, "say one"), (&bob, "say two")] {
        assert_eq!(code(&post("k", pod, text).await), (422, "key_reused"));
    }
    let delete = with_key(&here, Method::POST, &format!("{bob}/stop"), "k", json!({})).await;
    assert_eq!(code(&delete), (422, "key_reused"));
    assert_eq!(post("l", &ada, "say one").await.0, 202);
    assert_eq!(code(&post("l", &bob, "say one").await), (422, "key_reused"));
    let create = async |at: &str, key: &str| {
        let body = json!({ "name": "eve", "runtime_id": at });
        with_key(&here, Method::POST, "/api/v1/pods", key, body).await
    };
    let eve = create("box", "m").await;
    assert_eq!((eve.0, &eve.1["pod"]["runtime_id"]), (201, &json!("box")));
    assert_eq!(create("box", "m").await, eve);
    assert_eq!(code(&create("local", "m").await), (422, "key_reused"));

    // A refusal leaves no trace of its key.
    let refused = with_key(&here, Method::POST, &format!("{bob}/resume"), "n", json!({})).await;
    assert_eq!(code(&refused), (409, "not_paused"));
    assert_eq!(post("n", &ada, "say one").await.0, 202);

    // Two at once are one command.
    let (one, other) = tokio::join!(post("o", &bob, "say three"), post("o", &bob, "say three"));
    assert_eq!((one.0, &one), (202, &other));
    let said = here.records(&bob, "user_message").await;
    assert_eq!(said.iter().filter(|event| event["command_id"] == "o").count(), 1, "{said:?}");

    // A peer that was added there keeps its answer, too.
    let peers = async |key: &str| {
        let body = json!({ "target": "eve@box" });
        with_key(&here, Method::POST, &format!("{bob}/peers"), key, body).await
    };
    assert_eq!(peers("p").await.0, 201);
    gone(&here, there).await;
    assert_eq!(post("k", &bob, "say one").await, first, "the first answer");
    assert_eq!(code(&post("k", &ada, "say one").await), (422, "key_reused"));
    assert_eq!(peers("p").await.1["state"], "linked");
    // One that was never sent is not bound to anything.
    assert_eq!(code(&post("q", &bob, "say one").await), (503, "runtime_unavailable"));
    assert_eq!(post("q", &ada, "say one").await.0, 202);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn search_usage_audit_and_rules_cover_all_runtimes_and_name_absent_ones() {
    let (here, there) = two().await;
    let (ada, bob) = (here.pod("ada").await, far_pod(&here, "bob").await);
    for round in 0..3 {
        here.say(&ada, &format!("say zebra {round}")).await;
        here.say(&bob, &format!("say zebra {round}")).await;
    }
    let names = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items
            .iter()
            .map(|hit| format!("{}@{}", hit["name"].as_str().unwrap(), hit["pod"]["runtime_id"].as_str().unwrap()))
            .collect()
    };
    let all = of_both(&here, "/api/v1/search?q=zebra").await;
    assert_eq!((names(&all).len(), &all["next"]), (12, &Value::Null));
    assert_eq!(names(&all)[..4], ["bob@box", "bob@box", "ada@local", "ada@local"], "the newest first");
    // Pages of any size add up to the same list.
    for limit in [1, 5] {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let page = of_both(&here, &format!("/api/v1/search?q=zebra&limit={limit}{after}")).await;
            found.extend(page["items"].as_array().unwrap().clone());
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        assert_eq!(json!(found), all["items"]);
    }
    let (_, far) = here.get("/api/v1/search?q=zebra&runtime=box").await;
    assert!(names(&far).iter().all(|name| name == "bob@box") && names(&far).len() == 6);
    assert_eq!(names(&here.get("/api/v1/search?q=zebra&runtime=local").await.1).len(), 6);
    assert_eq!(code(&here.get("/api/v1/search?q=zebra&runtime=nowhere").await), (404, "runtime_not_found"));
    assert_eq!(code(&here.get("/api/v1/search?q=zebra&after=box.x").await), (400, "cursor_invalid"));

    let report = of_both(&here, "/api/v1/usage").await;
    let (_, own) = here.get("/api/v1/usage?runtime=local").await;
    let (_, theirs) = there.get("/api/v1/usage").await;
    let sum = |field: &str| own["total"][field].as_u64().unwrap() + theirs["total"][field].as_u64().unwrap();
    for field in ["input", "output"] {
        assert_eq!(report["total"][field], sum(field), "{field}");
        // Two days, if midnight falls in between.
        let days = report["days"].as_array().unwrap().iter().map(|day| day[field].as_u64().unwrap());
        assert_eq!(days.sum::<u64>(), sum(field), "{field}");
    }
    assert_eq!(report["pods"].as_array().unwrap().len(), 2);

    let address = bob.strip_prefix("/api/v1/runtimes/").unwrap().replace("/workers/", "/");
    let rows = of_both(&here, &format!("/api/v1/audit?target={address}&action=input")).await;
    let whose: Vec<&str> =
        rows["items"].as_array().unwrap().iter().map(|row| row["runtime_id"].as_str().unwrap()).collect();
    assert_eq!(whose.iter().filter(|id| **id == "box").count(), 3, "{rows}");
    assert_eq!(whose.iter().filter(|id| **id == "local").count(), 3, "who asked here stands here");
    assert!(rows["items"].as_array().unwrap().iter().all(|row| row["target"] == address.as_str()), "{rows}");

    let rule = json!({ "permissions": [{ "tool": "Bash", "decision": "deny" }] });
    assert_eq!(common::answer(here.request(Method::PATCH, &bob).json(&rule)).await.0, 200);
    let rules = of_both(&here, "/api/v1/rules").await;
    assert_eq!(names(&rules), ["bob@box"]);

    gone(&here, there).await;
    for path in ["/api/v1/search?q=zebra", "/api/v1/usage", "/api/v1/audit", "/api/v1/rules"] {
        // A caller waits up to two seconds for a server that is down, each time; a busy machine is only occasionally
        // that slow.
        let quickest = quickest_of(20, async || {
            let (status, page) = here.get(path).await;
            assert_eq!((status, &page["absent"]), (200, &json!(["box"])), "{path}: {page}");
        });
        assert!(quickest.await < Duration::from_secs(2), "nobody waits for it: {path}");
    }
    assert_eq!(names(&here.get("/api/v1/search?q=zebra").await.1).len(), 6);
    assert_eq!(code(&here.get("/api/v1/search?q=zebra&runtime=box").await), (503, "runtime_unavailable"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_announced_itself_and_fell_silent_is_forgotten_unless_a_pod_here_has_a_peer_there() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let card = json!({ "worker_id": "w1", "name": "bob", "state": "idle", "provider": "p", "model": "m",
        "created_at": "2026-11-21T00:00:00Z", "needs_you": false, "children": 0 });
    let propose = json!([{ "seq": 1, "item": { "kind": "propose", "handshake": "h-1", "from": card,
        "to": ada.rsplit('/').next().unwrap(), "by": "operator" } }]);
    let speak = async |store: &str, items: Value| {
        let exchange = json!({ "protocol": 1, "store_id": store, "name": store, "after": 0, "items": items });
        let (status, told) = server.post("/api/v1/link", exchange).await;
        assert_eq!(status, 200, "{told}");
    };
    let runtimes = async || -> Vec<String> {
        let (_, list) = server.get("/api/v1/runtimes").await;
        list["items"].as_array().unwrap().iter().map(|one| one["runtime_id"].as_str().unwrap().to_owned()).collect()
    };
    // A server counts as silent 5 s after its last message.
    loop {
        let begun = Instant::now();
        speak("stranger", json!([])).await;
        speak("friend", propose.clone()).await;
        server.backend.links().forget_silent(Duration::ZERO).await;
        let known = runtimes().await;
        // Unless this test was delayed for that long.
        if begun.elapsed() < Duration::from_secs(5) {
            assert_eq!(known, ["local", "friend", "stranger"], "both spoke a moment ago");
            break;
        }
    }
    until_so("who is silent is forgotten", async || {
        server.backend.links().forget_silent(Duration::from_secs(600)).await;
        assert_eq!(runtimes().await, ["local", "friend", "stranger"], "not for as long");
        server.backend.links().forget_silent(Duration::ZERO).await;
        runtimes().await == ["local", "friend"]
    })
    .await;
    speak("stranger", json!([])).await;
    assert_eq!(runtimes().await, ["local", "friend", "stranger"], "it speaks again");
}
