//! Two yoi, each with its own database and one Pod: made peers, writing to each other in both directions, and killed at
//! random times.

#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{
    until, until_so,
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
/// The number of rounds.
const ROUNDS: &str = "YOI_CRASH_ROUNDS";
const ROUNDS_BY_DEFAULT: u32 = 10;

/// `here` has the address and the token of `there`, which it calls `box`.
async fn add(here: &YoiProcess, there: &YoiProcess) {
    let body = json!({ "runtime_id": "box", "url": there.base_url(), "token": there.token() });
    here.post("/api/v1/runtimes", &body).await.expect(201);
}

async fn peers(at: &YoiProcess, pod: &Value) -> Vec<Value> {
    at.get(&format!("{}/peers", pod_path(pod))).await.expect(200)["items"].as_array().unwrap().clone()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().map(|record| &record["event"]).filter(|event| event["kind"] == kind).collect()
}

/// Makes the two peers and returns the answer once they are linked. A busy server may first say that it is still in
/// progress.
async fn link(here: &YoiProcess, pod: &Value, target: &str) -> Value {
    let (path, target) = (format!("{}/peers", pod_path(pod)), json!({ "target": target }));
    let answer = here.post(&path, &target).await;
    if answer.status != 202 {
        return answer.expect(201);
    }
    assert_eq!(answer.body["state"], "pending");
    until("they are linked", async || peers(here, pod).await.iter().any(|peer| peer["link"] == "linked").then_some(()))
        .await;
    here.post(&path, &target).await.expect(200)
}

/// The runtime that `there` shows for `here`.
async fn announced(there: &YoiProcess) -> String {
    until("the other server announces itself", async || {
        let runtimes = there.get("/api/v1/runtimes").await.expect(200);
        let runtimes = runtimes["items"].as_array().unwrap().clone();
        let id = |runtime: &Value| runtime["runtime_id"].as_str().unwrap().to_owned();
        runtimes.iter().find(|runtime| runtime["kind"] == "remote" && runtime["state"] == "live").map(id)
    })
    .await
}

