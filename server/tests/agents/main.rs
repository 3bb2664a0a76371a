//! An agent that speaks the Agent Client Protocol instead of a model, with the real binary: `agent.py` does what the
//! first word of a message says.

#![allow(clippy::unwrap_used)]

mod confined;
mod deaths;
mod house;
mod page;

use serde_json::json;
use testkit::yoi::{pod_path, until};

use self::house::{House, of_kind, texts, watch};

#[tokio::test]
async fn an_agent_answers_in_a_pod_and_goes_on_in_the_same_session() {
    let house = House::open().await;
    let listed = house.yoi.get("/api/v1/agents").await.expect(200);
    let item = listed["items"].as_array().unwrap().iter().find(|item| item["name"] == "scripted").unwrap().clone();
    assert_eq!((&item["state"], &item["confined"], item.get("detail")), (&json!("ready"), &json!(false), None));
    assert!(item["tools"].as_array().unwrap().contains(&json!("SendToPeerPod")), "{item}");
    assert!(!listed.to_string().contains("AGENT_STATE"), "what is in its environment is not told");

    let pod = house.pod("ada").await;
    assert_eq!((&pod["agent"], &pod["provider"]), (&json!("scripted"), &json!("acp")));
    let first = house.said(&pod, "hello").await;
    assert_eq!(texts(&first), ["You said: hello"]);
    assert_eq!(of_kind(&first, "reasoning_finished")[0]["text"], "I think of it.");
    let started = of_kind(&first, "agent_started")[0];
    assert_eq!(
        (&started["agent"], &started["version"], &started["resumed"]),
        (&json!("scripted"), &json!("1.2.3"), &json!(false))
    );
    assert_eq!(of_kind(&first, "mode_changed"), [&json!({ "kind": "mode_changed", "mode": "ask" })]);
    let usage = of_kind(&first, "usage")[0];
    assert_eq!((&usage["input"], &usage["output"], &usage["context_used"]), (&json!(7), &json!(3), &json!(100)));
    assert_eq!(of_kind(&first, "run_finished")[0]["outcome"], "completed");

    let second = house.said(&pod, "and again").await;
    assert_eq!(texts(&second), ["You said: and again"]);
    assert!(of_kind(&second, "agent_started").is_empty(), "it runs already");
    assert_eq!(house.logged("prompt "), ["\"hello\"", "\"and again\""], "each message is sent once, and alone");
    assert_eq!(house.logged("new ").len(), 1);

    let history = house.yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200);
    let said: Vec<_> =
        history["messages"].as_array().unwrap().iter().map(|message| (&message["role"], &message["content"])).collect();
    let word = |role: &'static str, text: &'static str| (json!(role), json!(text));
    let expected = [
        word("user", "hello"),
        word("assistant", "You said: hello"),
        word("user", "and again"),
        word("assistant", "You said: and again"),
    ];
    assert_eq!(said, expected.iter().map(|(role, text)| (role, text)).collect::<Vec<_>>());
    let detail = house.detail(&pod).await;
    assert_eq!((&detail["model"], &detail["session"]["mode"]), (&json!("small"), &json!("ask")));
    assert_eq!(detail["session"]["commands"][0]["id"], "review");
    assert!(detail["session"]["beyond"][0].as_str().unwrap().contains("by itself"));
    house.said(&pod, "plan").await;
    let mut command = house.yoi.launch().command();
    command.args(["show", "ada", "--data"]).arg(house.yoi.launch().data_dir());
    let shown = String::from_utf8(command.output().await.unwrap().stdout).unwrap();
    for words in [
        "small, of the agent scripted",
        "Scripted Agent 1.2.3, not confined",
        "ask of ask, code",
        "small, large",
        "in progress: mend",
        "/review what: Looks at the changes",
        "It decides by itself what it asks you",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_a_clear_error_with_near_names() {
    let house = House::open().await;
    let refused = house.yoi.post("/api/v1/pods", &json!({ "name": "a", "agent": "scriptd" })).await.expect(400);
    assert_eq!(refused["code"], "invalid_input");
    assert!(refused["detail"].as_str().unwrap().contains("did you mean \"scripted\"?"), "{refused}");
    let both = json!({ "name": "a", "agent": "scripted", "provider": "rehearsal" });
    house.yoi.post("/api/v1/pods", &both).await.expect(400);
    let absent = house.yoi.post("/api/v1/pods", &json!({ "name": "a", "agent": "gemini" })).await.expect(400);
    assert!(absent["detail"].as_str().unwrap().contains("npm install -g"), "{absent}");
}

#[tokio::test]
async fn a_question_of_the_agent_is_an_approval_with_its_own_options() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    for (answer, chosen, is_error) in [
        (json!({ "decision": "allow" }), "yes", false),
        (json!({ "decision": "allow", "option": "always" }), "always", false),
        (json!({ "decision": "deny" }), "no", true),
    ] {
        let from = house.events(&pod).await.len();
        house.yoi.say(&pod, "tool").await;
        let question = house.question(&pod).await;
        assert_eq!((&question["tool"], &question["arguments"]["command"]), (&json!("execute"), &json!("rm -rf all")));
        let options = json!([
            { "id": "yes", "name": "Yes", "kind": "allow_once" },
            { "id": "always", "name": "Always", "kind": "allow_always" },
            { "id": "no", "name": "No", "kind": "reject_once" },
        ]);
        assert_eq!(question["options"], options);
        assert_eq!(house.detail(&pod).await["state"], "waiting");
        for wrong in [json!({ "decision": "allow", "option": "no" }), json!({ "decision": "allow", "option": "maybe" })]
        {
            house.answer(&pod, &question, wrong).await.expect(400);
        }
        let answered = house.answer(&pod, &question, answer).await.expect(200);
        assert_eq!(answered["option"], chosen);
        let events = house.ended(&pod, from).await;
        let finished = of_kind(&events, "tool_finished")[0];
        assert_eq!(
            (&finished["content"], &finished["is_error"]),
            (&json!(format!("chosen {chosen}")), &json!(is_error))
        );
        assert_eq!(texts(&events), [format!("You chose {chosen}.")]);
        let again = house.answer(&pod, &question, json!({ "decision": "deny" })).await;
        assert_eq!(again.expect(409)["code"], "already_answered");
    }
    let rules = json!({ "permissions": [{ "tool": "execute", "match": "rm *", "decision": "deny" }] });
    house.yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    let events = house.said(&pod, "tool").await;
    assert_eq!(texts(&events), ["You chose no."], "a rule that names the tool answers by itself");
    assert!(of_kind(&events, "approval_asked").is_empty());
    let rules = json!({ "permissions": [{ "tool": "execute", "match": "rm *", "decision": "allow" }] });
    house.yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    assert_eq!(texts(&house.said(&pod, "tool").await), ["You chose yes."], "for this once, and no longer");
}

