//! A person's client.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::until_so;

use crate::{
    client::{Session, bare, messages, request},
    common::{Server, TOKEN},
};

fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_client_makes_a_pod_gives_it_work_waits_for_it_and_reads_what_it_said() {
    let server = Server::start().await;
    let (mut client, about) = Session::begin(&server, TOKEN).await;
    assert_eq!((&about["protocolVersion"], &about["serverInfo"]["name"]), (&json!("2025-11-25"), &json!("yoi")));
    let tools = client.ask("tools/list", json!({})).await;
    assert_eq!(
        names(&tools),
        ["list_pods", "read_transcript", "create_pod", "send", "wait", "introduce", "list_approvals", "approve"]
    );
    let made = client.done("create_pod", json!({ "name": "ada" })).await;
    assert_eq!((&made["name"], &made["state"]), (&json!("ada"), &json!("idle")));
    let sent = client.done("send", json!({ "pod": "ada", "text": "say hello there" })).await;
    assert_eq!(sent["pod"], made["pod"]);
    let waited = client.done("wait", json!({ "pod": "ada" })).await;
    assert_eq!(
        (&waited["done"], &waited["state"], &waited["answer"]),
        (&json!(true), &json!("idle"), &json!("hello there"))
    );
    let listed = client.done("list_pods", json!({ "state": "idle" })).await;
    assert_eq!((listed["pods"].as_array().unwrap().len(), &listed["pods"][0]["pod"]), (1, &made["pod"]));
    let read = client.done("read_transcript", json!({ "pod": "ada" })).await;
    let text = read["text"].as_str().unwrap();
    assert!(text.contains("say hello there") && text.contains("### Assistant\n\nhello there"), "{text}");

    let (_, audit) = server.get("/api/v1/audit").await;
    let rows = audit["items"].as_array().unwrap();
    let of = |action: &str| rows.iter().find(|row| row["action"] == action).unwrap();
    for action in ["pod_create", "input"] {
        assert_eq!((&of(action)["by"], &of(action)["client"]), (&json!("operator"), &json!("mcp:tester 1.0")));
    }
}

#[tokio::test]
async fn a_client_of_the_newer_protocol_needs_no_session() {
    let server = Server::start().await;
    server.pod("ada").await;
    let answer = bare(&server, TOKEN, "server/discover", json!({})).send().await.unwrap();
    let about = messages(answer).await.pop().unwrap()["result"].clone();
    let versions = about["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{about}");
    let said = json!({ "name": "send", "arguments": { "pod": "ada", "text": "say hi" } });
    let answer = bare(&server, TOKEN, "tools/call", said).send().await.unwrap();
    assert!(!answer.headers().contains_key("mcp-session-id"));
    let result = messages(answer).await.pop().unwrap()["result"].clone();
    assert_eq!((&result["isError"], &result["resultType"]), (&json!(false), &json!("complete")), "{result}");
    until_so("the message is audited", async || {
        let (_, audit) = server.get("/api/v1/audit").await;
        audit["items"].as_array().unwrap().iter().any(|row| row["client"] == "mcp:newer 2" && row["action"] == "input")
    })
    .await;
}

