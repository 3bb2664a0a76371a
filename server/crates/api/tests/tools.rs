//! Tools that a person runs, and the approvals of Pods, over a real listener.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use async_trait::async_trait;
use common::{Server, answer, code};
use pod::ToolOutcome;
use protocol::{PermissionDecision, PodName};
use reqwest::{Method, header};
use serde_json::{Value, json};
use tools::{Output, Place, Tool, Toolbox};

/// Repeats what it is told, or fails with the code that it is told.
#[derive(Debug)]
struct Parrot {
    name: &'static str,
}

#[async_trait]
impl Tool for Parrot {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        "Says back what it is told."
    }

    fn schema(&self) -> Value {
        json!({ "type": "object", "properties": { "command": { "type": "string" }, "fail": { "type": "string" } },
            "additionalProperties": false })
    }

    fn default_permission(&self) -> PermissionDecision {
        match self.name {
            "Echo" => PermissionDecision::Allow,
            name => pod::default_permission(name),
        }
    }

    async fn call(&self, _: &Place, arguments: Value, _: Output) -> ToolOutcome {
        match (arguments["command"].as_str(), arguments["fail"].as_str()) {
            (_, Some(code)) => ToolOutcome::failed(code, "it fell from its perch"),
            (Some(words), None) => ToolOutcome::done("said it").with_content(words),
            (None, None) => ToolOutcome::failed("invalid_input", "there is no `command`"),
        }
    }
}

/// `Echo` is allowed without a rule, `Bash` needs an approval.
async fn server() -> Server {
    let parrot = |name| Arc::new(Parrot { name }) as Arc<dyn Tool>;
    Server::start_with(Toolbox::new([parrot("Echo"), parrot("Bash")])).await
}

fn run(words: &str) -> Value {
    json!({ "arguments": { "command": words } })
}

