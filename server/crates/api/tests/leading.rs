//! A Pod with children, seen from outside: what it lends, which Pods it sees, and how its tree is restored.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, pod_path};
use serde_json::{Value, json};

/// A Pod with two folders in its working directory; returns its path, and the folders.
async fn lender(server: &Server) -> (String, String, String) {
    let pod = server.pod("ada").await;
    let cwd = server.get(&pod).await.1["cwd"].as_str().unwrap().to_owned();
    let folder = |name: &str| {
        let path = format!("{cwd}/{name}");
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    (pod, folder("left"), folder("right"))
}

async fn tool(server: &Server, pod: &str, name: &str, arguments: Value) -> Value {
    let (status, answer) = server.post(&format!("{pod}/tools/{name}"), json!({ "arguments": arguments })).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

fn spawn(name: &str, path: &str) -> Value {
    json!({ "name": name, "task": "say hello", "scope": [{ "path": path, "access": "write" }] })
}

/// The only entry of a list with this name.
fn named(list: &Value, name: &str) -> Value {
    let mut found = list.as_array().unwrap().iter().filter(|item| item["name"] == name);
    let item = found.next().cloned().unwrap_or_else(|| panic!("{name} is not in {list}"));
    assert!(found.next().is_none(), "{name} is twice in {list}");
    item
}

#[tokio::test]
async fn a_child_is_on_its_parents_page_and_in_its_sight_with_what_is_lent_to_it() {
    let server = Server::start().await;
    let (pod, left, _) = lender(&server).await;
    let spawned = tool(&server, &pod, "SpawnPod", spawn("kid", &left)).await;
    assert_eq!(spawned["is_error"], false, "{spawned}");
    let loan = json!([{ "path": left, "access": "write", "recursive": true }]);

    let detail = server.get(&pod).await.1;
    let child = named(&detail["children"], "kid");
    assert_eq!((&child["scope"], &detail["relations"]["children"]), (&loan, &json!(1)));
    let kid = pod_path(&child["pod"]);
    assert_eq!(server.get(&kid).await.1["relations"]["parent"], detail["pod"]);
    let visible = server.get(&format!("{pod}/visible")).await.1;
    let seen = named(&visible["items"], "kid");
    assert_eq!((&seen["visibility"], &seen["scope"]), (&json!(["spawned_child"]), &loan));
    assert_eq!(named(&visible["items"], "ada")["visibility"], json!(["self"]));
    let own = server.get(&format!("{kid}/visible")).await.1;
    assert_eq!(own["items"].as_array().unwrap().len(), 1, "a child does not see who leads it: {own}");
    assert_eq!(server.records(&pod, "child_spawned").await[0]["scope"], loan);
}

#[tokio::test]
async fn what_a_pod_tool_refuses_has_its_own_code() {
    let server = Server::start().await;
    let (pod, left, right) = lender(&server).await;
    server.pod("stranger").await;
    assert_eq!(tool(&server, &pod, "SpawnPod", spawn("kid", &left)).await["is_error"], false);
    let below = format!("{left}/below");
    std::fs::create_dir(&below).unwrap();
    for (name, arguments, expected) in [
        ("SpawnPod", json!({ "name": "x" }), "invalid_input"),
        ("SpawnPod", spawn("x", "left"), "invalid_input"),
        ("SpawnPod", spawn("x", "/usr"), "scope_not_held"),
        ("SpawnPod", spawn("x", &below), "scope_conflict"),
        ("SpawnPod", spawn("kid", &right), "name_taken"),
        ("SendToPod", json!({ "name": "stranger", "message": "say x" }), "not_visible"),
        ("SendToPod", json!({ "name": "nobody", "message": "say x" }), "not_visible"),
        ("SendToPod", json!({ "name": "ada", "message": "say x" }), "permission_denied"),
        ("StopPod", json!({ "name": "ada" }), "permission_denied"),
        ("ListPods", json!({ "all": true }), "invalid_input"),
    ] {
        let answer = tool(&server, &pod, name, arguments.clone()).await;
        let outcome = (&answer["is_error"], &answer["code"]);
        assert_eq!(outcome, (&json!(true), &json!(expected)), "{name} {arguments}: {answer}");
    }
    assert_eq!(server.get(&pod).await.1["children"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_tree_is_restored_in_one_step_with_its_loans_and_a_line_for_each_pod() {
    let server = Server::start().await;
    let (pod, left, right) = lender(&server).await;
    for (name, folder) in [("kid-1", &left), ("kid-2", &right)] {
        assert_eq!(tool(&server, &pod, "SpawnPod", spawn(name, folder)).await["is_error"], false);
    }
    for name in ["kid-1", "kid-2"] {
        let kid = pod_path(&named(&server.get(&pod).await.1["children"], name)["pod"]);
        server.until(&kid, "idle").await;
        assert_eq!(tool(&server, &pod, "StopPod", json!({ "name": name })).await["is_error"], false);
        server.until(&kid, "stopped").await;
    }
    let children = server.get(&pod).await.1["children"].clone();
    assert_eq!(named(&children, "kid-1")["scope"], json!([]), "a stopped child gave its loan back");
    let sent = tool(&server, &pod, "SendToPod", json!({ "name": "kid-1", "message": "say x" })).await;
    assert_eq!(sent["code"], "not_live", "{sent}");
    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);

    let (status, receipt) = server.post(&format!("{pod}/restore"), json!({ "tree": true })).await;
    assert_eq!((status, receipt["report"].as_array().map(Vec::len)), (202, Some(2)), "{receipt}");
    for (name, folder) in [("kid-1", &left), ("kid-2", &right)] {
        assert_eq!(named(&receipt["report"], name)["restored"], true, "{receipt}");
        let child = named(&server.get(&pod).await.1["children"], name);
        assert_eq!((&child["scope"][0]["path"], &child["state"]), (&json!(folder), &json!("idle")));
    }
    assert_eq!(server.get(&pod).await.1["state"], "idle");
}
