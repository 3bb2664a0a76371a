//! Queries over all Pods at once, and whole journals exported and imported, over a real listener.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Server, answer, code, pod_path};
use reqwest::Method;
use serde_json::{Value, json};

/// Status, content type, disposition, body.
async fn file(server: &Server, path: &str) -> (u16, String, String, String) {
    let response = server.request(Method::GET, path).send().await.unwrap();
    let header =
        |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let (kind, disposition) = (header("content-type"), header("content-disposition"));
    (response.status().as_u16(), kind, disposition, response.text().await.unwrap())
}

async fn import(server: &Server, key: &'static str, name: &str, jsonl: &str) -> (u16, Value) {
    let body = json!({ "name": name, "jsonl": jsonl });
    answer(server.request(Method::POST, "/api/v1/import").header("Idempotency-Key", key).json(&body)).await
}

#[tokio::test]
async fn usage_is_summed_over_all_per_pod_and_per_day() {
    let server = Server::start().await;
    let nothing = json!({ "total": { "input": 0, "cached": 0, "written": 0, "output": 0 }, "pods": [], "days": [],
        "models": [], "trees": [], "links": [] });
    assert_eq!(server.get("/api/v1/usage").await, (200, nothing));
    let pod = server.pod("ada").await;
    server.say(&pod, "say hello").await;
    server.until(&pod, "idle").await;
    let detail = server.get(&pod).await.1;
    let (status, report) = server.get("/api/v1/usage").await;
    assert_eq!(status, 200);
    for field in ["input", "cached", "written", "output"] {
        for place in ["/total", "/pods/0", "/days/0", "/models/0"] {
            assert_eq!(report.pointer(place).unwrap()[field], detail["usage"][field], "{place}: {report}");
        }
    }
    assert_eq!((&report["pods"][0]["name"], &report["pods"][0]["pod"]), (&json!("ada"), &detail["pod"]));
    assert!(report["days"][0]["day"].as_str().unwrap().len() == 10 && report["total"].get("cost").is_none());

    let server = server.restart().await;
    assert_eq!(server.get("/api/v1/usage").await.1, report);
    assert_eq!(server.bare(Method::GET, "/api/v1/usage").send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn words_are_found_in_pages_and_within_one_pod() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    for pod in [&ada, &bob] {
        server.say(pod, "say the streaming zebra").await;
        server.until(pod, "idle").await;
    }
    let search = async |query: &str| server.get(&format!("/api/v1/search?{query}")).await;
    let (_, all) = search("q=stre").await;
    let items = all["items"].as_array().unwrap();
    assert_eq!((items.len(), &all["next"]), (4, &Value::Null));
    assert_eq!((&items[0]["name"], &items[0]["kind"]), (&json!("bob"), &json!("message_finished")));
    assert!(items[0]["snippet"].as_str().unwrap().contains("streaming zebra"));
    let (_, first) = search("q=streaming%20zeb&limit=3").await;
    assert_eq!(first["items"].as_array().unwrap()[..], items[..3]);
    let next = first["next"].as_str().unwrap();
    let (_, rest) = search(&format!("q=zebra&limit=3&after={next}")).await;
    assert_eq!((&rest["items"].as_array().unwrap()[..], &rest["next"]), (&items[3..], &Value::Null));

    let address = ada.strip_prefix("/api/v1/runtimes/").unwrap().replace("/workers/", "/");
    let (_, of_ada) = search(&format!("q=zebra&pod={address}")).await;
    assert!(of_ada["items"].as_array().unwrap().iter().all(|hit| hit["name"] == "ada"));
    assert_eq!(of_ada["items"].as_array().unwrap().len(), 2);

    for nasty in
        ["%22", "*", "a*%20OR", "(", "NEAR(a%20b)", "%27%3B--", "col:x", "-zebra", "%5E", "%00", "%F0%9F%98%80"]
    {
        assert_eq!(search(&format!("q={nasty}")).await.0, 200, "{nasty}");
    }
    assert_eq!(search(&format!("q={}", "x".repeat(5_000))).await.0, 200);
    for bad in ["", "q=", "q=%20", "q=x&limit=0", "q=x&limit=y", "q=x&pod=ada", "q=x&pod=a/b/c", "q=x&pod=/"] {
        assert_eq!(code(&search(bad).await), (400, "invalid_input"), "{bad}");
    }
    assert_eq!(code(&search("q=x&after=y").await), (400, "cursor_invalid"));
    assert_eq!(code(&search("q=x&pod=local/nobody").await), (404, "pod_not_found"));
    assert_eq!(code(&search("q=x&pod=other/nobody").await), (404, "runtime_not_found"));
}

#[tokio::test]
async fn a_field_of_a_query_that_says_nothing_and_a_limit_that_is_no_number_of_items_are_refused_by_name() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    let bob = bob.trim_start_matches("/api/v1/runtimes/").replace("/workers/", "/");
    let refused = async |path: String, field: &str, expected: &str| {
        let (status, problem) = server.get(&path).await;
        assert_eq!((status, &problem["code"]), (400, &json!(expected)), "{path}");
        assert!(problem["detail"].as_str().unwrap().starts_with(&format!("`{field}`")), "{path}: {problem}");
    };
    let lists = [
        "/api/v1/pods?",
        "/api/v1/search?q=x&",
        "/api/v1/audit?",
        "/api/v1/rules?",
        "/api/v1/requests?",
        "/api/v1/tools?",
        "/api/v1/profiles?",
        "/api/v1/sessions?",
        "/api/v1/runtimes?",
        "/api/v1/providers?",
        &format!("{ada}/peers?"),
        &format!("{ada}/approvals?"),
        &format!("{ada}/visible?"),
    ];
    let pages = [format!("{ada}/transcript?"), format!("{ada}/peers/{bob}/messages?")];
    for list in lists.into_iter().chain(pages.iter().map(String::as_str)) {
        for limit in ["", "0", "4294967296", "99999999999999999999"] {
            refused(format!("{list}limit={limit}"), "limit", "invalid_input").await;
        }
        assert_eq!(server.get(&format!("{list}limit=4294967295")).await.0, 200, "{list}");
    }
    // The beginning, for a list that continues by an opaque cursor.
    for list in lists {
        assert_eq!(server.get(&format!("{list}after=")).await.0, 200, "{list}");
    }
    refused(format!("{}before=", pages[0]), "before", "invalid_input").await;
    for (list, fields) in [
        ("/api/v1/pods?", &["state", "name"][..]),
        ("/api/v1/search?q=x&", &["pod", "runtime"]),
        ("/api/v1/audit?", &["action", "result", "target", "runtime"]),
        ("/api/v1/rules?", &["runtime"]),
        ("/api/v1/requests?", &["runtime"]),
        ("/api/v1/usage?", &["runtime"]),
    ] {
        for field in fields {
            refused(format!("{list}{field}="), field, "invalid_input").await;
        }
    }
    refused("/api/v1/pods?state=asleep".to_owned(), "state", "invalid_input").await;
    let subscribed = format!("/api/v1/events?pod=local/{}&tail=4294967296", ada.rsplit('/').next().unwrap());
    let answer = answer(server.request(Method::GET, &subscribed).header("accept", "text/event-stream")).await;
    assert_eq!(code(&answer), (400, "invalid_input"));
}