/// A Pod with one open approval; returns its path, and the approval.
async fn asking(server: &Server, name: &str) -> (String, Value) {
    let pod = server.pod(name).await;
    server.say_until(&pod, r#"call Bash {"command":"ls"}"#, "waiting").await;
    let open = server.get(&format!("{pod}/approvals")).await;
    assert_eq!((open.0, open.1["items"].as_array().unwrap().len(), &open.1["next"]), (200, 1, &Value::Null));
    (pod, open.1["items"][0].clone())
}

#[tokio::test]
async fn a_person_runs_a_tool_and_no_model_is_told_of_it() {
    let server = server().await;
    let pod = server.pod("ada").await;
    let before = server.get(&format!("{pod}/history")).await;
    let done = server.post(&format!("{pod}/tools/Echo"), run("hello")).await;
    assert_eq!(done, (200, json!({ "summary": "said it", "content": "hello", "is_error": false })));
    // The call itself is the person's answer to what a rule would ask.
    let asked = server.post(&format!("{pod}/tools/Bash"), run("ls")).await;
    assert_eq!((asked.0, &asked.1["content"]), (200, &json!("ls")));
    assert_eq!(server.get(&pod).await.1["state"], "idle");

    let called = server.records(&pod, "tool_called").await;
    let finished = server.records(&pod, "tool_finished").await;
    assert_eq!((called.len(), finished.len()), (2, 2));
    assert!(called.iter().chain(&finished).all(|event| event["by"] == "operator"));
    assert_eq!((&called[0]["name"], &called[0]["arguments"]), (&json!("Echo"), &json!({ "command": "hello" })));
    assert_eq!(finished[0]["call_id"], called[0]["call_id"]);
    assert_eq!(server.get(&format!("{pod}/history")).await, before);
    assert_eq!(server.audited("tool").await, vec![("done".to_owned(), String::new()); 2]);
}

#[tokio::test]
async fn the_failure_of_a_tool_is_an_answer_and_a_request_that_cannot_be_is_an_error() {
    let server = server().await;
    let pod = server.pod("ada").await;
    let echo = format!("{pod}/tools/Echo");
    let fell = server.post(&echo, json!({ "arguments": { "fail": "not_found" } })).await;
    let expected = json!({ "summary": "it fell from its perch", "is_error": true, "code": "not_found" });
    assert_eq!(fell, (200, expected));
    let unfit = server.post(&echo, json!({ "arguments": {} })).await;
    assert_eq!((unfit.0, &unfit.1["code"]), (200, &json!("invalid_input")));

    assert_eq!(code(&server.post(&format!("{pod}/tools/Sing"), run("la")).await), (404, "not_found"));
    assert_eq!(code(&server.post(&format!("{pod}/tools/a%2Fb"), run("la")).await), (404, "not_found"));
    assert_eq!(code(&server.post(&format!("{pod}/tools/%ff"), run("la")).await), (400, "invalid_input"));
    let no_arguments = [json!([]), json!(["hello"]), json!(null), json!("ls")].map(|it| json!({ "arguments": it }));
    let no_bodies =
        [json!({}), json!([]), json!("x"), json!({ "args": {} }), json!({ "arguments": {}, "by": "model" })];
    for body in no_arguments.into_iter().chain(no_bodies) {
        assert_eq!(code(&server.post(&echo, body.clone()).await), (400, "invalid_input"), "{body}");
    }
    for raw in [&b""[..], b"{", b"\xff"] {
        let request = server.request(Method::POST, &echo).header(header::CONTENT_TYPE, "application/json");
        assert_eq!(code(&answer(request.body(raw.to_vec())).await), (400, "invalid_input"), "{raw:?}");
    }
    let nobody = "/api/v1/runtimes/local/workers/nobody/tools/Echo";
    assert_eq!(code(&server.post(nobody, run("x")).await), (404, "pod_not_found"));
    let nowhere = "/api/v1/runtimes/nowhere/workers/nobody/tools/Echo";
    assert_eq!(code(&server.post(nowhere, run("x")).await), (404, "runtime_not_found"));
    assert_eq!(code(&answer(server.request(Method::GET, &echo)).await), (405, "method_not_allowed"));

    assert_eq!(server.post(&format!("{pod}/stop"), json!({})).await.0, 202);
    assert_eq!(code(&server.post(&echo, run("x")).await), (409, "not_live"));
    let audit = server.audited("tool").await;
    assert_eq!(audit[0], ("refused".to_owned(), "not_live".to_owned()));
}

#[tokio::test]
async fn a_rule_that_denies_holds_for_a_person_too() {
    let server = server().await;
    let pod = server.pod("ada").await;
    let rules = json!({ "permissions": [{ "tool": "Bash", "match": "rm *", "decision": "deny" }] });
    assert_eq!(answer(server.request(Method::PATCH, &pod).json(&rules)).await.0, 200);
    let denied = server.post(&format!("{pod}/tools/Bash"), run("rm -r .")).await;
    assert_eq!((denied.0, &denied.1["is_error"], &denied.1["code"]), (200, &json!(true), &json!("permission_denied")));
    assert_eq!(server.post(&format!("{pod}/tools/Bash"), run("ls")).await.1["is_error"], false);
}

#[tokio::test]
async fn rules_that_say_nothing_and_more_of_them_than_there_may_be_are_refused_by_their_place() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let patch =
        async |rules: &Value| answer(server.request(Method::PATCH, &pod).json(&json!({ "permissions": rules }))).await;
    let rule = |tool: &str, pattern: &str| json!({ "tool": tool, "match": pattern, "decision": "allow" });
    let many = |count: usize| -> Value { (0..count).map(|number| rule("Bash", &format!("make {number}"))).collect() };
    for (rules, place) in [
        (json!([rule("Bash", "a"), rule("", "a")]), "`permissions[1].tool`"),
        (json!([rule(" ", "a")]), "`permissions[0].tool`"),
        (json!([rule(&"x".repeat(201), "a")]), "`permissions[0].tool` has 201 characters; it has at most 200"),
        (json!([rule("Bash", "")]), "`permissions[0].match`"),
        (json!([rule("Bash", "\t")]), "`permissions[0].match`"),
        (json!([rule("Bash", &"x".repeat(4_097))]), "`permissions[0].match` has 4097 characters; it has at most 4096"),
        (many(201), "`permissions` has 201 rules; there are at most 200"),
        (many(5_000), "`permissions` has 5000 rules; there are at most 200"),
    ] {
        let refused = patch(&rules).await;
        assert_eq!(code(&refused), (400, "invalid_input"), "{place}");
        assert!(refused.1["detail"].as_str().unwrap().starts_with(place), "{refused:?}");
    }
    assert_eq!(server.get(&pod).await.1["permissions"], json!([]));
    assert_eq!(patch(&many(200)).await.0, 200);

    let path = format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    let refused = server.post(&path, json!({ "decision": "allow", "remember": true })).await;
    assert_eq!(code(&refused), (400, "invalid_input"));
    assert!(refused.1["detail"].as_str().unwrap().starts_with("`remember`: the Pod has 200 rules"), "{refused:?}");
    assert_eq!(patch(&many(199)).await.0, 200);
    assert_eq!(server.post(&path, json!({ "decision": "allow", "remember": true })).await.0, 200);
    let mut detail = server.get(&pod).await.1;
    let permissions = detail["permissions"].take();
    let folder = &detail["cwd"];
    let kept = json!({ "tool": "Bash", "match": "ls", "folder": folder, "decision": "allow" });
    assert_eq!((permissions.as_array().unwrap().len(), &permissions[0]), (200, &kept));
}

