//! An agent that runs as a whole in its Pod's sandbox.

use serde_json::{Value, json};
use testkit::yoi::pod_path;

use crate::house::{House, of_kind, texts};

/// A Pod whose scope has what the scripted agent needs.
async fn pod(house: &House, name: &str) -> Value {
    let work = house.yoi.launch().work_dir();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents");
    let rule = |path: &str, access: &str| json!({ "path": path, "access": access, "recursive": true });
    let scope =
        [rule(work.to_str().unwrap(), "write"), rule(house.state.to_str().unwrap(), "write"), rule(program, "read")];
    let asked = json!({ "name": name, "agent": "scripted", "cwd": work, "scope": scope });
    house.yoi.post("/api/v1/pods", &asked).await.expect(201)
}

#[tokio::test]
async fn a_confined_agent_reaches_the_hosts_that_its_pod_may_reach_and_yois_own_tools() {
    let house = House::with("", "confine = true").await;
    let (ada, bob) = (pod(&house, "ada").await, pod(&house, "bob").await);
    let session = &house.detail(&ada).await["session"];
    assert_eq!(session["confined"], true);
    assert!(session["beyond"].to_string().contains("HTTPS_PROXY"), "{session}");
    assert_eq!(texts(&house.said(&ada, "hello").await), ["You said: hello"]);

    for (answer, begins) in
        [(json!({ "decision": "deny" }), "403"), (json!({ "decision": "allow", "remember": true }), "502")]
    {
        let from = house.events(&ada).await.len();
        house.yoi.say(&ada, "fetch http://nowhere.test/x").await;
        let question = house.question(&ada).await;
        assert_eq!((&question["tool"], &question["arguments"]["host"]), (&json!("Network"), &json!("nowhere.test")));
        assert_eq!(question["arguments"]["command"], "scripted");
        house.answer(&ada, &question, answer).await.expect(200);
        let events = house.ended(&ada, from).await;
        assert!(texts(&events)[0].starts_with(begins), "{events:#?}");
    }
    let events = house.said(&ada, "fetch http://nowhere.test/y").await;
    assert!(texts(&events)[0].starts_with("502"), "{events:#?}");
    assert!(of_kind(&events, "approval_asked").is_empty(), "the rule answers");

    house.yoi.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await;
    let listed = house.said(&ada, "mcp ListPods {}").await;
    assert!(texts(&listed)[0].contains("bob"), "{listed:#?}");

    // With other walls it is another process, and the same session.
    house.yoi.patch(&pod_path(&ada), &json!({ "network": "none" })).await.expect(200);
    let events = house.said(&ada, "fetch http://nowhere.test/z").await;
    assert_eq!(of_kind(&events, "agent_started")[0]["resumed"], true);
    assert!(texts(&events)[0].starts_with("403") && texts(&events)[0].contains("no network"), "{events:#?}");
    drop(bob);
}

/// A Pod without a network, with a peer that it can see.
async fn pod_without_network(house: &House) -> Value {
    let (ada, _) = (pod(house, "ada").await, pod(house, "bob").await);
    house.yoi.patch(&pod_path(&ada), &json!({ "network": "none" })).await.expect(200);
    house.yoi.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await;
    ada
}

#[tokio::test]
async fn a_confined_agent_without_network_reaches_yois_own_tools_as_its_pod_and_nothing_else() {
    let house = House::with("", "confine = true").await;
    let ada = pod_without_network(&house).await;
    let said = async |text: &str| texts(&house.said(&ada, text).await).join("");
    let listed = said("mcp ListPods {}").await;
    assert!(listed.contains("bob"), "{listed}");
    let session = &house.detail(&ada).await["session"];
    assert!(session["beyond"].to_string().contains("no network but yoi's own tools"), "{session}");

    // With a person's token it is still only its Pod.
    let tools = said(&format!("forge {}", house.yoi.token())).await;
    assert!(tools.contains("SendToPeerPod") && !tools.contains("create_pod"), "{tools}");

    let own = house.yoi.base_url().trim_start_matches("http://");
    for (message, begins) in [
        ("fetch http://127.0.0.1:3128/api/v1/pods".to_owned(), "400"),
        ("fetch http://127.0.0.1:3128/healthz".to_owned(), "400"),
        ("fetch http://127.0.0.1:3128/mcp/oauth/callback/x".to_owned(), "400"),
        (format!("fetch http://{own}/healthz"), "no way"),
        (format!("raw CONNECT {own} HTTP/1.1\\r\\n\\r\\n"), "HTTP/1.1 403"),
        (format!("raw GET http://{own}/mcp HTTP/1.1\\r\\n\\r\\n"), "HTTP/1.1 403"),
        (
            "raw POST /mcp HTTP/1.1\\r\\nA: b\\n\\nGET /healthz HTTP/1.1\\nHost: localhost\\n\\r\\n\\r\\n".to_owned(),
            "HTTP/1.1 400",
        ),
    ] {
        let answer = said(&message).await;
        assert!(answer.starts_with(begins) && answer.matches("HTTP/1.1").count() <= 1, "{message}: {answer}");
    }
    assert!(of_kind(&house.events(&ada).await, "approval_asked").is_empty(), "nobody is asked");
}

#[tokio::test]
async fn a_confined_agent_that_only_starts_programs_reaches_yois_own_tools_through_yoi_mcp() {
    let house = House::with("AGENT_WITHOUT_HTTP = \"1\",", "confine = true").await;
    let ada = pod_without_network(&house).await;
    let listed = house.said(&ada, "mcp ListPods {}").await;
    assert!(texts(&listed)[0].contains("bob"), "{listed:#?}");
}