#[tokio::test]
async fn two_servers_bring_their_pods_together_and_each_shows_the_other_one() {
    let (here, there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let (ada, bob) = (here.new_pod("ada").await, there.new_pod("bob").await);
    add(&here, &there).await;
    let desk = announced(&there).await;
    let introduced = link(&here, &ada, "bob@box").await;
    assert_eq!((&introduced["state"], &introduced["peer"]["runtime_id"]), (&json!("linked"), &json!("box")));
    let peer = until("it is linked there", async || {
        peers(&there, &bob).await.into_iter().find(|peer| peer["link"] == "linked")
    })
    .await;
    assert_eq!(
        (&peer["name"], &peer["pod"]["runtime_id"], &peer["link"]),
        (&json!("ada"), &json!(desk), &json!("linked"))
    );
    // In both directions, over the one connection.
    let to_bob = json!({ "to": "bob@box", "text": "say hello" });
    let sent = here.post(&format!("{}/messages", pod_path(&ada)), &to_bob).await.expect(202);
    let to_ada = json!({ "to": format!("ada@{desk}"), "text": "say hello back" });
    let back = there.post(&format!("{}/messages", pod_path(&bob)), &to_ada).await.expect(202);
    for (at, pod, id) in [(&here, &ada, &sent["message_id"]), (&there, &bob, &back["message_id"])] {
        until("it is answered", async || {
            let records = at.journal(pod).await;
            let receipts = of_kind(&records, "message_receipt");
            receipts.iter().any(|event| event["message_id"] == *id && event["state"] == "answered").then_some(())
        })
        .await;
    }
    let messages = format!("{}/peers/box/{}/messages", pod_path(&ada), bob["pod"]["worker_id"].as_str().unwrap());
    assert_eq!(here.get(&messages).await.expect(200)["items"].as_array().unwrap().len(), 2);
    // What the relation needs is shown; anything else has to be requested from the Pod's own server.
    let listed = there.get("/api/v1/pods?name=ada").await.expect(200)["items"][0].clone();
    assert_eq!((&listed["pod"]["runtime_id"], &listed["cwd"]), (&json!(desk), &json!("")));
    let refused = there.post(&format!("{}/stop", pod_path(&listed)), &json!({})).await;
    assert_eq!(refused.expect_error(400), "invalid_input");
    // Ended by the side that makes no connections.
    let address = format!("{}/peers/{desk}/{}", pod_path(&bob), ada["pod"]["worker_id"].as_str().unwrap());
    there.delete(&address).await.expect(204);
    until("it has ended here, too", async || peers(&here, &ada).await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn an_unanswered_peer_request_is_pending_and_can_be_withdrawn_and_settles_when_the_other_is_back() {
    let (here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let (ada, bob) = (here.new_pod("ada").await, there.new_pod("bob").await);
    add(&here, &there).await;
    announced(&there).await;
    let path = format!("{}/peers", pod_path(&ada));
    let asked = json!({ "name": "asks", "peer_policy": "ask" });
    let asks = there.post("/api/v1/pods", &asked).await.expect(201);
    let pending = here.post(&path, &json!({ "target": "asks@box" })).await.expect(202);
    assert_eq!(pending["state"], "pending");
    let peer = until("it is asked there", async || peers(&there, &asks).await.into_iter().next()).await;
    assert_eq!((&peer["link"], &peer["is_asked"]), (&json!("pending"), &json!(true)));
    let address = format!("{path}/box/{}", asks["pod"]["worker_id"].as_str().unwrap());
    here.delete(&address).await.expect(204);
    until("it is withdrawn there", async || peers(&there, &asks).await.is_empty().then_some(())).await;
    // Linked, then down: a message is kept, and arrives when the other side is back.
    link(&here, &ada, "bob@box").await;
    there.kill9().await;
    let kept = json!({ "to": "bob@box", "text": "say late" });
    let sent = here.post(&format!("{}/messages", pod_path(&ada)), &kept).await.expect(202);
    there.restart_on_same_port().await;
    until("it has come", async || {
        let records = there.journal(&bob).await;
        let messages = of_kind(&records, "peer_message");
        messages.iter().any(|event| event["message_id"] == sent["message_id"]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_server_that_added_this_one_and_falls_silent_is_forgotten_and_is_back_when_it_speaks() {
    let launch = Launch::new(YOI);
    let config = launch.work_dir().join("config.toml");
    std::fs::write(&config, "forget_after_s = 1\n").unwrap();
    let there = launch.arg("--config").arg(config.to_str().unwrap()).start().await;
    let (mut here, mut friend) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    add(&here, &there).await;
    let desk = announced(&there).await;
    add(&friend, &there).await;
    let known = async || -> Vec<String> {
        let runtimes = there.get("/api/v1/runtimes").await.expect(200);
        let items = runtimes["items"].as_array().unwrap().iter();
        items.map(|one| one["runtime_id"].as_str().unwrap().to_owned()).filter(|id| id != "local").collect()
    };
    let shop =
        until("the second one announces itself", async || known().await.into_iter().find(|id| *id != desk)).await;
    // A Pod there is a peer of one of the second server: that server stays listed, so that people see why it does not
    // answer.
    let (_, bob) = (friend.new_pod("ada").await, there.new_pod("bob").await);
    let ada = friend.get("/api/v1/pods?name=ada").await.expect(200)["items"][0].clone();
    link(&friend, &ada, "bob@box").await;
    here.kill9().await;
    friend.kill9().await;
    until("the first one is forgotten", async || (known().await == [shop.as_str()]).then_some(())).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    until("the second one is known to be away", async || {
        (peers(&there, &bob).await[0]["state"] == "unreachable").then_some(())
    })
    .await;
    assert_eq!(known().await, [shop.as_str()], "the one that bob knows somebody in");
    here.restart().await;
    friend.restart().await;
    until("both are back", async || {
        let known = known().await;
        (known.contains(&desk) && known.contains(&shop)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_pod_that_asks_is_asked_by_its_own_server_even_if_the_far_one_is_named_first() {
    let (here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    let asks = here.post("/api/v1/pods", &json!({ "name": "asks", "peer_policy": "ask" })).await.expect(201);
    let asks = json!({ "pod": asks["pod"] });
    let bob = there.new_pod("bob").await;
    let shy = there.post("/api/v1/pods", &json!({ "name": "shy", "peer_policy": "ask" })).await.expect(201);
    add(&here, &there).await;
    announced(&there).await;
    let of_box = |pod: &Value| json!({ "pod": { "runtime_id": "box", "worker_id": pod["pod"]["worker_id"] } });
    let path = format!("{}/peers", pod_path(&of_box(&bob)));
    let target = json!({ "target": "asks" });
    let pending = here.post(&path, &target).await.expect(202);
    assert_eq!((&pending["state"], &pending["peer"]), (&json!("pending"), &asks["pod"]));
    let id = pending["request_id"].as_str().unwrap().to_owned();
    let open = here.get("/api/v1/requests?runtime=local").await.expect(200)["items"][0].clone();
    assert_eq!(
        (&open["request_id"], &open["from_name"], &open["to_name"]),
        (&json!(id), &json!("bob"), &json!("asks"))
    );
    until("it is shown there", async || {
        peers(&there, &bob).await.first().filter(|peer| peer["link"] == "pending" && peer["is_asked"] != true).cloned()
    })
    .await;
    let decide = format!("{}/peers/requests/{id}", pod_path(&asks));
    here.post(&decide, &json!({ "decision": "accept" })).await.expect(200);
    until("they know each other there, too", async || {
        peers(&there, &bob).await.first().filter(|peer| peer["link"] == "linked").cloned()
    })
    .await;
    // If both policies are `ask`, neither of the two is bypassed; the sentence says what to do.
    let refused = here.post(&format!("{}/peers", pod_path(&of_box(&shy))), &target).await.expect(409);
    assert_eq!(refused["code"], "peer_refused");
    assert!(refused["detail"].as_str().unwrap().contains("send it a peer request from \"asks\" instead"), "{refused}");

    // A request made while the other server is down waits for it, from either side of the pair.
    let (ada, eve) = (here.new_pod("ada").await, there.new_pod("eve").await);
    until("eve is seen", async || {
        let listing = here.get("/api/v1/pods?name=eve").await.expect(200);
        (!listing["items"].as_array().unwrap().is_empty()).then_some(())
    })
    .await;
    there.kill9().await;
    until("it is away", async || {
        let runtimes = here.get("/api/v1/runtimes").await.expect(200);
        let items = runtimes["items"].as_array().unwrap().clone();
        items.iter().any(|one| one["runtime_id"] == "box" && one["state"] == "unreachable").then_some(())
    })
    .await;
    let to_eve = here.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "eve@box" })).await.expect(202);
    assert_eq!(to_eve["state"], "pending");
    let from_eve = here.post(&format!("{}/peers", pod_path(&of_box(&eve))), &target).await.expect(202);
    assert_eq!(peers(&here, &ada).await[0]["link"], "pending");
    there.restart_on_same_port().await;
    until("ada knows eve", async || peers(&here, &ada).await.first().filter(|peer| peer["link"] == "linked").cloned())
        .await;
    let withdrawn = format!("{}/peers/box/{}", pod_path(&asks), eve["pod"]["worker_id"].as_str().unwrap());
    until("both wait", async || {
        peers(&there, &eve).await.iter().any(|peer| peer["request_id"] == from_eve["request_id"]).then_some(())
    })
    .await;
    here.delete(&withdrawn).await.expect(204);
    until("it is withdrawn there, too", async || {
        peers(&there, &eve).await.iter().all(|peer| peer["link"] == "linked").then_some(())
    })
    .await;
}

#[tokio::test]
async fn whichever_of_two_servers_is_killed_at_whatever_instant_both_agree_and_no_message_is_lost_or_doubled() {
    let rounds = std::env::var(ROUNDS).map_or(ROUNDS_BY_DEFAULT, |count| count.parse().unwrap());
    let (mut here, mut there) = (YoiProcess::start(YOI).await, YoiProcess::start(YOI).await);
    add(&here, &there).await;
    announced(&there).await;
    for round in 0..rounds {
        let (ada, bob) = (here.new_pod(&format!("ada{round}")).await, there.new_pod(&format!("bob{round}")).await);
        let mut told = Told::default();
        let millis = RandomState::new().hash_one(round) % 900;
        let die_first = round % 3;
        {
            let playing = play(&here, &there, &ada, &bob, round, &mut told);
            let _ = tokio::time::timeout(Duration::from_millis(millis), playing).await;
        }
        // One, the other, or both.
        if die_first != 1 {
            here.kill9().await;
        }
        if die_first != 0 {
            there.kill9().await;
        }
        if die_first != 1 {
            here.restart().await;
        }
        if die_first != 0 {
            there.restart_on_same_port().await;
        }
        check(&here, &there, &ada, &bob, &told, &format!("round {round}, after {millis} ms")).await;
    }
}

#[tokio::test]
async fn a_peer_that_says_nonsense_is_refused_and_harms_nothing() {
    let yoi = YoiProcess::start(YOI).await;
    let bob = yoi.new_pod("bob").await;
    let worker_id = bob["pod"]["worker_id"].as_str().unwrap();
    let say = async |changes: Value| {
        let mut body = json!({ "protocol": 1, "store_id": "stranger", "name": "evil", "after": 0, "items": [] });
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        yoi.post("/api/v1/link", &body).await
    };
    let message = |seq: i64, to: &str, text: &str| {
        let item = json!({ "kind": "message", "message_id": "m-1", "from": "x", "to": to, "text": text, "hops": 0 });
        json!({ "seq": seq, "item": item })
    };
    let own = yoi.get("/api/v1/about").await.expect(200)["store_id"].clone();
    for wrong in [
        json!({ "protocol": 99 }),
        json!({ "store_id": own }),
        json!({ "store_id": "no such thing" }),
        json!({ "name": "NOT AN ID" }),
        json!({ "items": [{ "seq": 1, "item": { "kind": "surprise", "handshake": "h" } }] }),
        json!({ "items": [message(2, worker_id, "hi")] }),
        json!({ "items": [message(1, "no such id!", "hi")] }),
    ] {
        assert_eq!(say(wrong.clone()).await.expect_error(400), "invalid_input", "{wrong}");
    }
    assert_eq!(say(json!({ "after": 5 })).await.expect_error(410), "cursor_expired");
    let long = "x".repeat(65_537);
    assert_eq!(say(json!({ "items": [message(1, worker_id, &long)] })).await.expect_error(413), "payload_too_large");
    // Well-formed items without effect are accepted, and answered.
    let answer = say(json!({ "items": [message(1, worker_id, "hi"), message(2, "nobody", "hi")] })).await.expect(200);
    assert_eq!((&answer["taken"], &answer["runtime_id"]), (&json!(2), &json!("evil")));
    let codes: Vec<_> = answer["items"].as_array().unwrap().iter().map(|item| item["item"]["code"].clone()).collect();
    assert_eq!(codes, ["not_visible", "pod_not_found"]);
    let again = say(json!({ "after": 2, "items": [message(1, worker_id, "hi")] })).await.expect(200);
    assert_eq!((&again["taken"], &again["items"]), (&json!(2), &json!([])));
    assert_eq!(of_kind(&yoi.journal(&bob).await, "peer_message"), Vec::<&Value>::new());
    let client = reqwest::Client::new();
    let stranger = client.post(format!("{}/api/v1/link", yoi.base_url())).json(&json!({})).send().await.unwrap();
    assert_eq!(stranger.status(), 401);
}

/// What was acknowledged before the kill.
#[derive(Default)]
struct Told {
    /// Ids of messages, and whether ada sent them.
    sent: Vec<(bool, String)>,
}

async fn play(here: &YoiProcess, there: &YoiProcess, ada: &Value, bob: &Value, round: u32, told: &mut Told) {
    let target = json!({ "target": format!("bob{round}@box") });
    let desk = announced(there).await;
    let path = format!("{}/peers", pod_path(ada));
    until_so("they are introduced", async || here.post(&path, &target).await.status / 100 == 2).await;
    for number in 0.. {
        let to_bob = json!({ "to": format!("bob{round}@box"), "text": format!("say {number}") });
        let sent = here.post(&format!("{}/messages", pod_path(ada)), &to_bob).await;
        if let Some(id) = sent.body["message_id"].as_str() {
            told.sent.push((true, id.to_owned()));
        }
        let to_ada = json!({ "to": format!("ada{round}@{desk}"), "text": format!("say {number}") });
        let sent = there.post(&format!("{}/messages", pod_path(bob)), &to_ada).await;
        if let Some(id) = sent.body["message_id"].as_str() {
            told.sent.push((false, id.to_owned()));
        }
        if number == 10 {
            // Beyond this, the pace of a pair holds messages.
            return;
        }
    }
}

async fn check(here: &YoiProcess, there: &YoiProcess, ada: &Value, bob: &Value, told: &Told, what: &str) {
    let links = async |at: &YoiProcess, pod: &Value| -> Vec<String> {
        peers(at, pod).await.iter().map(|peer| peer["link"].as_str().unwrap().to_owned()).collect()
    };
    // Both or neither.
    let agreed = until(&format!("{what}: both agree"), async || {
        let (one, other) = (links(here, ada).await, links(there, bob).await);
        (one == other && !one.contains(&"pending".to_owned())).then_some(one)
    })
    .await;
    assert!(agreed.is_empty() || agreed == ["linked"], "{what}: {agreed:?}");
    // What was acknowledged is there.
    until(&format!("{what}: all has come"), async || {
        let (of_ada, of_bob) = (here.journal(ada).await, there.journal(bob).await);
        let come = |records: &[Value]| -> BTreeSet<String> {
            of_kind(records, "peer_message")
                .iter()
                .map(|event| event["message_id"].as_str().unwrap().to_owned())
                .collect()
        };
        let (at_ada, at_bob) = (come(&of_ada), come(&of_bob));
        told.sent
            .iter()
            .all(|(to_bob, id)| if *to_bob { at_bob.contains(id) } else { at_ada.contains(id) })
            .then_some(())
    })
    .await;
    // Nothing is there twice, and the receipts of each message are in order.
    for (at, pod) in [(here, ada), (there, bob)] {
        let records = at.journal(pod).await;
        let ids: Vec<_> = of_kind(&records, "peer_message").iter().map(|event| event["message_id"].clone()).collect();
        let distinct: BTreeSet<String> = ids.iter().map(Value::to_string).collect();
        assert_eq!(distinct.len(), ids.len(), "{what}");
        for id in told.sent.iter().map(|(_, id)| id) {
            let receipts = of_kind(&records, "message_receipt");
            let ranks = receipts.iter().filter(|event| event["message_id"] == *id).map(|event| {
                ["sent", "stored", "read", "answered"].iter().position(|state| event["state"] == *state).unwrap()
            });
            let ranks: Vec<usize> = ranks.collect();
            assert!(ranks.is_sorted() && ranks.iter().filter(|rank| **rank > 1).count() <= 2, "{what}: {ranks:?}");
        }
    }
}
