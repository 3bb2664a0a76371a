//! Live tests of providers, profiles, rules, logins, and the subjects of audit rows.

#![allow(clippy::unwrap_used)]

mod common;

use std::time::Duration;

use common::{Server, TOKEN, answer, code};
use futures_util::StreamExt;
use provider::{ProviderConfig, ProviderKind, ProviderSource};
use reqwest::{Method, header};
use runtime::SessionRow;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use testkit::scripted_model::{Answer, ScriptedModel, Step};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    client_async,
    tungstenite::{Message, client::IntoClientRequest},
};

const KEY: &str = "sk-secret-4f9aQ7xT1mZ8";

fn provider(name: &str, kind: ProviderKind, base_url: Option<String>, key: Option<&str>) -> ProviderConfig {
    let (name, source) = (name.to_owned(), ProviderSource::Configuration);
    ProviderConfig { name, kind, base_url, api_key: key.map(Into::into), models: Vec::new(), source }
}

async fn test(server: &Server, name: &str) -> Value {
    let (status, test) = server.post(&format!("/api/v1/providers/{name}/test"), json!({})).await;
    assert_eq!((status, &test["provider"]), (200, &json!(name)), "{test}");
    assert!(!test.to_string().contains("sk-secret") && !test.to_string().contains("4f9aQ7xT"), "{test}");
    test
}

