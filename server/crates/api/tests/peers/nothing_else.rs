//! What being peers does not give: one test for each.

use serde_json::{Value, json};

use crate::{common::Server, count, journal, pair, pod_with, seen, tool, until_some, write};

#[tokio::test]
async fn it_grants_no_scope() {
    let server = Server::start_with(tools::Toolbox::new(tools::files::tools())).await;
    let probe = server.pod("probe").await;
    let cwd = server.get(&probe).await.1["cwd"].as_str().unwrap().to_owned();
    for name in ["ada", "bob"] {
        let folder = format!("{cwd}/{name}");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(format!("{folder}/own.txt"), "secret of one").unwrap();
        pod_with(&server, json!({ "name": name, "cwd": folder })).await;
    }
    let pods = server.get("/api/v1/pods?q=").await.1["items"].clone();
    let path = |name: &str| {
        let pod = pods.as_array().unwrap().iter().find(|pod| pod["name"] == name).unwrap();
        crate::common::pod_path(&pod["pod"])
    };
    let (ada, bob) = (path("ada"), path("bob"));
    let scopes = |server: &Server| {
        let (ada, bob) = (ada.clone(), bob.clone());
        let (one, other) = (server.request(reqwest::Method::GET, &ada), server.request(reqwest::Method::GET, &bob));
        async move { (crate::answer(one).await.1["scope"].clone(), crate::answer(other).await.1["scope"].clone()) }
    };
    let before = scopes(&server).await;
    assert_eq!(crate::introduce(&server, &ada, "bob").await.0, 201);
    assert_eq!(scopes(&server).await, before);
    let visible = server.get(&format!("{ada}/visible")).await.1["items"][1].clone();
    assert_eq!((&visible["name"], &visible["scope"]), (&json!("bob"), &json!([])));
    for (pod, other) in [(&ada, "bob"), (&bob, "ada")] {
        let theirs = json!({ "path": format!("{cwd}/{other}/own.txt") });
        assert_eq!(tool(&server, pod, "Read", theirs).await["code"], "permission_denied");
    }
    assert_eq!(tool(&server, &ada, "Read", json!({ "path": "own.txt" })).await["is_error"], false);
}

/// A tool for children, called on a peer.
async fn refused(name: &str, arguments: Value) {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    server.say(&bob, "say something private").await;
    let before = journal(&server, &bob).await;
    let answer = tool(&server, &ada, name, arguments).await;
    assert_eq!((&answer["is_error"], &answer["code"]), (&json!(true), &json!("permission_denied")), "{answer}");
    assert!(!answer.to_string().contains("private"), "{answer}");
    assert_eq!(journal(&server, &bob).await, before);
    assert_eq!(server.get(&bob).await.1["state"], "idle");
}

#[tokio::test]
async fn it_gives_no_output_to_read() {
    refused("ReadPodOutput", json!({ "name": "bob" })).await;
}

#[tokio::test]
async fn it_starts_no_run_of_another_pod_by_command() {
    refused("SendToPod", json!({ "name": "bob", "message": "say x" })).await;
}

#[tokio::test]
async fn it_gives_no_authority_to_stop() {
    refused("StopPod", json!({ "name": "bob" })).await;
}

#[tokio::test]
async fn it_brings_no_news_of_what_the_other_one_does() {
    let server = Server::start().await;
    let (ada, bob) = pair(&server).await;
    let before = journal(&server, &ada).await;
    server.say(&bob, "say done").await;
    server.say(&bob, "fail 400").await;
    assert_eq!(server.post(&format!("{bob}/stop"), json!({})).await.0, 202);
    server.until(&bob, "stopped").await;
    // The message is answered after all of this: anything else would be there before its receipt.
    let carol = server.pod("carol").await;
    assert_eq!(crate::introduce(&server, &ada, "carol").await.0, 201);
    let (_, sent) = write(&server, &ada, "carol", "say x").await;
    until_some(&server, &ada, "message_receipt", |event| {
        event["message_id"] == sent["message_id"] && event["state"] == "answered"
    })
    .await;
    let after = journal(&server, &ada).await;
    let kinds: Vec<_> = after[before.len()..].iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["peer_linked", "message_receipt", "message_receipt", "message_receipt"]);
    assert_eq!(count(&server, &carol, "child_event").await, 0);
}

#[tokio::test]
async fn a_third_pod_sees_nothing_of_it() {
    let server = Server::start().await;
    let (ada, _) = pair(&server).await;
    let carol = server.pod("carol").await;
    let before = journal(&server, &carol).await;
    let (_, sent) = write(&server, &ada, "bob", "say between us").await;
    until_some(&server, &ada, "message_receipt", |event| {
        event["message_id"] == sent["message_id"] && event["state"] == "answered"
    })
    .await;
    assert_eq!(seen(&server, &carol).await, [("carol".to_owned(), json!(["self"]))]);
    let mut sentences = Vec::new();
    for name in ["ada", "bob", "nobody"] {
        for (name_of_tool, arguments) in [
            ("SendToPeerPod", json!({ "name": name, "message": "say x" })),
            ("RestorePod", json!({ "name": name })),
            ("ReadPodOutput", json!({ "name": name })),
        ] {
            let answer = tool(&server, &carol, name_of_tool, arguments).await;
            assert_eq!(answer["code"], "not_visible", "{name_of_tool} {name}: {answer}");
            sentences.push(answer["summary"].as_str().unwrap().to_owned());
        }
    }
    sentences.dedup();
    assert_eq!(sentences.len(), 1, "not visible and not there read the same: {sentences:?}");
    let tools = ["tool_called", "tool_finished"];
    let of_others: Vec<_> = journal(&server, &carol)
        .await
        .into_iter()
        .filter(|event| !tools.contains(&event["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(of_others, before);
}