#[tokio::test]
async fn a_pod_is_found_by_its_name_among_those_after_a_cursor() {
    let server = Server::start().await;
    for name in ["ada", "bob", "eve"] {
        server.pod(name).await;
    }
    let names = async |query: &str| {
        let (status, page) = server.get(&format!("/api/v1/pods?{query}")).await;
        assert_eq!((status, &page["next"]), (200, &Value::Null), "{query}");
        let names = page["items"].as_array().unwrap().iter().map(|pod| pod["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("name=bob").await, ["bob"]);
    assert_eq!(names("name=Bob").await, Vec::<String>::new());
    assert_eq!(names("name=bob&state=idle&q=bo&limit=1").await, ["bob"]);
    assert_eq!(names("name=bob&state=running").await, Vec::<String>::new());
    assert_eq!(names("name=bob&q=ada").await, Vec::<String>::new());
    let after_ada = server.get("/api/v1/pods?limit=1").await.1["next"].as_str().unwrap().to_owned();
    let after_bob = server.get(&format!("/api/v1/pods?limit=1&after={after_ada}")).await.1["next"].clone();
    assert_eq!(names(&format!("name=bob&after={after_ada}")).await, ["bob"]);
    assert_eq!(names(&format!("name=bob&after={}", after_bob.as_str().unwrap())).await, Vec::<String>::new());

    // Similar names are known at once, although the names are cached: after a Pod was created, renamed and deleted.
    let near = async |name: &str| {
        let problem = server.get(&format!("/api/v1/pods/resolve?target={name}")).await.1;
        let near = problem["candidates"].as_array().cloned().unwrap_or_default();
        near.iter().map(|pod| pod["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(near("adda").await, ["ada"]);
    let pod = server.pod("adda2").await;
    assert_eq!(near("adda").await, ["ada", "adda2"]);
    answer(server.request(Method::PATCH, &pod).json(&json!({ "name": "zoe" }))).await;
    assert_eq!(near("adda").await, ["ada"]);
    assert_eq!(near("zoee").await, ["zoe"]);
    assert_eq!(answer(server.request(Method::DELETE, &format!("{pod}?confirm=zoe"))).await.0, 204);
    assert_eq!(near("zoee").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_journal_is_a_file_in_two_formats() {
    let server = Server::start().await;
    let pod = server.pod("ada.b-c_1").await;
    server.say(&pod, "think of it\nsay # not a heading\ncall ListPods {}").await;
    server.until(&pod, "idle").await;
    let export = format!("{pod}/export");
    let (status, kind, disposition, markdown) = file(&server, &export).await;
    assert_eq!((status, kind.as_str()), (200, "text/markdown; charset=utf-8"));
    assert_eq!(disposition, "attachment; filename=\"ada.b-c_1.md\"");
    assert!(markdown.starts_with("# ada.b-c_1\n\n## Turn 1"), "{markdown}");
    for part in ["### Reasoning\n\n> of it", "### Assistant\n\n# not a heading", "### Tool ListPods"] {
        assert!(markdown.contains(part), "{part} is not in {markdown}");
    }
    assert_eq!(file(&server, &format!("{export}?format=markdown")).await.3, markdown);

    let (status, kind, disposition, jsonl) = file(&server, &format!("{export}?format=jsonl")).await;
    assert_eq!((status, kind.as_str()), (200, "application/x-ndjson"));
    assert_eq!(disposition, "attachment; filename=\"ada.b-c_1.jsonl\"");
    let lines: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (_, page) = server.get(&format!("{pod}/transcript?limit=1000")).await;
    assert_eq!(json!(lines), page["items"]);
    assert!(jsonl.ends_with('\n'));

    for bad in ["json", "", "JSONL", "pdf"] {
        assert_eq!(code(&server.get(&format!("{export}?format={bad}")).await), (400, "invalid_input"), "{bad:?}");
    }
    assert_eq!(code(&server.get("/api/v1/runtimes/local/workers/nobody/export").await), (404, "pod_not_found"));
}

#[tokio::test]
async fn hidden_reasoning_leaves_in_no_format() {
    let server = Server::start().await;
    let (_, summary) = server.post("/api/v1/pods", json!({ "name": "ada", "reasoning": "hidden" })).await;
    let pod = pod_path(&summary["pod"]);
    let said = "think zebras\nsay hello";
    server.say(&pod, said).await;
    server.until(&pod, "idle").await;
    for format in ["markdown", "jsonl"] {
        let text = file(&server, &format!("{pod}/export?format={format}")).await.3;
        assert_eq!(text.matches("zebras").count(), 1, "only where the person said it: {text}");
    }
    let (_, hits) = server.get("/api/v1/search?q=zebras").await;
    assert_eq!(hits["items"].as_array().unwrap().len(), 1, "{hits}");
}

#[tokio::test]
async fn an_export_comes_back_as_a_stopped_pod() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.say(&pod, "say one").await;
    server.until(&pod, "idle").await;
    let jsonl = file(&server, &format!("{pod}/export?format=jsonl")).await.3;
    let done = import(&server, "i-1", "copy", &jsonl).await;
    assert_eq!((done.0, &done.1["state"], &done.1["name"]), (201, &json!("stopped"), &json!("copy")));
    assert_eq!(import(&server, "i-1", "copy", &jsonl).await, done);
    let copy = pod_path(&done.1["pod"]);
    assert_eq!(server.get(&format!("{copy}/history")).await, server.get(&format!("{pod}/history")).await);
    assert!(file(&server, &format!("{copy}/export?format=jsonl")).await.3.starts_with(&jsonl));
    assert_eq!(server.post(&format!("{copy}/restore"), json!({})).await.0, 202);
    server.say(&copy, "say two").await;
    server.until(&copy, "idle").await;

    assert_eq!(code(&import(&server, "i-1", "other", &jsonl).await), (422, "key_reused"));
    assert_eq!(code(&import(&server, "i-2", "copy", &jsonl).await), (409, "name_taken"));
    let refused = import(&server, "i-3", "bad", &format!("{jsonl}oh\n")).await;
    assert_eq!(code(&refused), (400, "invalid_input"));
    let last = format!("line {}: this is not a record", jsonl.lines().count() + 1);
    assert!(refused.1["detail"].as_str().unwrap().starts_with(&last), "{}", refused.1);
    for body in [
        json!({}),
        json!({ "name": "x" }),
        json!({ "name": "x y", "jsonl": jsonl }),
        json!({ "name": "x", "jsonl": [jsonl] }),
        json!({ "name": "x", "jsonl": jsonl, "scope": [] }),
        json!({ "name": "x", "jsonl": "" }),
    ] {
        assert_eq!(code(&server.post("/api/v1/import", body.clone()).await), (400, "invalid_input"), "{body}");
    }
    let large = jsonl.repeat(4 * 1024 * 1024 / jsonl.len() + 1);
    assert_eq!(code(&import(&server, "i-4", "large", &large).await), (413, "payload_too_large"));

    let audited = server.audited("import").await;
    let row = |result: &str, code: &str| (result.to_owned(), code.to_owned());
    assert_eq!(audited[audited.len() - 1], row("done", ""));
    for refused in ["name_taken", "key_reused", "invalid_input"] {
        assert!(audited.contains(&row("refused", refused)), "{refused}: {audited:?}");
    }
    assert_eq!(audited.iter().filter(|(result, _)| result == "done").count(), 1);
}

/// A history of more than 4 MiB: each line is a long answer.
fn long_history() -> String {
    let text = "word ".repeat(2_000);
    let line = |seq: usize| {
        let event =
            json!({ "kind": "message_finished", "block": format!("b{seq}"), "text": text, "interrupted": false });
        format!("{}\n", json!({ "seq": seq, "at": "2026-11-22T06:00:00Z", "event": event }))
    };
    (1..=600).map(line).collect()
}

#[tokio::test]
async fn a_long_history_comes_in_as_lines() {
    let server = Server::start().await;
    let jsonl = long_history();
    assert!(jsonl.len() > 4 * 1024 * 1024);
    let refused = import(&server, "i-1", "copy", &jsonl).await;
    assert_eq!(code(&refused), (413, "payload_too_large"));
    assert!(refused.1["detail"].as_str().unwrap().contains("application/x-ndjson"), "{}", refused.1);

    let lines = async |query: &str, key: &'static str, kind: &'static str, body: Vec<u8>| {
        let request = server.request(Method::POST, &format!("/api/v1/import{query}")).header("Idempotency-Key", key);
        answer(request.header("content-type", kind).body(body)).await
    };
    let kind = "application/x-ndjson";
    let done = lines("?name=copy", "i-2", kind, jsonl.clone().into()).await;
    assert_eq!((done.0, &done.1["state"], &done.1["name"]), (201, &json!("stopped"), &json!("copy")), "{}", done.1);
    assert_eq!(lines("?name=copy", "i-2", kind, jsonl.clone().into()).await, done, "a repeat has the first answer");
    let copy = pod_path(&done.1["pod"]);
    assert!(file(&server, &format!("{copy}/export?format=jsonl")).await.3.starts_with(&jsonl));

    for query in ["", "?name=", "?name=a%20b", "?nmae=x"] {
        assert_eq!(code(&lines(query, "i-3", kind, jsonl.clone().into()).await), (400, "invalid_input"), "{query}");
    }
    let short = jsonl.lines().next().unwrap();
    for (kind, body) in [
        (kind, b"\xff\n".to_vec()),
        (kind, Vec::new()),
        ("text/plain", short.into()),
        ("application/x-ndjson; charset=latin1", short.into()),
    ] {
        assert_eq!(code(&lines("?name=x", "i-4", kind, body).await), (400, "invalid_input"), "{kind}");
    }
    let elsewhere = server.request(Method::POST, "/api/v1/pods").header("content-type", kind).body(short.to_owned());
    assert_eq!(
        code(&answer(elsewhere).await),
        (400, "invalid_input"),
        "lines are taken where a history comes in alone"
    );
}

#[tokio::test]
async fn short_lists_come_in_pages_too_and_refuse_a_foreign_cursor() {
    let server = Server::start().await;
    let (ada, _bob, _cai) = (server.pod("ada").await, server.pod("bob").await, server.pod("cai").await);
    for name in ["bob", "cai"] {
        assert_eq!(server.post(&format!("{ada}/peers"), json!({ "target": name })).await.0, 201);
    }
    let names = |page: &Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    for (list, whole) in [("peers", vec!["bob", "cai"]), ("visible", vec!["ada", "bob", "cai"])] {
        let (_, all) = server.get(&format!("{ada}/{list}")).await;
        assert_eq!((names(&all), &all["next"]), (whole.iter().map(|&name| name.to_owned()).collect(), &Value::Null));
        let (mut seen, mut next) = (Vec::new(), String::new());
        while seen.len() < whole.len() {
            let (status, page) = server.get(&format!("{ada}/{list}?limit=1&after={next}")).await;
            assert_eq!(status, 200, "{page}");
            seen.extend(names(&page));
            next = page["next"].as_str().unwrap_or_default().to_owned();
        }
        assert_eq!((seen, next), (names(&all), String::new()), "{list}");
    }
    let (peers, visible, approvals) =
        (format!("{ada}/peers"), format!("{ada}/visible"), format!("{ada}/approvals?all=true"));
    let short = ["runtimes", "providers", "profiles", "tools", "rules", "requests", "sessions"];
    let short = short.map(|list| format!("/api/v1/{list}"));
    for list in short.iter().chain([&peers, &visible, &approvals, &"/api/v1/audit".to_owned()]) {
        let with = |query: &str| format!("{list}{}{query}", if list.contains('?') { '&' } else { '?' });
        for (query, told) in [("after=-1", "cursor_invalid"), ("limit=0", "invalid_input")] {
            assert_eq!(code(&server.get(&with(query)).await), (400, told), "{list} {query}");
        }
    }
}

/// Each list with a second page, and the parameter that takes the end of the first one.
async fn lists_of_two_pages(server: &Server) -> Vec<(String, &'static str)> {
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    server.pod("cai").await;
    for pod in [&ada, &bob] {
        server.say(pod, "say needle").await;
    }
    for name in ["bob", "cai"] {
        assert_eq!(server.post(&format!("{ada}/peers"), json!({ "target": name })).await.0, 201);
    }
    for text in ["one", "two"] {
        assert_eq!(server.post(&format!("{ada}/messages"), json!({ "to": "bob", "text": text })).await.0, 202);
    }
    let bob = bob.strip_prefix("/api/v1/runtimes/").unwrap().replace("/workers/", "/");
    vec![
        ("/api/v1/pods?limit=1".to_owned(), "after"),
        ("/api/v1/search?q=needle&limit=1".to_owned(), "after"),
        ("/api/v1/search?q=needle&limit=1&runtime=local".to_owned(), "after"),
        ("/api/v1/audit?limit=1".to_owned(), "after"),
        ("/api/v1/tools?limit=1".to_owned(), "after"),
        (format!("{ada}/peers?limit=1"), "after"),
        (format!("{ada}/visible?limit=1"), "after"),
        (format!("{ada}/peers/{bob}/messages?limit=1"), "before"),
    ]
}

#[tokio::test]
async fn a_cursor_that_lost_or_changed_a_letter_is_refused_by_every_list() {
    let server = Server::start().await;
    for (list, parameter) in lists_of_two_pages(&server).await {
        let (status, page) = server.get(&list).await;
        let cursor = page["next"].as_str().unwrap_or_else(|| panic!("{list} has more: {status} {page}")).to_owned();
        assert_eq!(server.get(&format!("{list}&{parameter}={cursor}")).await.0, 200, "{list} {cursor}");
        let shorter = (1..cursor.len()).map(|end| cursor[..end].to_owned());
        let without = (0..cursor.len()).map(|at| format!("{}{}", &cursor[..at], &cursor[at + 1..]));
        let changed = (0..cursor.len()).map(|at| format!("{}0{}", &cursor[..at], &cursor[at + 1..]));
        for damaged in shorter.chain(without).chain(changed).filter(|damaged| *damaged != cursor) {
            let told = server.get(&format!("{list}&{parameter}={damaged}")).await;
            assert_eq!(code(&told), (400, "cursor_invalid"), "{damaged} of {cursor} in {list}");
        }
    }
}

#[tokio::test]
async fn a_cursor_of_a_long_list_is_a_place_in_no_other_one() {
    let server = Server::start().await;
    for name in ["ada", "bob"] {
        let pod = server.pod(name).await;
        server.say(&pod, "say needle").await;
    }
    let lists = ["/api/v1/pods?limit=1", "/api/v1/search?q=needle&limit=1", "/api/v1/audit?limit=1"];
    let mut cursors = Vec::new();
    for list in lists {
        let (_, page) = server.get(list).await;
        cursors.push(page["next"].as_str().unwrap().to_owned());
    }
    for (list, own) in lists.iter().zip(&cursors) {
        assert_eq!(server.get(&format!("{list}&after={own}")).await.0, 200, "{list} {own}");
        for foreign in cursors.iter().filter(|cursor| *cursor != own) {
            let told = server.get(&format!("{list}&after={foreign}")).await;
            assert_eq!(code(&told), (400, "cursor_invalid"), "{list} {foreign}");
        }
    }
    assert_eq!(code(&server.get("/api/v1/pods?after=local.").await), (400, "cursor_invalid"));
}

#[tokio::test]
async fn a_session_file_is_imported_as_it_is() {
    let server = Server::start().await;
    let message = |text: &str| json!({ "type": "user", "uuid": text, "message": { "role": "user", "content": text } });
    let claude = format!("{}\nnot json\n", message("Fix the tests"));
    let opencode = json!({ "info": {}, "messages": [
        { "info": { "role": "user" }, "parts": [{ "type": "text", "text": "Fix the list" }] }] });
    let opencode = format!("{opencode:#}");
    let send = async |query: &str, kind: &'static str, body: &str| {
        let request = server.request(Method::POST, &format!("/api/v1/import?{query}"));
        answer(request.header("Content-Type", kind).body(body.to_owned())).await
    };
    let (lines, whole) = ("application/x-ndjson", "application/json");
    for (query, kind, body, words) in [
        ("name=a", lines, &claude, "Fix the tests"),
        ("name=b&format=claude", lines, &claude, "Fix the tests"),
        ("name=c&cwd=/tmp", lines, &opencode, "Fix the list"),
        ("name=d&format=opencode", whole, &opencode, "Fix the list"),
    ] {
        let (status, pod) = send(query, kind, body).await;
        assert_eq!((status, &pod["state"]), (201, &json!("stopped")), "{query}: {pod}");
        let (_, history) = server.get(&format!("{}/history", pod_path(&pod["pod"]))).await;
        assert!(history.to_string().contains(words), "{query}: {history}");
    }
    let body = json!({ "name": "e", "jsonl": claude, "format": "claude" });
    assert_eq!(answer(server.request(Method::POST, "/api/v1/import").json(&body)).await.0, 201);
    for (query, kind, body) in [
        ("name=x&format=pdf", lines, claude.as_str()),
        ("name=x&format=yoi", lines, &claude),
        ("name=x&format=codex", lines, &claude),
        ("format=claude", whole, &claude),
        ("name=x", whole, &opencode),
        ("name=x&format=claude", "text/plain", &claude),
    ] {
        let refusal = send(query, kind, body).await;
        assert_eq!(code(&refusal), (400, "invalid_input"), "{query}: {refusal:?}");
    }
    let unknown = json!({ "name": "x", "jsonl": claude, "format": "pdf" });
    assert_eq!(answer(server.request(Method::POST, "/api/v1/import").json(&unknown)).await.0, 400);
}