#[tokio::test]
async fn a_repeated_key_runs_a_tool_once_and_stands_for_one_tool_with_one_body() {
    let server = server().await;
    let pod = server.pod("ada").await;
    let send = |tool: &'static str, words: &'static str| {
        let request = server.request(Method::POST, &format!("{pod}/tools/{tool}"));
        answer(request.header("Idempotency-Key", "k-1").json(&run(words)))
    };
    let (first, second) = tokio::join!(send("Echo", "hi"), send("Echo", "hi"));
    assert_eq!((first.0, &first.1["content"]), (200, &json!("hi")));
    assert_eq!(first, second);
    assert_eq!(server.records(&pod, "tool_called").await.len(), 1);
    assert_eq!(code(&send("Echo", "ho").await), (422, "key_reused"));
    assert_eq!(code(&send("Bash", "hi").await), (422, "key_reused"));
}

#[tokio::test]
async fn a_question_is_listed_answered_once_and_the_run_goes_on() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    assert_eq!((&question["tool"], &question["arguments"]), (&json!("Bash"), &json!({ "command": "ls" })));
    assert!(question["asked_at"].is_string() && question["decision"].is_null());
    assert_eq!(server.get(&pod).await.1["needs_you"], true);
    let inbox = server.backend.everywhere().open_approvals().await.unwrap().items;
    assert_eq!((inbox.len(), &inbox[0].name), (1, &PodName::parse("ada").unwrap()));
    // What it would do is looked up for one Pod at a time.
    let mut plain = question.clone();
    for looked_up in ["preview", "patterns"] {
        assert!(plain.as_object_mut().unwrap().remove(looked_up).is_some(), "{looked_up}: {question}");
    }
    assert_eq!(json!(inbox[0].approval), plain);

    let path = format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    let allow = json!({ "decision": "allow", "reason": "go on" });
    let send = |body: Value| answer(server.request(Method::POST, &path).header("Idempotency-Key", "a-1").json(&body));
    let allowed = send(allow.clone()).await;
    assert_eq!((allowed.0, &allowed.1["id"], &allowed.1["decision"]), (200, &question["id"], &json!("allow")));
    assert_eq!((&allowed.1["by"], &allowed.1["reason"]), (&json!("operator"), &json!("go on")));
    assert_eq!(send(allow).await, allowed);
    assert_eq!(code(&send(json!({ "decision": "deny" })).await), (422, "key_reused"));
    assert_eq!(code(&server.post(&path, json!({ "decision": "deny" })).await), (409, "already_answered"));
    server.until(&pod, "idle").await;
    assert_eq!(server.records(&pod, "tool_finished").await[0]["content"], "ls");

    assert_eq!(server.get(&format!("{pod}/approvals")).await.1["items"], json!([]));
    assert_eq!(server.get(&format!("{pod}/approvals?all=false")).await.1["items"], json!([]));
    assert_eq!(server.get(&format!("{pod}/approvals?all=true")).await.1["items"], json!([allowed.1]));
    assert!(server.backend.everywhere().open_approvals().await.unwrap().items.is_empty());
    let audit = server.audited("approve").await;
    assert_eq!(audit.iter().filter(|(result, _)| result == "done").count(), 1);
    assert!(audit.contains(&("refused".to_owned(), "already_answered".to_owned())));
}