#[tokio::test]
async fn a_diff_a_plan_and_a_mode_are_in_the_journal() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    let events = house.said(&pod, "diff /w/a.txt").await;
    let called = of_kind(&events, "tool_called")[0];
    assert_eq!((&called["name"], &called["arguments"]["path"]), (&json!("edit"), &json!("/w/a.txt")));
    assert_eq!(called["arguments"]["locations"], json!([{ "path": "/w/a.txt", "line": 1 }]));
    let diff = of_kind(&events, "tool_finished")[0]["diff"].as_str().unwrap().to_owned();
    assert!(diff.contains("-one\n+two\n"), "{diff}");

    let events = house.said(&pod, "plan").await;
    let plans = of_kind(&events, "plan_updated");
    let entry = |content: &str, status: &str| json!({ "content": content, "priority": "high", "status": status });
    assert_eq!(plans.len(), 2);
    assert_eq!(plans[1]["entries"], json!([entry("look", "completed"), entry("mend", "in_progress")]));
    assert_eq!(house.detail(&pod).await["session"]["plan"], plans[1]["entries"]);

    let events = house.said(&pod, "mode code").await;
    assert_eq!(of_kind(&events, "mode_changed"), [&json!({ "kind": "mode_changed", "mode": "code" })]);
}

#[tokio::test]
async fn modes_and_models_are_chosen_by_patch_and_the_agent_is_told() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    house.said(&pod, "hello").await;
    let patched =
        house.yoi.patch(&pod_path(&pod), &json!({ "agent_mode": "code", "model": "large" })).await.expect(200);
    assert_eq!((&patched["session"]["mode"], &patched["model"]), (&json!("code"), &json!("large")));
    for wrong in [json!({ "agent_mode": "fly" }), json!({ "model": "huge" }), json!({ "provider": "rehearsal" })] {
        assert_eq!(house.yoi.patch(&pod_path(&pod), &wrong).await.expect_error(400), "invalid_input");
    }
    house.said(&pod, "and now").await;
    assert_eq!((house.logged("mode "), house.logged("model ")), (vec!["code".to_owned()], vec!["large".to_owned()]));
    let other = house.yoi.patch(&pod_path(&pod), &json!({ "agent": "gemini" })).await.expect(400);
    assert!(other["detail"].as_str().unwrap().contains("the agent scripted answers in this Pod"), "{other}");
    house.yoi.patch(&pod_path(&pod), &json!({ "agent": "scripted" })).await.expect(200);
    let plain = house.yoi.new_pod("plain").await;
    assert_eq!(
        house.yoi.patch(&pod_path(&plain), &json!({ "agent": "scripted" })).await.expect_error(400),
        "invalid_input"
    );
    assert_eq!(
        house.yoi.patch(&pod_path(&plain), &json!({ "agent_mode": "code" })).await.expect_error(400),
        "invalid_input"
    );
    for verb in ["compact", "rewind"] {
        let body = if verb == "rewind" { json!({ "to_seq": 1, "expected_head": 1 }) } else { json!({}) };
        let refused = house.yoi.post(&format!("{}/{verb}", pod_path(&pod)), &body).await;
        assert!(refused.status >= 400, "{verb}: {refused:?}");
    }
}

