//! The agent of a Pod has the tools of the Pod's model, and nothing else.

use protocol::WorkerId;
use reqwest::Method;
use runtime::PodToken;
use serde_json::{Value, json};
use testkit::until_so;

use crate::{
    client::{Session, bare, messages, refusal, request},
    common::{Server, answer, code},
};

const POD_TOOLS: [&str; 7] =
    ["ListPods", "SpawnPod", "SendToPod", "ReadPodOutput", "StopPod", "RestorePod", "SendToPeerPod"];

/// A token for the agent of the Pod at this path.
fn token_of(server: &Server, pod: &str) -> PodToken {
    let worker_id = WorkerId::parse(pod.rsplit('/').next().unwrap()).unwrap();
    server.backend.pod_tokens().serve_at(format!("http://{}/mcp", server.address));
    server.backend.pod_tokens().mint(&worker_id).unwrap().unwrap()
}

async fn peers(server: &Server, one: &str, other: &str) {
    let (status, _) = server.post(&format!("{one}/peers"), json!({ "target": other })).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn an_agent_has_the_pod_tools_sees_its_peers_and_writes_to_them_as_its_pod() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    server.pod("eve").await;
    peers(&server, &ada, "bob").await;
    let token = token_of(&server, &ada);
    let (mut agent, about) = Session::begin(&server, token.secret()).await;
    assert!(about["instructions"].as_str().unwrap().contains("You are a Pod"));
    let tools = agent.ask("tools/list", json!({})).await;
    let names: Vec<_> = tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, POD_TOOLS);
    let seen = agent.done("ListPods", json!({})).await;
    let content = seen["content"].as_str().unwrap();
    assert!(content.contains("bob") && content.contains("ada") && !content.contains("eve"), "{content}");

    let history = server.get(&format!("{ada}/history")).await;
    agent.done("SendToPeerPod", json!({ "name": "bob", "message": "say from ada" })).await;
    until_so("the message is there", async || !server.records(&bob, "peer_message").await.is_empty()).await;
    let message = server.records(&bob, "peer_message").await.remove(0);
    assert_eq!((&message["text"], &message["from"]["name"]), (&json!("say from ada"), &json!("ada")));
    let receipts = server.records(&ada, "message_receipt").await;
    assert_eq!(receipts[0]["state"], "stored");
    let called = server.records(&ada, "tool_called").await;
    assert_eq!(called.len(), 2);
    assert!(called.iter().all(|call| call["by"] == "agent"), "{called:?}");
    assert_eq!(server.get(&format!("{ada}/history")).await, history, "it is no part of the context");
    let (_, audit) = server.get("/api/v1/audit").await;
    let row = audit["items"].as_array().unwrap().iter().find(|row| row["action"] == "tool").unwrap();
    assert_eq!((&row["by"], &row["client"]), (&json!("pod:ada"), &json!("mcp")));
}

#[tokio::test]
async fn what_its_pod_does_not_see_does_not_exist_for_an_agent() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    server.pod("eve").await;
    let token = token_of(&server, &ada);
    let (mut agent, _) = Session::begin(&server, token.secret()).await;
    let mut said = Vec::new();
    for name in ["eve", "nobody"] {
        for tool in ["SendToPeerPod", "SendToPod"] {
            let told = agent.call(tool, json!({ "name": name, "message": "hi" })).await;
            assert_eq!(told["structuredContent"]["code"], "not_visible", "{told}");
            said.push(told["content"].to_string().replace(name, "NAME"));
        }
    }
    assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{said:?}");
    assert_eq!(agent.refused("StopPod", json!({ "name": "ada" })).await, "permission_denied");
    assert_eq!(agent.refused("SendToPeerPod", json!({ "name": "ada", "message": "x" })).await, "peer_self");
    assert_eq!(agent.refused("SendToPeerPod", json!({ "name": "ada" })).await, "invalid_input");
    // An agent has neither a person's tools nor those for files and commands.
    for tool in ["list_pods", "approve", "create_pod", "Bash", "Read", "Write"] {
        assert_eq!(agent.call(tool, json!({})).await["code"], -32602, "{tool}");
    }
    let listed = agent.ask("resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().len(), 1);
    let own = listed["resources"][0]["uri"].as_str().unwrap().to_owned();
    assert!(agent.ask("resources/read", json!({ "uri": own })).await["contents"].is_array());
    let (_, eve) = server.get("/api/v1/pods?name=eve").await;
    let eve = format!("yoi://pods/local/{}/transcript", eve["items"][0]["pod"]["worker_id"].as_str().unwrap());
    for method in ["resources/read", "resources/subscribe"] {
        let refused = agent.ask(method, json!({ "uri": eve })).await;
        assert_eq!(refused["data"]["code"], "not_visible", "{refused}");
    }
}