#[tokio::test]
async fn the_audit_says_what_was_answered_and_of_which_call() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let path = |question: &Value| format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    assert_eq!(server.post(&path(&question), json!({ "decision": "allow" })).await.0, 200);
    let late = json!({ "decision": "deny", "remember": true });
    assert_eq!(code(&server.post(&path(&question), late).await), (409, "already_answered"));
    server.until(&pod, "idle").await;
    let long = format!("echo {}", "ä".repeat(300));
    server.say_until(&pod, &format!("call Bash {}", json!({ "command": long })), "waiting").await;
    let question = server.get(&format!("{pod}/approvals")).await.1["items"][0].clone();
    let deny = json!({ "decision": "deny", "remember": true, "reason": "too long" });
    assert_eq!(server.post(&path(&question), deny).await.0, 200);
    server.until(&pod, "idle").await;
    assert_eq!(server.post(&format!("{pod}/tools/Bash"), json!({ "arguments": { "command": "pwd" } })).await.0, 200);
    let nothing = server.post(&format!("{pod}/approvals/nothing"), json!({ "decision": "allow" })).await;
    assert_eq!(code(&nothing), (404, "not_found"));

    let rows = server.get("/api/v1/audit").await.1["items"].as_array().unwrap().clone();
    let about: Vec<_> = rows
        .iter()
        .filter(|row| row["action"] == "approve" || row["action"] == "tool")
        .map(|row| (row["result"].as_str().unwrap(), row["about"].clone()))
        .collect();
    let cut: String = long.chars().take(200).chain(['…']).collect();
    let expected = [
        ("refused", json!({ "decision": "allow" })),
        ("done", json!({ "tool": "Bash", "subject": "pwd" })),
        ("done", json!({ "tool": "Bash", "subject": cut, "decision": "deny", "remembered": true, "scope": "pod" })),
        ("refused", json!({ "tool": "Bash", "subject": "ls", "decision": "deny", "remembered": true })),
        ("done", json!({ "tool": "Bash", "subject": "ls", "decision": "allow" })),
    ];
    assert_eq!(about, expected);
    assert!(rows.iter().all(|row| row["action"] != "input" || row["about"].is_null()), "{rows:#?}");
}

#[tokio::test]
async fn a_question_that_is_named_twice_is_answered_once() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let address = pod.trim_start_matches("/api/v1/runtimes/").replace("/workers/", "/");
    let ids = json!([{ "pod": address, "id": question["id"] }, { "pod": address, "id": question["id"] }]);
    let body = json!({ "decision": "allow", "ids": ids });
    let answered = server.post("/api/v1/approvals", body).await;
    assert_eq!(answered.0, 200, "{}", answered.1);
    let items = &answered.1["items"];
    assert_eq!((&items[0]["approval"]["decision"], &items[0]["error"]), (&json!("allow"), &Value::Null), "{items}");
    assert_eq!((&items[1]["approval"], &items[1]["error"]["code"]), (&Value::Null, &json!("already_answered")));
    assert_eq!(server.records(&pod, "approval_answered").await.len(), 1);
}