#[tokio::test]
async fn a_waiting_client_is_told_of_progress_while_the_pod_runs() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let mut client = Session::of_person(&server).await;
    client.done("send", json!({ "pod": "ada", "text": "stream 200 at 20" })).await;
    let asked = json!({ "name": "wait", "arguments": { "pod": "ada" }, "_meta": { "progressToken": "p1" } });
    let told = client.ask_all("tools/call", asked).await;
    let (last, before) = told.split_last().unwrap();
    assert_eq!(
        (&last["result"]["structuredContent"]["done"], &last["result"]["structuredContent"]["state"]),
        (&json!(true), &json!("idle"))
    );
    assert!(!before.is_empty());
    let mut progress = 0.0;
    for message in before {
        assert_eq!(
            (&message["method"], &message["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("p1"))
        );
        let now = message["params"]["progress"].as_f64().unwrap();
        assert!(now > progress, "progress only grows");
        progress = now;
        assert!(message["params"]["message"].as_str().unwrap().starts_with("ada is running"));
    }
    assert_eq!(server.get(&pod).await.1["state"], "idle");
}

#[tokio::test]
async fn a_wait_ends_when_its_time_is_over_and_when_a_person_is_needed() {
    let server = Server::start().await;
    server.pod("ada").await;
    let mut client = Session::of_person(&server).await;
    client.done("send", json!({ "pod": "ada", "text": "wait 600" })).await;
    let waited = client.done("wait", json!({ "pod": "ada", "timeout_s": 1 })).await;
    assert_eq!((&waited["done"], &waited["state"]), (&json!(false), &json!("running")));
    assert!(waited.get("answer").is_none(), "{waited}");
    for wrong in [json!(0), json!(601), json!("x"), json!(-1)] {
        let code = client.refused("wait", json!({ "pod": "ada", "timeout_s": wrong })).await;
        assert_eq!(code, "invalid_input", "{wrong}");
    }
}

#[tokio::test]
async fn a_request_that_comes_twice_happens_once() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let client = Session::of_person(&server).await;
    let said = json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {
        "name": "send", "arguments": { "pod": "ada", "text": "say once" },
    } });
    let mut receipts = Vec::new();
    for _ in 0..2 {
        let answer = client.post(&said).send().await.unwrap();
        receipts.push(messages(answer).await.pop().unwrap()["result"]["structuredContent"].clone());
    }
    assert_eq!(receipts[0], receipts[1]);
    server.until(&pod, "idle").await;
    assert_eq!(server.records(&pod, "user_message").await.len(), 1);
    // Another session may use the same number for something else.
    let other = Session::of_person(&server).await;
    let answer = other.post(&said).send().await.unwrap();
    assert_eq!(messages(answer).await.pop().unwrap()["result"]["isError"], false);
    server.until(&pod, "idle").await;
    assert_eq!(server.records(&pod, "user_message").await.len(), 2);
    // Without a session, a client names its request.
    for _ in 0..2 {
        let said = json!({ "name": "send", "arguments": { "pod": "ada", "text": "say thrice" } });
        let request = bare(&server, TOKEN, "tools/call", said).header("idempotency-key", "k-1");
        assert_eq!(messages(request.send().await.unwrap()).await.pop().unwrap()["result"]["isError"], false);
    }
    server.until(&pod, "idle").await;
    assert_eq!(server.records(&pod, "user_message").await.len(), 3);
}

#[tokio::test]
async fn a_failure_has_our_code_and_says_what_was_expected() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let mut client = Session::of_person(&server).await;
    for (tool, arguments, code) in [
        ("send", json!({ "pod": "eve", "text": "hi" }), "pod_not_found"),
        ("send", json!({ "pod": "ada" }), "invalid_input"),
        ("send", json!({ "pod": "ada", "text": "hi", "speed": 1 }), "invalid_input"),
        ("send", json!({ "pod": ["ada"], "text": "hi" }), "invalid_input"),
        ("create_pod", json!({ "name": "a b" }), "invalid_input"),
        ("create_pod", json!({ "name": "ada" }), "name_taken"),
        ("create_pod", json!({ "name": "bob", "scope": [["/tmp", "read"]] }), "invalid_input"),
        ("list_pods", json!({ "state": "asleep" }), "invalid_input"),
        ("list_pods", json!({ "after": "x" }), "cursor_invalid"),
        ("read_transcript", json!({ "pod": "ada", "before": "x" }), "invalid_input"),
        ("introduce", json!({ "pod": "ada", "to": "ada" }), "peer_self"),
        ("approve", json!({ "pod": "ada", "id": "x", "decision": "allow" }), "not_found"),
        ("approve", json!({ "pod": "ada", "id": "x", "decision": "perhaps" }), "invalid_input"),
    ] {
        assert_eq!(client.refused(tool, arguments.clone()).await, code, "{tool} {arguments}");
    }
    let told = client.call("send", json!({ "pod": "ada", "text": "hi", "speed": 1 })).await;
    let sentence = told["content"][0]["text"].as_str().unwrap();
    assert!(sentence.contains("unknown field `speed`") && sentence.contains("`pod`"), "{sentence}");
    let unknown = client.call("rm", json!({})).await;
    assert_eq!(unknown["code"], -32602, "{unknown}");
    assert!(server.records(&ada, "user_message").await.is_empty());
}