#[tokio::test]
async fn an_agents_token_opens_nothing_else_and_ends_with_its_session() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let token = token_of(&server, &ada);
    let secret = token.secret().to_owned();
    for (method, path) in [
        (Method::GET, "/api/v1/pods".to_owned()),
        (Method::GET, ada.clone()),
        (Method::POST, format!("{ada}/input")),
        (Method::GET, "/metrics".to_owned()),
        (Method::GET, "/api/v1/events".to_owned()),
        (Method::POST, "/fn/touch".to_owned()),
        (Method::DELETE, format!("{ada}?confirm=ada")),
    ] {
        let refused = answer(server.bare(method, &path).bearer_auth(&secret).json(&json!({}))).await;
        assert_eq!(code(&refused), (401, "unauthorized"), "{path}");
    }
    let login = server.bare(Method::GET, &format!("/?token={secret}")).send().await.unwrap();
    assert!(login.status() == 303 && !login.headers().contains_key("set-cookie"));

    let (agent, _) = Session::begin(&server, &secret).await;
    let mut stream = request(&server, Method::GET, &secret)
        .header("mcp-session-id", &agent.id)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    drop(token);
    while stream.chunk().await.unwrap().is_some() {}
    let ping = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" });
    assert_eq!(refusal(agent.post(&ping)).await, (401, json!("unauthorized")));
    // The session is not open to a newer token of the same Pod.
    let newer = token_of(&server, &ada);
    let sent = request(&server, Method::POST, newer.secret()).header("mcp-session-id", &agent.id).json(&ping);
    assert_eq!(refusal(sent).await.0, 404);
    let listed = bare(&server, newer.secret(), "tools/list", json!({})).send().await.unwrap();
    assert_eq!(messages(listed).await.pop().unwrap()["result"]["tools"].as_array().unwrap().len(), 7);
}

async fn with_rule(server: &Server, pod: &str, decision: &str) {
    let rules = json!({ "permissions": [{ "tool": "SendToPeerPod", "decision": decision }] });
    let (status, _) = answer(server.request(Method::PATCH, pod).json(&rules)).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn an_agents_call_is_asked_for_where_the_rules_of_its_pod_ask() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    peers(&server, &ada, "bob").await;
    let token = token_of(&server, &ada);
    let (mut agent, _) = Session::begin(&server, token.secret()).await;
    let said = || json!({ "name": "bob", "message": "say asked" });
    with_rule(&server, &ada, "deny").await;
    assert_eq!(agent.refused("SendToPeerPod", said()).await, "permission_denied");
    with_rule(&server, &ada, "ask").await;
    for (decision, is_error) in [("deny", true), ("allow", false)] {
        let calling = agent.call("SendToPeerPod", said());
        let answering = async {
            let open = || async { server.get(&format!("{ada}/approvals")).await.1["items"][0].clone() };
            until_so("it is asked", async || open().await.is_object()).await;
            assert_eq!(server.get(&ada).await.1["state"], "waiting");
            let question = open().await;
            assert_eq!(question["tool"], "SendToPeerPod");
            let path = format!("{ada}/approvals/{}", question["id"].as_str().unwrap());
            assert_eq!(server.post(&path, json!({ "decision": decision })).await.0, 200);
            assert_eq!(server.post(&path, json!({ "decision": decision })).await.0, 409);
        };
        let (told, ()) = tokio::join!(calling, answering);
        assert_eq!(told["isError"], is_error, "{told}");
    }
    until_so("the one that was allowed is there", async || server.records(&bob, "peer_message").await.len() == 1).await;
    server.until(&ada, "idle").await;
}

#[tokio::test]
async fn what_an_agent_asks_is_withdrawn_when_its_pod_is_stopped() {
    let server = Server::start().await;
    let (ada, _) = (server.pod("ada").await, server.pod("bob").await);
    peers(&server, &ada, "bob").await;
    with_rule(&server, &ada, "ask").await;
    let token = token_of(&server, &ada);
    let (mut agent, _) = Session::begin(&server, token.secret()).await;
    let calling = agent.call("SendToPeerPod", json!({ "name": "bob", "message": "x" }));
    let stopping = async {
        until_so("it is asked", async || server.get(&ada).await.1["needs_you"] == true).await;
        assert_eq!(server.post(&format!("{ada}/stop"), json!({})).await.0, 202);
    };
    let (told, ()) = tokio::join!(calling, stopping);
    assert_eq!(told["structuredContent"]["code"], "cancelled", "{told}");
    let answered = server.records(&ada, "approval_answered").await;
    assert_eq!((answered.len(), &answered[0]["decision"]), (1, &Value::Null));
    assert_eq!(agent.refused("ListPods", json!({})).await, "not_live");
}

#[tokio::test]
async fn a_question_of_an_agent_does_not_outlive_the_server() {
    let server = Server::start().await;
    let (ada, _) = (server.pod("ada").await, server.pod("bob").await);
    peers(&server, &ada, "bob").await;
    with_rule(&server, &ada, "ask").await;
    let token = token_of(&server, &ada);
    let secret = token.secret().to_owned();
    let said = json!({ "name": "SendToPeerPod", "arguments": { "name": "bob", "message": "x" } });
    let calling = tokio::spawn(bare(&server, &secret, "tools/call", said).send());
    until_so("it is asked", async || server.get(&ada).await.1["needs_you"] == true).await;
    let server = server.restart().await;
    drop(calling.await);
    let (_, pod) = server.get(&ada).await;
    assert_eq!((&pod["state"], &pod["needs_you"]), (&json!("idle"), &json!(false)));
    let finished = server.records(&ada, "tool_finished").await;
    assert_eq!((&finished[0]["code"], &finished[0]["by"]), (&json!("unknown"), &json!("agent")));
    assert_eq!(refusal(bare(&server, &secret, "tools/list", json!({}))).await.0, 401, "tokens end with the server");
}