#[tokio::test]
async fn what_an_agent_showed_when_it_asked_is_not_asked_again_and_anything_else_is() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    let file = house.yoi.launch().work_dir().canonicalize().unwrap().join("a.txt");
    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, &format!("show {} one one", file.display())).await;
    let question = house.question(&pod).await;
    assert_eq!(question["tool"], "edit", "{question}");
    house.answer(&pod, &question, json!({ "decision": "allow" })).await.expect(200);
    let events = house.ended(&pod, from).await;
    assert_eq!((texts(&events), of_kind(&events, "approval_asked").len()), (vec!["written"], 1));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    // Its own call has the change that it showed; ours has the one that was made.
    let diffs: Vec<_> = of_kind(&events, "tool_finished").iter().map(|event| event["diff"].to_string()).collect();
    assert!(diffs.len() == 2 && diffs.iter().all(|diff| diff.contains("+one")), "{diffs:?}");

    std::fs::remove_file(&file).unwrap();
    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, &format!("show {} one another", file.display())).await;
    let question = house.question(&pod).await;
    house.answer(&pod, &question, json!({ "decision": "allow" })).await.expect(200);
    let other = until("another question is open", async || {
        let page = house.yoi.get(&format!("{}/approvals", pod_path(&pod))).await.expect(200);
        page["items"].as_array().unwrap().iter().find(|open| open["id"] != question["id"]).cloned()
    })
    .await;
    assert_eq!((&other["tool"], &other["arguments"]["content"]), (&json!("Write"), &json!("another\n")));
    assert!(!file.exists());
    house.answer(&pod, &other, json!({ "decision": "deny" })).await.expect(200);
    let events = house.ended(&pod, from).await;
    assert!(texts(&events)[0].starts_with("refused: ") && !file.exists(), "{events:#?}");
}