#[tokio::test]
async fn a_provider_is_really_asked_and_each_failure_is_told_from_the_others() {
    let (works, refuses, hangs) =
        (ScriptedModel::start().await, ScriptedModel::start().await, ScriptedModel::start().await);
    works.set_models(&["a", "b"]);
    refuses.otherwise(Answer::refuse(401, format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}")));
    hangs.otherwise(Answer::new().step(Step::Stall));
    let nowhere = "http://127.0.0.1:1/v1".to_owned();
    // Where the scripted server has no list of models, it answers what the test wrote.
    let scripted = |model: &ScriptedModel| Some(model.base_url().replace("/v1", "/scripted"));
    let server = Server::start_asking(vec![
        provider("works", ProviderKind::OpenAi, Some(works.base_url()), Some(KEY)),
        provider("refuses", ProviderKind::OpenAi, scripted(&refuses), Some(KEY)),
        provider("hangs", ProviderKind::OpenAi, scripted(&hangs), Some(KEY)),
        provider("away", ProviderKind::Ollama, Some(nowhere), None),
        provider("keyless", ProviderKind::Anthropic, None, None),
    ])
    .await;
    let good = test(&server, "works").await;
    assert_eq!((&good["is_ok"], &good["models"], &good["code"]), (&json!(true), &json!(2), &Value::Null));
    assert!(good["took_ms"].is_u64());
    assert_eq!(test(&server, "rehearsal").await["is_ok"], true);
    for (name, code) in [("refuses", "unauthorized"), ("away", "unreachable"), ("keyless", "not_configured")] {
        let bad = test(&server, name).await;
        assert_eq!((&bad["is_ok"], &bad["code"]), (&json!(false), &json!(code)), "{bad}");
        assert!(bad["detail"].as_str().unwrap().len() > 20, "{bad}");
    }
    let late = test(&server, "hangs").await;
    assert_eq!((&late["is_ok"], &late["code"]), (&json!(false), &json!("timeout")));
    let took = late["took_ms"].as_u64().unwrap();
    assert!(took >= 9_900, "{late}");
    let unknown = server.post("/api/v1/providers/nobody/test", json!({})).await;
    assert_eq!(code(&unknown), (404, "not_found"));
    assert_eq!(answer(server.bare(Method::POST, "/api/v1/providers/works/test")).await.0, 401);
}

async fn give(server: &Server, name: &str, body: Value) -> (u16, Value) {
    answer(server.request(Method::PUT, &format!("/api/v1/providers/{name}/key")).json(&body)).await
}

#[tokio::test]
async fn a_key_is_tried_before_it_is_kept_and_used_at_once_without_ever_being_told() {
    let (works, refuses) = (ScriptedModel::start().await, ScriptedModel::start().await);
    // A list of models whose requests the test can see.
    works.otherwise(Answer::refuse(200, "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}"));
    let listing = works.base_url().replace("/v1", "/keyed");
    refuses.otherwise(Answer::refuse(401, format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}")));
    let nowhere = "http://127.0.0.1:1/v1".to_owned();
    let own = provider("own", ProviderKind::OpenAi, Some(works.base_url()), Some("sk-of-its-own"));
    let server = Server::start_asking(vec![own]).await;
    let body = |url: &str| json!({ "kind": "openai-compatible", "base_url": url, "key": format!(" {KEY}\n") });

    let refused = give(&server, "lab", body(&refuses.base_url().replace("/v1", "/other"))).await;
    assert_eq!(code(&refused), (400, "invalid_input"));
    let detail = refused.1["detail"].as_str().unwrap();
    assert!(detail.contains("401: wrong key [key]") && detail.contains("nothing was kept"), "{detail}");
    let unreachable = give(&server, "lab", body(&nowhere)).await;
    assert_eq!(code(&unreachable), (502, "provider_error"));
    assert!(unreachable.1["detail"].as_str().unwrap().contains("cannot be reached"), "{unreachable:?}");
    assert_eq!(code(&give(&server, "own", body(&listing)).await), (409, "name_taken"));
    // The same goes for a request with nothing but the key.
    assert_eq!(code(&give(&server, "own", json!({ "key": KEY })).await), (409, "name_taken"));
    assert_eq!(code(&give(&server, "lab", json!({ "key": KEY })).await), (400, "invalid_input"));
    for bad in ["", " ", "two words", "line\nline", "kö"] {
        let told = give(&server, "openai", json!({ "key": bad })).await;
        assert_eq!(code(&told), (400, "invalid_input"), "{bad:?}");
    }
    let unknown = json!({ "kind": "openai", "key": KEY, "hint": KEY });
    let misread = give(&server, "lab", unknown).await;
    assert_eq!(code(&misread), (400, "invalid_input"));
    // A key in place of the name does not appear in the audit either.
    assert_eq!(code(&give(&server, KEY, json!({ "key": "x" })).await), (400, "invalid_input"));
    let listed = async || server.get("/api/v1/providers").await.1["items"].as_array().unwrap().clone();
    assert!(!listed().await.iter().any(|provider| provider["name"] == "lab"), "nothing was kept");

    let (status, view) = give(&server, "lab", body(&listing)).await;
    assert_eq!((status, &view["source"], &view["has_key"]), (200, &json!("data folder"), &json!(true)), "{view}");
    assert_eq!(view["models"].as_array().unwrap().len(), 2);
    assert_eq!(works.requests().last().unwrap().headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(test(&server, "lab").await["is_ok"], true);
    // A new key alone leaves the address unchanged.
    let (status, _) = give(&server, "lab", json!({ "key": "sk-another-5e8b" })).await;
    assert_eq!(
        (status, works.requests().last().unwrap().headers["authorization"].to_str().unwrap()),
        (200, "Bearer sk-another-5e8b")
    );

    let everything = format!("{refused:?}{unreachable:?}{misread:?}{view}{:?}", listed().await);
    assert!(!everything.contains("4f9aQ7xT") && !everything.contains(&works.base_url()), "{everything}");
    let forget =
        async |name: &str| answer(server.request(Method::DELETE, &format!("/api/v1/providers/{name}/key"))).await;
    assert_eq!(forget("lab").await.0, 204);
    assert_eq!(code(&forget("lab").await), (404, "not_found"));
    assert_eq!(code(&forget("own").await), (404, "not_found"));
    assert!(!listed().await.iter().any(|provider| provider["name"] == "lab"));
    let sets = server.audited("key_set").await;
    assert!(sets.len() > 5 && !format!("{sets:?}").contains("4f9aQ7xT"), "{sets:?}");
    assert_eq!(server.audited("key_forget").await.len(), 3);
    for method in [Method::PUT, Method::DELETE] {
        let stranger = server.bare(method, "/api/v1/providers/lab/key").json(&json!({ "key": KEY }));
        assert_eq!(answer(stranger).await.0, 401);
    }
}

#[tokio::test]
async fn profiles_and_default_rules_are_listed() {
    let server = Server::start().await;
    let (status, profiles) = server.get("/api/v1/profiles").await;
    assert_eq!(status, 200);
    assert_eq!(
        profiles,
        json!({ "items": [{ "name": "reviewer", "model": "scripted", "permissions": [] }], "next": null })
    );
    let (_, tools) = server.get("/api/v1/tools").await;
    let items = tools["items"].as_array().unwrap();
    assert!(items.contains(&json!({ "tool": "ListPods", "decision": "allow" })), "{tools}");
}

#[tokio::test]
async fn folders_for_a_new_pod_are_listed_by_the_beginning_of_their_path_with_the_one_that_counts_without_a_word() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    let cwd = server.get(&pod).await.1["cwd"].clone();
    let root = tempfile::tempdir().unwrap();
    for name in ["app", "apt", ".hidden", "other"] {
        std::fs::create_dir(root.path().join(name)).unwrap();
    }
    std::fs::write(root.path().join("apple.txt"), "").unwrap();
    let path = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let listed = testkit::until("the folders are listed", async || {
        // A lookup that is delayed finds less.
        let (status, found) = server.get(&format!("/api/v1/folders?prefix={}", path("ap"))).await;
        assert_eq!(status, 200);
        (found["is_cut"] != true).then_some(found)
    })
    .await;
    assert_eq!(listed, json!({ "items": [path("app"), path("apt")], "default": cwd }));
    assert_eq!(server.get("/api/v1/folders").await, (200, json!({ "items": [], "default": cwd })));
    assert_eq!(server.get("/api/v1/folders?runtime=local").await.0, 200);
    assert_eq!(server.get("/api/v1/folders?prefix=/no/such/place/").await.1["items"], json!([]));
    assert_eq!(code(&server.get("/api/v1/folders?prefix=src").await), (400, "invalid_input"));
    assert_eq!(code(&server.get("/api/v1/folders?runtime=nowhere").await), (404, "runtime_not_found"));
    // A caller that may not create Pods is shown no folders.
    assert_eq!(answer(server.bare(Method::GET, "/api/v1/folders?prefix=/")).await.0, 401);
}

#[tokio::test]
async fn the_rules_of_a_pod_are_listed_until_they_are_taken_away() {
    let server = Server::start().await;
    let pod = server.pod("ada").await;
    server.pod("bob").await;
    assert_eq!(server.get("/api/v1/rules").await.1["items"], json!([]));
    let rules = json!([{ "tool": "Bash", "match": "cargo test", "decision": "allow" }]);
    answer(server.request(Method::PATCH, &pod).json(&json!({ "permissions": rules }))).await;
    let (_, found) = server.get("/api/v1/rules").await;
    let rule = &found["items"][0];
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let told = ["name", "tool", "pattern", "decision", "scope"].map(|field| rule[field].as_str().unwrap());
    assert_eq!(told, ["ada", "Bash", "cargo test", "allow", "pod"]);
    let gone = async || {
        let path = format!("/api/v1/rules/{}", rule["id"].as_str().unwrap());
        let asked = server.request(Method::DELETE, &path).header("Idempotency-Key", "take-it-back");
        answer(asked).await.0
    };
    assert_eq!((gone().await, gone().await), (204, 204), "a repeat gets the first answer");
    assert_eq!(server.get("/api/v1/rules").await.1["items"], json!([]));
    for id in [rule["id"].as_str().unwrap(), "shared.00", "nothing", "box~x.y"] {
        let path = format!("/api/v1/rules/{id}");
        assert_eq!(answer(server.request(Method::DELETE, &path)).await.0, 404, "{id}");
    }
    answer(server.request(Method::PATCH, &pod).json(&json!({ "permissions": rules }))).await;
    answer(server.request(Method::PATCH, &pod).json(&json!({ "permissions": [] }))).await;
    assert_eq!(server.get("/api/v1/rules").await.1["items"], json!([]));
}

/// Logs a browser in; returns what it sends from then on.
async fn log_in(server: &Server, browser: &str) -> String {
    let link = server.bare(Method::GET, &format!("/?token={TOKEN}")).header(header::USER_AGENT, browser);
    let page = link.send().await.unwrap();
    page.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned()
}

async fn get_as(server: &Server, cookie: &str, path: &str) -> (u16, Value) {
    answer(server.bare(Method::GET, path).header(header::COOKIE, cookie)).await
}

/// The id of this browser's login, as another one sees it.
async fn id_of(server: &Server, browser: &str) -> String {
    let (_, listed) = server.get("/api/v1/sessions").await;
    let sessions = listed["items"].as_array().unwrap().iter();
    let found = sessions.filter(|session| session["client"] == browser).collect::<Vec<_>>();
    assert_eq!(found.len(), 1, "{listed}");
    found[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn logins_are_listed_without_a_secret_and_each_can_be_ended() {
    let server = Server::start().await;
    let (desk, phone) = (log_in(&server, "Desk").await, log_in(&server, &"P".repeat(300)).await);
    let (status, listed) = get_as(&server, &desk, "/api/v1/sessions").await;
    assert_eq!(status, 200);
    let sessions = listed["items"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        assert_eq!(session["is_this"], session["client"] == "Desk", "{session}");
        assert!(session["client"].as_str().unwrap().len() <= 200);
        for cookie in [&desk, &phone] {
            let secret = cookie.split('=').nth(1).unwrap();
            assert!(!session.to_string().contains(secret));
            assert_ne!(session["id"], secret);
        }
        for field in ["created_at", "seen_at", "expires_at"] {
            assert!(session[field].as_str().unwrap().ends_with('Z'), "{session}");
        }
    }
    let id = id_of(&server, &"P".repeat(200)).await;
    let end = || server.bare(Method::DELETE, &format!("/api/v1/sessions/{id}")).header(header::COOKIE, &desk);
    assert_eq!(end().send().await.unwrap().status(), 204);
    assert_eq!(code(&answer(end()).await), (404, "not_found"));
    assert_eq!(get_as(&server, &phone, "/api/v1/pods").await.0, 401);
    assert_eq!(get_as(&server, &desk, "/api/v1/pods").await.0, 200);
    assert_eq!(server.audited("logout").await, [("refused".into(), "not_found".into()), ("done".into(), "".into())]);
    // A login's id cannot be used to log in.
    let port = server.address.port();
    assert_eq!(get_as(&server, &format!("yoi_{port}={id}"), "/api/v1/pods").await.0, 401);
}

#[tokio::test]
async fn that_a_login_is_used_is_noted_but_not_with_each_request() {
    let server = Server::start().await;
    let (secret, now) = ("5".repeat(64), jiff::Timestamp::now());
    let put = async |seen_ago: u64, left: u64| {
        let session = SessionRow {
            hash: Sha256::digest(&secret).into(),
            client: "Desk".to_owned(),
            created_at: now,
            seen_at: now - Duration::from_secs(seen_ago),
            expires_at: jiff::Timestamp::now() + Duration::from_millis(left),
        };
        server.host.sessions().put(session).await.unwrap();
    };
    let cookie = format!("yoi_{}={secret}", server.address.port());
    let seen = async || {
        let (_, listed) = get_as(&server, &cookie, "/api/v1/sessions").await;
        listed["items"][0]["seen_at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap()
    };
    put(5, 60_000).await;
    assert!(seen().await < now, "seen 5 s ago is near enough");
    put(90, 60_000).await;
    let noted = seen().await;
    assert!(noted >= now);
    assert_eq!(seen().await, noted);
    put(0, 0).await;
    assert_eq!(get_as(&server, &cookie, "/api/v1/pods").await.0, 401, "it has expired");
}

#[tokio::test]
async fn all_others_are_signed_out_and_the_one_that_asks_stays() {
    let server = Server::start().await;
    let (desk, phone, pad) =
        (log_in(&server, "Desk").await, log_in(&server, "Phone").await, log_in(&server, "Pad").await);
    let end = |cookie: &str| server.bare(Method::DELETE, "/api/v1/sessions").header(header::COOKIE, cookie);
    assert_eq!(end(&desk).send().await.unwrap().status(), 204);
    for (cookie, status) in [(&desk, 200), (&phone, 401), (&pad, 401)] {
        assert_eq!(get_as(&server, cookie, "/api/v1/pods").await.0, status);
    }
    // The holder of the token has no login that would remain.
    assert_eq!(server.request(Method::DELETE, "/api/v1/sessions").send().await.unwrap().status(), 204);
    assert_eq!(get_as(&server, &desk, "/api/v1/pods").await.0, 401);
    assert_eq!(server.get("/api/v1/sessions").await.1["items"], json!([]));
}

#[tokio::test]
async fn an_open_socket_is_told_at_once_that_its_login_has_ended() {
    let server = Server::start().await;
    let (desk, phone) = (log_in(&server, "Desk").await, log_in(&server, "Phone").await);
    let open = async |cookie: &str| {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let mut request =
            format!("{}/api/v1/events", server.console().replace("http", "ws")).into_client_request().unwrap();
        request.headers_mut().insert(header::COOKIE, cookie.parse().unwrap());
        let mut socket = client_async(request, stream).await.unwrap().0;
        assert!(socket.next().await.unwrap().unwrap().to_text().unwrap().contains("hello"));
        socket
    };
    let (mut ended, mut kept) = (open(&phone).await, open(&desk).await);
    let id = id_of(&server, "Phone").await;
    assert_eq!(answer(server.request(Method::DELETE, &format!("/api/v1/sessions/{id}"))).await.0, 204);
    let told = timeout(Duration::from_secs(60), async {
        let mut told = Vec::new();
        while let Some(Ok(message)) = ended.next().await {
            match message {
                Message::Text(text) => told.push(serde_json::from_str::<Value>(&text).unwrap()),
                Message::Close(frame) => return (told, u16::from(frame.unwrap().code)),
                _ => (),
            }
        }
        panic!("closed without a word: {told:?}")
    });
    let (told, close) = told.await.unwrap();
    let last = told.last().unwrap();
    assert_eq!((&last["type"], &last["code"], close), (&json!("diagnostic"), &json!("unauthorized"), 1008));
    // The other one gets nothing but a heartbeat.
    let next = timeout(Duration::from_secs(60), kept.next()).await.unwrap().unwrap().unwrap();
    assert!(next.to_text().unwrap().contains("heartbeat"), "{next:?}");
}

#[tokio::test]
async fn an_event_stream_ends_with_the_reason_when_its_login_has_ended() {
    let server = Server::start().await;
    let cookie = log_in(&server, "Desk").await;
    let request = server.bare(Method::GET, "/api/v1/events").header(header::COOKIE, &cookie);
    let stream = request.header(header::ACCEPT, "text/event-stream").send().await.unwrap();
    assert_eq!(server.request(Method::DELETE, "/api/v1/sessions").send().await.unwrap().status(), 204);
    let text = timeout(Duration::from_secs(60), stream.text()).await.unwrap().unwrap();
    let last = text.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.starts_with("event: diagnostic") && last.contains("\"unauthorized\""), "{text}");
}

#[tokio::test]
async fn the_audit_is_narrowed_by_action_result_and_target_and_goes_on_from_there() {
    let server = Server::start().await;
    let (ada, bob) = (server.pod("ada").await, server.pod("bob").await);
    for pod in [&ada, &bob, &ada] {
        server.post(&format!("{pod}/stop"), json!({})).await;
    }
    server.post(&format!("{ada}/pause"), json!({})).await;
    let rows = async |query: &str| server.get(&format!("/api/v1/audit?{query}")).await.1;
    let target = ada.replace("/api/v1/runtimes/", "").replace("/workers", "");
    let of_ada = rows(&format!("target={target}")).await;
    let actions: Vec<_> = of_ada["items"].as_array().unwrap().iter().map(|row| row["action"].clone()).collect();
    assert_eq!(actions, ["pause", "stop", "stop"]);
    assert_eq!(rows("action=stop").await["items"].as_array().unwrap().len(), 3);
    let refused = rows("result=refused").await;
    assert_eq!((refused["items"].as_array().unwrap().len(), &refused["items"][0]["code"]), (1, &json!("not_live")));
    let first = rows("action=stop&limit=2").await;
    let next = first["next"].as_str().unwrap();
    let rest = rows(&format!("action=stop&limit=2&after={next}")).await;
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &Value::Null));
    assert_eq!(rows("action=nothing").await["items"], json!([]));
    assert_eq!(code(&server.get("/api/v1/audit?result=").await), (400, "invalid_input"));
    assert_eq!(code(&server.get("/api/v1/audit?result=fine").await), (400, "invalid_input"));
    assert_eq!(code(&server.get("/api/v1/audit?after=x").await), (400, "cursor_invalid"));
}
