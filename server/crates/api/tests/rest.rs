//! The REST API over a real listener, from the first Pod to its deletion.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code};
use reqwest::{Method, header};
use serde_json::{Value, json};

fn text(text: &str) -> Value {
    json!({ "segments": [{ "type": "text", "text": text }] })
}

#[tokio::test]
async fn a_pod_is_created_found_sent_a_message_renamed_and_deleted() {
    let server = Server::start().await;
    let created = server.post("/api/v1/pods", json!({ "name": "ada" })).await;
    assert_eq!(created.0, 201);
    let pod = common::pod_path(&created.1["pod"]);
    assert_eq!(created.1["state"], "idle");
    let list = server.get("/api/v1/pods").await.1;
    assert_eq!((&list["items"][0]["pod"], &list["next"]), (&created.1["pod"], &Value::Null));
    assert_eq!(server.get("/api/v1/pods/resolve?target=ada").await, (200, created.1["pod"].clone()));
    assert_eq!(server.get("/api/v1/pods/resolve?target=ada%40local").await.0, 200);
    let near = server.get("/api/v1/pods/resolve?target=adda").await;
    assert_eq!(code(&near), (404, "pod_not_found"));
    assert_eq!(near.1["candidates"][0]["name"], "ada");

    server.say(&pod, "say hello there").await;
    let detail = server.get(&pod).await.1;
    assert_eq!((&detail["name"], &detail["state"]), (&json!("ada"), &json!("idle")));
    assert!(detail["scope"].is_array());
    let page = server.get(&format!("{pod}/transcript")).await.1;
    let records = page["items"].as_array().unwrap();
    assert!(
        records
            .iter()
            .any(|record| record["event"]["kind"] == "message_finished" && record["event"]["text"] == "hello there")
    );
    assert!(records.windows(2).all(|pair| pair[0]["seq"].as_i64() < pair[1]["seq"].as_i64()));
    let history = server.get(&format!("{pod}/history")).await.1;
    assert!(history["messages"].as_array().unwrap().iter().any(|message| message["content"] == "hello there"));
    let hits = server.get("/api/v1/search?q=hello").await.1;
    assert!(hits["items"].as_array().unwrap().iter().any(|hit| hit["name"] == "ada"));

    let renamed = answer(server.request(Method::PATCH, &pod).json(&json!({ "name": "ada2" }))).await;
    assert_eq!((renamed.0, &renamed.1["name"]), (200, &json!("ada2")));
    let refused = answer(server.request(Method::PATCH, &pod).json(&json!({ "provider": "nobody" }))).await;
    assert_eq!(code(&refused), (400, "invalid_input"));
    let newest = server.get("/api/v1/audit?result=refused").await.1["items"][0].clone();
    assert_eq!(newest["action"], "settings", "what a request that names no name wanted to change: {newest}");
    let delete = |query: &str| answer(server.request(Method::DELETE, &format!("{pod}{query}")));
    assert_eq!(code(&delete("").await), (400, "invalid_input"));
    assert_eq!(code(&delete("?confirm=ada").await), (400, "invalid_input"));
    assert_eq!(delete("?confirm=ada2").await, (204, Value::Null));
    assert_eq!(code(&server.get(&pod).await), (404, "pod_not_found"));

    let audit = server.get("/api/v1/audit").await.1;
    let done: Vec<&str> =
        audit["items"].as_array().unwrap().iter().filter_map(|entry| entry["action"].as_str()).collect();
    for action in ["pod_create", "input", "rename", "delete"] {
        assert!(done.contains(&action), "{action} is not in {done:?}");
    }
}