#[tokio::test]
async fn files_and_terminals_go_through_the_pods_scope_and_permissions() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    let work = house.yoi.launch().work_dir().canonicalize().unwrap();
    let file = work.join("a.txt");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    assert_eq!(texts(&house.said(&pod, &format!("read {}", file.display())).await), ["one\ntwo\n"]);
    for outside in [house.state.join("log").display().to_string(), "/etc/passwd".to_owned()] {
        let events = house.said(&pod, &format!("read {outside}")).await;
        assert!(texts(&events)[0].starts_with("refused: "), "{events:#?}");
    }
    let events = house.said(&pod, &format!("outside {}", file.display())).await;
    assert!(texts(&events)[0].contains("sessionId"), "{events:#?}");

    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, &format!("write {} three", file.display())).await;
    let question = house.question(&pod).await;
    assert_eq!((&question["tool"], &question["effect"]), (&json!("Write"), &json!("+1 −2")));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n", "nothing is written before it is allowed");
    house.answer(&pod, &question, json!({ "decision": "allow" })).await.expect(200);
    assert_eq!(texts(&house.ended(&pod, from).await), ["written"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "three\n");

    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, &format!("write {} four", file.display())).await;
    let question = house.question(&pod).await;
    house.answer(&pod, &question, json!({ "decision": "deny", "reason": "keep it" })).await.expect(200);
    let events = house.ended(&pod, from).await;
    assert!(texts(&events)[0].starts_with("refused: a person denied it: keep it"), "{events:#?}");

    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, "terminal echo here; exit 3").await;
    let question = house.question(&pod).await;
    assert_eq!(question["tool"], "Bash");
    house.answer(&pod, &question, json!({ "decision": "allow" })).await.expect(200);
    let events = house.ended(&pod, from).await;
    assert_eq!(texts(&events), ["exit 3: here\n"]);
    assert_eq!(of_kind(&events, "tool_finished")[0]["code"], "exit");

    let rules = json!({ "permissions": [{ "tool": "Bash", "decision": "allow" }] });
    house.yoi.patch(&pod_path(&pod), &rules).await.expect(200);
    let events = house.said(&pod, "kill echo ready; sleep 600").await;
    assert_eq!(texts(&events), ["killed, SIGKILL"]);
}