#[tokio::test]
async fn pods_become_peers_and_approvals_are_answered() {
    let server =
        Server::start_with(tools::Toolbox::new([std::sync::Arc::new(Asked) as std::sync::Arc<dyn tools::Tool>])).await;
    let (ada, _) = (server.pod("ada").await, server.pod("bob").await);
    let mut client = Session::of_person(&server).await;
    let introduced = client.done("introduce", json!({ "pod": "ada", "to": "bob" })).await;
    assert_eq!(introduced["state"], "linked");
    assert_eq!(client.done("list_approvals", json!({})).await["approvals"], json!([]));
    client.done("send", json!({ "pod": "ada", "text": "call Bash {\"command\":\"ls\"}" })).await;
    let waited = client.done("wait", json!({ "pod": "ada" })).await;
    assert_eq!(
        (&waited["done"], &waited["state"], &waited["needs_you"]),
        (&json!(true), &json!("waiting"), &json!(true))
    );
    let open = client.done("list_approvals", json!({ "pod": "ada" })).await["approvals"][0].clone();
    assert_eq!((&open["tool"], &open["arguments"]), (&json!("Bash"), &json!("{\"command\":\"ls\"}")));
    let said = json!({ "pod": "ada", "id": open["id"], "decision": "deny", "reason": "not now" });
    let answered = client.done("approve", said.clone()).await;
    assert_eq!((&answered["decision"], &answered["by"]), (&json!("deny"), &json!("operator")));
    assert_eq!(client.refused("approve", said).await, "already_answered");
    server.until(&ada, "idle").await;
}

/// A tool that needs approval.
#[derive(Debug)]
struct Asked;

#[async_trait::async_trait]
impl tools::Tool for Asked {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &'static str {
        "Is asked for."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn call(&self, _: &tools::Place, _: Value, _: tools::Output) -> pod::ToolOutcome {
        pod::ToolOutcome::done("done")
    }
}

#[tokio::test]
async fn transcripts_are_resources_in_pages() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    for turn in 0..90 {
        server.say(&pod, &format!("say {turn} {}", "word ".repeat(200))).await;
    }
    let mut client = Session::of_person(&server).await;
    let listed = client.ask("resources/list", json!({})).await;
    let uri = listed["resources"][0]["uri"].as_str().unwrap().to_owned();
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "yoi://pods/{runtime_id}/{worker_id}/transcript");
    let mut seen = Vec::new();
    let mut next = uri.clone();
    let mut pages = 0;
    loop {
        let read = client.ask("resources/read", json!({ "uri": next })).await;
        let page = &read["contents"][0];
        assert_eq!((&page["mimeType"], &page["uri"]), (&json!("text/markdown"), &json!(next)));
        let text = page["text"].as_str().unwrap();
        assert!(text.len() <= 70 * 1024, "{}", text.len());
        seen.push(text.to_owned());
        pages += 1;
        match text.strip_prefix("[older: ").and_then(|rest| rest.split_once(']')) {
            Some((older, _)) => next = older.to_owned(),
            None => break,
        }
    }
    assert!(pages > 2, "{pages}");
    let all = seen.into_iter().rev().collect::<String>();
    for turn in 0..90 {
        assert!(all.contains(&format!("say {turn} word")), "{turn}");
    }
    for wrong in ["yoi://pods/local/nobody/transcript", "yoi://pods/local/x", "file:///etc/passwd"] {
        let error = client.ask("resources/read", json!({ "uri": wrong })).await;
        assert_eq!(error["code"], -32002, "{wrong}: {error}");
    }
}

#[tokio::test]
async fn a_follower_of_a_transcript_is_told_that_it_has_grown() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let mut client = Session::of_person(&server).await;
    let uri = client.ask("resources/list", json!({})).await["resources"][0]["uri"].as_str().unwrap().to_owned();
    let mut stream = request(&server, Method::GET, TOKEN)
        .header("mcp-session-id", &client.id)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    client.ask("resources/subscribe", json!({ "uri": uri })).await;
    server.say(&pod, "say grown").await;
    let mut told = String::new();
    while !told.contains("notifications/resources/updated") {
        told.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(told.contains(&uri), "{told}");
    server.pod("bob").await;
    while !told.contains("notifications/resources/list_changed") {
        told.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
}