#[tokio::test]
async fn commands_answer_202_and_the_ones_that_do_not_fit_say_so() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let verb = |verb: &str| server.request(Method::POST, &format!("{pod}/{verb}"));
    assert_eq!(code(&answer(verb("pause")).await), (409, "not_running"));
    assert_eq!(code(&answer(verb("resume").json(&json!({}))).await), (409, "not_paused"));
    assert_eq!(code(&answer(verb("cancel").json(&Value::Null)).await), (409, "not_running"));
    assert_eq!(code(&answer(verb("stop").json(&json!({ "now": true }))).await), (400, "invalid_input"));
    assert_eq!(code(&answer(verb("restore").json(&json!({ "tree": 1 }))).await), (400, "invalid_input"));
    let stopped = answer(verb("stop")).await;
    assert_eq!(stopped.0, 202);
    assert!(stopped.1["seq"].is_i64() && stopped.1["accepted_at"].is_string() && stopped.1["command_id"].is_string());
    assert_eq!(code(&server.post(&format!("{pod}/input"), text("say x")).await), (409, "not_live"));
    assert_eq!(answer(verb("restore").json(&json!({ "tree": true }))).await.0, 202);
    assert_eq!(server.get(&pod).await.1["state"], "idle");
}

#[tokio::test]
async fn a_repeated_key_is_one_command() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let send = |key: &'static str, body: Value| {
        answer(server.request(Method::POST, &format!("{pod}/input")).header("Idempotency-Key", key).json(&body))
    };
    let queued = json!({ "segments": [{ "type": "text", "text": "say once" }], "queue": true });
    let (first, second) = tokio::join!(send("k-1", queued.clone()), send("k-1", queued.clone()));
    assert_eq!((first.0, &first.1["command_id"]), (202, &json!("k-1")));
    assert_eq!(first, second);
    assert_eq!(code(&send("k-1", text("say another")).await), (422, "key_reused"));
    for bad in ["", " ", "a b", &"x".repeat(129)] {
        let request = server.request(Method::POST, &format!("{pod}/pause")).header("Idempotency-Key", bad);
        assert_eq!(code(&answer(request).await), (400, "invalid_input"), "{bad:?}");
    }
}

#[tokio::test]
async fn what_is_malformed_is_told_in_one_shape() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let long = "x".repeat(protocol::INPUT_BYTES_MAX + 1);
    for (path, body, expected) in [
        ("/api/v1/pods", json!({ "name": "ada" }), (409, "name_taken")),
        ("/api/v1/pods", json!({}), (400, "invalid_input")),
        ("/api/v1/pods", json!(["bob"]), (400, "invalid_input")),
        ("/api/v1/pods", json!({ "name": "a b" }), (400, "invalid_input")),
        ("/api/v1/pods", json!({ "name": "bob", "colour": "red" }), (400, "invalid_input")),
        ("/api/v1/pods", json!({ "name": "bob", "provider": "nobody" }), (400, "invalid_input")),
        ("/api/v1/pods", json!({ "name": "bob", "profile": "nobody" }), (400, "invalid_input")),
        ("input", json!({ "segments": [] }), (400, "invalid_input")),
        ("input", text("  \n "), (400, "invalid_input")),
        ("input", text(&long), (413, "payload_too_large")),
        ("input", json!({ "segments": [{ "type": "hologram" }] }), (400, "invalid_input")),
        ("input", json!({ "segments": [{ "type": "text" }] }), (400, "invalid_input")),
        ("input", json!({ "segments": [{ "type": "text", "text": "x" }], "que": true }), (400, "invalid_input")),
    ] {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("{pod}/{path}") };
        assert_eq!(
            code(&server.post(&path, body.clone()).await),
            expected,
            "{path} {}",
            &body.to_string()[..60.min(body.to_string().len())]
        );
    }
    for raw in [&b"{"[..], b"\xff\xfe", b"nul", b""] {
        let request = server.request(Method::POST, "/api/v1/pods").header(header::CONTENT_TYPE, "application/json");
        assert_eq!(code(&answer(request.body(raw.to_vec())).await), (400, "invalid_input"), "{raw:?}");
    }
    for (path, expected) in [
        ("/api/v1/pods?state=sleepy", (400, "invalid_input")),
        ("/api/v1/pods?limit=0", (400, "invalid_input")),
        ("/api/v1/pods?after=nonsense", (400, "cursor_invalid")),
        ("/api/v1/audit?after=nonsense", (400, "cursor_invalid")),
        ("/api/v1/pods/resolve", (400, "invalid_input")),
        ("/api/v1/pods/resolve?target=a%20b", (400, "invalid_input")),
        ("/api/v1/pods/resolve?target=ada%40nowhere", (404, "runtime_not_found")),
        ("/api/v1/search", (400, "invalid_input")),
        ("/api/v1/search?q=%20", (400, "invalid_input")),
        ("/api/v1/runtimes/LOCAL/workers/x", (400, "invalid_input")),
        ("/api/v1/runtimes/local/workers/a_b", (400, "invalid_input")),
        ("/api/v1/runtimes/local/workers/%ff", (400, "invalid_input")),
        ("/api/v1/runtimes/local/workers/nobody", (404, "pod_not_found")),
        ("/api/v1/runtimes/nowhere/workers/nobody", (404, "runtime_not_found")),
        ("/api/v1/runtimes/local/workers/nobody/transcript", (404, "pod_not_found")),
        ("/api/v1/events", (400, "invalid_input")),
    ] {
        assert_eq!(code(&server.get(path).await), expected, "{path}");
    }
    for bad in ["before=abc", "before=-1", "before=", "limit=0", "limit=x", "before=1&before=2"] {
        assert_eq!(code(&server.get(&format!("{pod}/transcript?{bad}")).await), (400, "invalid_input"), "{bad}");
    }
}