#[tokio::test]
async fn of_two_answers_at_once_the_first_counts() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let path = format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    let (allow, deny) = tokio::join!(
        server.post(&path, json!({ "decision": "allow" })),
        server.post(&path, json!({ "decision": "deny" }))
    );
    let mut answers = [code(&allow), code(&deny)];
    answers.sort_unstable();
    assert_eq!(answers, [(200, ""), (409, "already_answered")]);
    assert_eq!(server.records(&pod, "approval_answered").await.len(), 1);
}

#[tokio::test]
async fn a_denial_tells_the_model_why_and_a_remembered_answer_is_not_asked_again() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let path = format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    let deny = json!({ "decision": "deny", "remember": true, "reason": "not on a Friday" });
    assert_eq!(server.post(&path, deny).await.0, 200);
    server.until(&pod, "idle").await;
    let finished = server.records(&pod, "tool_finished").await;
    assert_eq!((&finished[0]["is_error"], &finished[0]["code"]), (&json!(true), &json!("permission_denied")));
    let history = server.get(&format!("{pod}/history")).await.1.to_string();
    assert!(history.contains("not on a Friday"), "{history}");

    server.say(&pod, r#"call Bash {"command":"ls"}"#).await;
    assert_eq!(server.records(&pod, "approval_asked").await.len(), 1, "the same argument is not asked again");
    server.say_until(&pod, r#"call Bash {"command":"ls -l"}"#, "waiting").await;
}

#[tokio::test]
async fn a_question_that_was_withdrawn_or_never_was_takes_no_answer() {
    let server = server().await;
    let (pod, question) = asking(&server, "ada").await;
    let path = format!("{pod}/approvals/{}", question["id"].as_str().unwrap());
    for body in [json!({}), json!({ "decision": "maybe" }), json!({ "decision": "allow", "colour": 1 }), json!([])] {
        assert_eq!(code(&server.post(&path, body.clone()).await), (400, "invalid_input"), "{body}");
    }
    for bad in ["all=1", "all=", "all=yes", "all=true&all=true"] {
        assert_eq!(code(&server.get(&format!("{pod}/approvals?{bad}")).await), (400, "invalid_input"), "{bad}");
    }
    let allow = json!({ "decision": "allow" });
    let unknown = server.post(&format!("{pod}/approvals/no-such-question"), allow.clone()).await;
    assert_eq!(code(&unknown), (404, "not_found"));
    assert_eq!(code(&server.get("/api/v1/runtimes/local/workers/nobody/approvals").await), (404, "pod_not_found"));

    assert_eq!(server.post(&format!("{pod}/cancel"), json!({})).await.0, 202);
    server.until(&pod, "idle").await;
    assert_eq!(code(&server.post(&path, allow).await), (409, "already_answered"));
    let all = server.get(&format!("{pod}/approvals?all=true")).await.1;
    assert!(all["items"][0]["decision"].is_null() && all["items"][0]["reason"].is_string(), "{all}");
}

#[tokio::test]
async fn a_pod_alone_sees_itself() {
    let server = server().await;
    let pod = server.pod("ada").await;
    let detail = server.get(&pod).await.1;
    assert_eq!(detail["children"], json!([]));
    let visible = server.get(&format!("{pod}/visible")).await;
    let expected = json!({ "items": [{ "name": "ada", "pod": detail["pod"], "visibility": ["self"], "state": "idle",
        "restorable": false, "scope": detail["scope"], "children": 0 }], "next": null });
    assert_eq!(visible, (200, expected));
    assert_eq!(code(&server.get("/api/v1/runtimes/local/workers/nobody/visible").await), (404, "pod_not_found"));
}
