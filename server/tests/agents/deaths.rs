//! What an agent, its server or both leave behind when they are killed, and what an idle agent costs.

use serde_json::json;
use testkit::{
    processes_below,
    yoi::{pod_path, until},
};

use crate::house::{House, kill9, of_kind, texts, watch};

/// Whether the list of agents says that the scripted one is running.
async fn runs(house: &House) -> bool {
    let listed = house.yoi.get("/api/v1/agents").await.expect(200);
    listed["items"].as_array().unwrap().iter().any(|item| item["name"] == "scripted" && item["state"] == "running")
}

#[tokio::test]
async fn an_agent_that_is_killed_pauses_its_pod_and_comes_back_without_saying_anything_twice() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    house.said(&pod, "hello").await;
    let events = house.said(&pod, "die").await;
    assert_eq!(texts(&events), ["my last words"], "what was seen is there");
    assert_eq!(of_kind(&events, "tool_finished")[0]["code"], "cancelled");
    assert_eq!(of_kind(&events, "run_finished")[0]["outcome"], "interrupted");
    let detail = house.in_state(&pod, "paused").await;
    let reason = detail["state_reason"].as_str().unwrap();
    assert!(reason.contains("scripted is gone") && reason.contains("signal 9"), "{reason}");

    let from = house.events(&pod).await.len();
    house.yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], true);
    assert_eq!((house.logged("load ").len(), texts(&events).len()), (1, 1), "what is loaded is not said again");
    assert_eq!(house.events(&pod).await.iter().filter(|event| event["text"] == "You said: hello").count(), 1);

    // At rest as well: the next message starts it again.
    let pid = house.pid();
    kill9(pid);
    until("it is gone", async || (!House::is_running(pid)).then_some(())).await;
    until("yoi has noticed it", async || (!runs(&house).await).then_some(())).await;
    assert_eq!(texts(&house.said(&pod, "back").await), ["You said: back"]);
    assert_eq!(house.logged("load ").len(), 2);
}

#[tokio::test]
async fn a_killed_server_takes_its_agents_with_it_and_goes_on_by_load() {
    let mut house = House::open().await;
    let pod = house.pod("ada").await;
    let mut viewer = watch(&house.yoi, &pod).await;
    house.yoi.say(&pod, "hang").await;
    viewer
        .records_until("a", |record| record["event"]["text"].as_str().is_some_and(|text| text.contains("wait.")))
        .await;
    let pid = house.pid();
    assert!(House::is_running(pid));
    house.yoi.kill9().await;
    until("the agent ends with its server", async || (!House::is_running(pid)).then_some(())).await;
    house.yoi.restart().await;
    let detail = house.in_state(&pod, "paused").await;
    assert!(detail["state_reason"].as_str().unwrap().contains("interrupted"), "{detail}");
    assert_eq!(texts(&house.events(&pod).await), ["I begin, and wait."]);
    let from = house.events(&pod).await.len();
    house.yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], true);
    assert_eq!(of_kind(&events, "run_finished")[0]["outcome"], "completed");
}

#[tokio::test]
async fn an_agent_that_cannot_load_says_so_and_begins_anew() {
    let house = House::with("AGENT_CANNOT_LOAD = \"1\",", "").await;
    let pod = house.pod("ada").await;
    house.said(&pod, "die").await;
    house.in_state(&pod, "paused").await;
    let from = house.events(&pod).await.len();
    house.yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], false);
    let alert = of_kind(&events, "alert")[0];
    assert!(alert["text"].as_str().unwrap().contains("cannot load a session"), "{alert}");
    let session = &house.detail(&pod).await["session"];
    assert_eq!(session["forgets"], true);
    assert!(session["beyond"][0].as_str().unwrap().contains("cannot load a session"), "its card says so: {session}");
}

#[tokio::test]
async fn an_agent_and_its_server_are_killed_at_the_same_time_and_nothing_is_lost_or_said_twice() {
    let mut house = House::open().await;
    let pod = house.pod("ada").await;
    house.said(&pod, "hello").await;
    let mut viewer = watch(&house.yoi, &pod).await;
    house.yoi.say(&pod, "hang").await;
    viewer
        .records_until("a", |record| record["event"]["text"].as_str().is_some_and(|text| text.contains("wait.")))
        .await;
    kill9(house.pid());
    house.yoi.kill9().await;
    house.yoi.restart().await;
    house.in_state(&pod, "paused").await;
    assert_eq!(texts(&house.events(&pod).await), ["You said: hello", "I begin, and wait."]);
    let from = house.events(&pod).await.len();
    house.yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], true);
    assert_eq!((house.logged("new ").len(), house.logged("load ").len()), (1, 1), "it is the same session");
    let said = house.events(&pod).await;
    assert_eq!(texts(&said).iter().filter(|text| **text == "You said: hello").count(), 1);
}

#[tokio::test]
async fn an_agent_at_rest_costs_no_process_and_comes_back_by_load() {
    let house = House::with("", "idle_s = 1").await;
    let pod = house.pod("ada").await;
    let server = house.yoi.pid().unwrap();
    let before = processes_below(server);
    house.said(&pod, "hello").await;
    let pid = house.pid();
    until("its process has ended", async || (!House::is_running(pid)).then_some(())).await;
    // What looks after the folder's git state may have been there only at the beginning.
    until("nothing of it is left", async || (processes_below(server) <= before).then_some(())).await;
    assert_eq!(house.detail(&pod).await["state"], "idle");
    until("none is running", async || (!runs(&house).await).then_some(())).await;
    let events = house.said(&pod, "and again").await;
    assert_eq!(texts(&events), ["You said: and again"]);
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], true);
    assert_eq!((house.logged("new ").len(), house.logged("load ").len()), (1, 1));
}