#[tokio::test]
async fn a_transcript_is_read_in_pages_from_its_end() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say(&pod, "say one").await;
    server.say(&pod, "say two").await;
    let all = server.get(&format!("{pod}/transcript?limit=1000")).await.1["items"].as_array().unwrap().clone();
    let (mut pages, mut next) = (Vec::new(), Value::Null);
    loop {
        let before = next.as_str().map(|next| format!("&before={next}")).unwrap_or_default();
        let (status, page) = server.get(&format!("{pod}/transcript?limit=3{before}")).await;
        assert_eq!(status, 200);
        let items = page["items"].as_array().unwrap().clone();
        assert!(items.len() <= 3);
        pages.splice(0..0, items);
        next = page["next"].clone();
        if next.is_null() {
            break;
        }
    }
    assert_eq!(pages, all);
}

#[tokio::test]
async fn a_runtime_is_added_and_removed_once_for_its_key() {
    let server = Server::start().await;
    let with_key = async |server: &Server, method: Method, path: &str, key: &str, body: Option<&Value>| {
        let request = server.request(method, path).header("idempotency-key", key);
        answer(match body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
    };
    let (list, far) = ("/api/v1/runtimes", "/api/v1/runtimes/far");
    let add = json!({ "runtime_id": "far", "url": "http://127.0.0.1:1", "token": "t" });
    let (one, two) = tokio::join!(
        with_key(&server, Method::POST, list, "k1", Some(&add)),
        with_key(&server, Method::POST, list, "k1", Some(&add))
    );
    assert_eq!((one.0, &one), (201, &two), "at the same time");
    assert_eq!(with_key(&server, Method::POST, list, "k1", Some(&add)).await, one, "later");
    assert_eq!(code(&with_key(&server, Method::POST, list, "k2", Some(&add)).await), (409, "name_taken"));
    let other = json!({ "runtime_id": "other", "url": "http://127.0.0.1:1", "token": "t" });
    assert_eq!(code(&with_key(&server, Method::POST, list, "k1", Some(&other)).await), (422, "key_reused"));
    assert_eq!(code(&with_key(&server, Method::DELETE, far, "k1", None).await), (422, "key_reused"));
    let pod = json!({ "name": "ada" });
    assert_eq!(code(&with_key(&server, Method::POST, "/api/v1/pods", "k1", Some(&pod)).await), (422, "key_reused"));
    assert_eq!(with_key(&server, Method::POST, "/api/v1/pods", "k2", Some(&pod)).await.0, 201, "it was refused: free");
    for _ in 0..2 {
        assert_eq!(with_key(&server, Method::DELETE, far, "k3", None).await, (204, Value::Null));
    }
    assert_eq!(code(&with_key(&server, Method::DELETE, far, "k4", None).await), (404, "runtime_not_found"));
    assert_eq!(server.audited("runtime_add").await.len(), 3, "a repeat writes no row");

    let server = server.restart().await;
    assert_eq!(with_key(&server, Method::POST, list, "k1", Some(&add)).await, one, "after a restart");
    assert_eq!(with_key(&server, Method::DELETE, far, "k3", None).await, (204, Value::Null));
    assert_eq!(server.get(list).await.1["items"].as_array().unwrap().len(), 1, "neither was done again");
}

#[tokio::test]
async fn lists_health_figures_and_the_document_are_there() {
    let server = Server::start().await;
    let runtimes = server.get("/api/v1/runtimes").await.1;
    assert_eq!(
        (&runtimes["items"][0]["runtime_id"], &runtimes["items"][0]["kind"]),
        (&json!("local"), &json!("embedded"))
    );
    let providers = server.get("/api/v1/providers").await.1;
    assert_eq!(providers["items"][0]["name"], "rehearsal");
    assert!(providers["unconfigured"].is_array() && providers["next"].is_null());
    let ready = server.get("/readyz").await;
    assert_eq!((ready.0, &ready.1["ready"], &ready.1["failed"]), (200, &json!(true), &json!([])));
    let metrics = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("yoi_http_requests_total{") && metrics.ends_with("# EOF\n"), "{metrics}");
    let document = server.get("/api/v1/openapi.json").await.1;
    assert_eq!(document["openapi"], "3.1.0");
    let docs = server.request(Method::GET, "/api/docs").send().await.unwrap();
    assert!(docs.headers()["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    assert!(docs.text().await.unwrap().contains("/api/v1/pods/resolve"));
    let head = server.request(Method::HEAD, "/api/v1/pods").send().await.unwrap();
    assert_eq!(head.status(), 200);
    assert!(head.bytes().await.unwrap().is_empty());
    let packed = server.request(Method::GET, "/api/v1/openapi.json").header(header::ACCEPT_ENCODING, "br, gzip");
    assert_eq!(packed.send().await.unwrap().headers()[header::CONTENT_ENCODING], "br");
}

#[tokio::test]
async fn files_that_a_message_may_name_are_listed_by_a_few_letters() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let cwd = server.get(&pod).await.1["cwd"].as_str().unwrap().to_owned();
    // Not a hidden one: those are not listed.
    let folder = tempfile::Builder::new().prefix("files").tempdir_in(&cwd).unwrap();
    std::fs::write(folder.path().join("a-name-of-its-own.txt"), "").unwrap();
    let path = folder.path().strip_prefix(&cwd).unwrap().join("a-name-of-its-own.txt");
    let found = testkit::until("the file is found", async || {
        // A lookup that is delayed finds less.
        Some(server.get(&format!("{pod}/files?q=a-name-of-its-own")).await)
            .filter(|found| found.1["items"] != json!([]))
    })
    .await;
    assert_eq!(found, (200, json!({ "items": [path.to_str().unwrap()], "next": null })));
    assert_eq!(server.get(&format!("{pod}/files")).await.0, 200);
    let long = "x".repeat(2_000);
    assert_eq!(code(&server.get(&format!("{pod}/files?q={long}")).await), (400, "invalid_input"));
    assert_eq!(server.get("/api/v1/runtimes/local/workers/nobody/files").await.0, 404);
    assert_eq!(answer(server.bare(Method::GET, &format!("{pod}/files"))).await.0, 401);
}

#[tokio::test]
async fn a_repeat_has_its_first_answer_also_when_the_pod_is_gone() {
    let server = Server::start().await;
    let ada = server.pod("ada").await;
    let keyed = |method, path: &str| server.request(method, path).header("Idempotency-Key", path.len().to_string());
    let (input, delete) = (format!("{ada}/input"), format!("{ada}?confirm=ada"));
    let say = |words: &str| keyed(Method::POST, &input).json(&text(words));
    let receipt = answer(say("say hello")).await;
    assert_eq!(receipt.0, 202);
    server.until(&ada, "idle").await;
    let six = futures_util::future::join_all((0..6).map(|_| answer(keyed(Method::DELETE, &delete)))).await;
    assert!(six.iter().all(|told| *told == (204, Value::Null)), "{six:?}");
    assert_eq!(answer(say("say hello")).await, receipt);
    assert_eq!(code(&answer(say("say goodbye")).await), (422, "key_reused"));
    assert_eq!(code(&server.post(&input, text("say hello")).await), (404, "pod_not_found"));
    let deletes = server.audited("delete").await;
    assert_eq!(deletes, [("done".to_owned(), String::new())], "it happened once");
}

#[tokio::test]
async fn what_is_noted_on_changes_is_kept_once_for_every_browser() {
    let server = Server::start().await;
    let path = format!("{}/changes/drafts", server.pod("ada").await);
    let put = async |key: &'static str, body: &Value| {
        answer(server.request(Method::PUT, &path).header("Idempotency-Key", key).json(body)).await
    };
    let nothing = json!({ "version": 0, "comments": [], "seen": [] });
    assert_eq!(server.get(&path).await, (200, nothing));
    let comments = json!([{ "path": "/a/b.rs", "line": 3, "text": "why?" }]);
    let desk = json!({ "version": 0, "comments": comments, "seen": ["v1 /a/b.rs"] });
    let kept = json!({ "version": 1, "comments": comments, "seen": ["v1 /a/b.rs"] });
    assert_eq!(put("k1", &desk).await, (200, json!({ "version": 1 })));
    assert_eq!(put("k1", &desk).await, (200, json!({ "version": 1 })), "a repeat has the first answer");
    // The phone has not read it.
    let phone = json!({ "version": 0, "comments": [], "seen": [] });
    assert_eq!(code(&put("k2", &phone).await), (409, "changed"));
    assert_eq!(server.get(&path).await, (200, kept));
    let line = |line: u64, text: &str| json!({ "path": "a", "line": line, "text": text });
    for bad in [
        json!({ "version": 1, "comments": [line(0, "x")] }),
        json!({ "version": 1, "comments": [line(1, &"x".repeat(16 * 1024 + 1))] }),
        json!({ "version": 1, "comments": vec![line(1, "x"); 201] }),
        json!({ "version": 1, "comments": vec![line(1, &"x".repeat(16_000)); 100] }),
        json!({ "version": 1, "seen": vec!["x"; 2_001] }),
        json!({ "version": 1, "seen": ["x".repeat(5_000)] }),
        json!({ "comments": [] }),
        json!({ "version": 1, "comment": [] }),
        json!({ "version": -1 }),
    ] {
        assert_eq!(code(&put("k3", &bad).await), (400, "invalid_input"));
    }
    let server = server.restart().await;
    let path = server.get("/api/v1/pods").await.1["items"][0]["pod"].clone();
    let path = format!("{}/changes/drafts", common::pod_path(&path));
    assert_eq!(server.get(&path).await.1["version"], 1);
    let emptied = server.request(Method::PUT, &path).json(&json!({ "version": 1 }));
    assert_eq!(answer(emptied).await, (200, json!({ "version": 2 })));
    assert_eq!(server.audited("drafts").await, [], "what is only noted is in no audit, refused or not");
}

#[tokio::test]
async fn what_is_sent_is_no_longer_noted() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let path = format!("{pod}/changes/drafts");
    let line = |line: u64, text: &str| json!({ "path": "b.rs", "line": line, "text": text });
    let drafts = json!({ "version": 0, "comments": [line(3, "why?"), line(9, "half a")], "seen": ["v1 b.rs"] });
    assert_eq!(answer(server.request(Method::PUT, &path).json(&drafts)).await.0, 200);
    let review = json!({ "comments": [line(3, "why?")] });
    let sent = answer(server.request(Method::POST, &format!("{pod}/changes/review")).json(&review)).await;
    assert_eq!(sent.0, 202, "{}", sent.1);
    let left = json!({ "version": 2, "comments": [line(9, "half a")], "seen": ["v1 b.rs"] });
    assert_eq!(server.get(&path).await, (200, left.clone()));
    // A review of something else leaves them as they are.
    let review = json!({ "comments": [line(4, "and this?")] });
    assert_eq!(answer(server.request(Method::POST, &format!("{pod}/changes/review")).json(&review)).await.0, 202);
    assert_eq!(server.get(&path).await, (200, left));
}
