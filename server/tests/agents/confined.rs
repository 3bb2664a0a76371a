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
    assert!(texts(&events)[0].starts_with("no way"), "{events:#?}");
    drop(bob);
}