#[tokio::test]
async fn a_turn_is_cancelled_and_paused_and_the_agent_is_told() {
    let house = House::open().await;
    let pod = house.pod("ada").await;
    for verb in ["cancel", "pause"] {
        let from = house.events(&pod).await.len();
        let mut viewer = watch(&house.yoi, &pod).await;
        house.yoi.say(&pod, "hang").await;
        viewer
            .records_until("a", |record| record["event"]["text"].as_str().is_some_and(|text| text.contains("wait.")))
            .await;
        house.yoi.post(&format!("{}/{verb}", pod_path(&pod)), &json!({})).await.expect(202);
        let events = house.ended(&pod, from).await;
        let outcome = if verb == "cancel" { "cancelled" } else { "paused" };
        assert_eq!(of_kind(&events, "run_finished")[0]["outcome"], outcome);
        assert_eq!(texts(&events), ["I begin, and wait."]);
        until("the agent has heard of it", async || house.log().contains(&"was cancelled".to_owned()).then_some(()))
            .await;
        std::fs::remove_file(house.state.join("log")).unwrap();
    }
    let from = house.events(&pod).await.len();
    house.yoi.post(&format!("{}/resume", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert!(texts(&events)[0].contains("Go on from where it stopped"), "{events:#?}");

    let from = house.events(&pod).await.len();
    house.yoi.say(&pod, "tool").await;
    house.question(&pod).await;
    house.yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    let events = house.ended(&pod, from).await;
    assert_eq!(of_kind(&events, "approval_answered")[0]["reason"], "the run was cancelled");
    assert_eq!(texts(&house.said(&pod, "hello").await), ["You said: hello"], "the session goes on");
}

#[tokio::test]
async fn a_login_that_is_wanted_is_said_and_a_flood_holds_up_no_other_pod() {
    let house = House::open().await;
    let (ada, bob, cal) = (house.pod("ada").await, house.pod("bob").await, house.pod("cal").await);
    let events = house.said(&cal, "login").await;
    let finished = of_kind(&events, "run_finished")[0];
    assert_eq!((&finished["outcome"], &finished["code"]), (&json!("error"), &json!("agent_login")));
    assert!(
        finished["detail"].as_str().unwrap().contains("[agents")
            || finished["detail"].as_str().unwrap().contains("log in")
    );

    let from = house.events(&ada).await.len();
    house.yoi.say(&ada, "flood 3000").await;
    assert_eq!(texts(&house.said(&bob, "hello").await), ["You said: hello"]);
    let events = house.ended(&ada, from).await;
    assert!(of_kind(&events, "tool_called").len() <= 64, "calls that are open at once are bounded");
    assert!(texts(&events).concat().ends_with("that was all"));
}

#[tokio::test]
async fn an_agent_writes_to_its_peers_through_yois_own_tools() {
    let house = House::open().await;
    let (ada, bob) = (house.pod("ada").await, house.pod("bob").await);
    house.yoi.post(&format!("{}/peers", pod_path(&ada)), &json!({ "target": "bob" })).await;
    let listed = house.said(&ada, "mcp ListPods {}").await;
    assert!(texts(&listed)[0].contains("bob"), "{listed:#?}");
    let from = house.events(&bob).await.len();
    let sent = house.said(&ada, r#"mcp SendToPeerPod {"name":"bob","message":"from one agent to another"}"#).await;
    let events = house.ended(&bob, from).await;
    assert_eq!(texts(&events), ["You said: [peer message from ada]\nfrom one agent to another"], "{sent:#?}");
    until("the sender knows that it was answered", async || {
        let events = house.events(&ada).await;
        let is_answered = of_kind(&events, "message_receipt").iter().any(|event| event["state"] == "answered");
        is_answered.then_some(())
    })
    .await;
    assert_eq!(house.logged("new ").len(), 2);
    let text = format!("{:?} {:?}", house.events(&ada).await, house.yoi.get("/api/v1/agents").await);
    assert!(!text.contains("Bearer") && !text.contains("pod-"), "the token is told nowhere");
}

#[tokio::test]
async fn a_peers_message_wakes_an_agent_and_its_receipt_is_true() {
    let house = House::open().await;
    let (ada, bob) = (house.pod("ada").await, house.pod("bob").await);
    let peers = format!("{}/peers", pod_path(&ada));
    let made = house.yoi.post(&peers, &json!({ "target": "bob" })).await;
    assert!(made.status < 300, "{made:?}");
    let from = house.events(&bob).await.len();
    let sent = json!({ "to": "bob", "text": "psst" });
    let sent = house.yoi.post(&format!("{}/messages", pod_path(&ada)), &sent).await;
    assert!(sent.status < 300, "{sent:?}");
    let events = house.ended(&bob, from).await;
    assert_eq!(texts(&events), ["You said: [peer message from ada]\npsst"]);
    let states: Vec<_> = of_kind(&events, "message_receipt").iter().map(|event| event["state"].clone()).collect();
    assert_eq!(states, ["stored", "read", "answered"]);
    let answered = until("the sender knows", async || {
        let events = house.events(&ada).await;
        let receipts = of_kind(&events, "message_receipt").into_iter().cloned().collect::<Vec<_>>();
        receipts.into_iter().find(|event| event["state"] == "answered")
    })
    .await;
    assert_eq!(answered["peer"]["name"], "bob");
}
