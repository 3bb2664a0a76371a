//! Attempts that have to fail.

use reqwest::{
    Method,
    header::{self, HeaderName},
};
use serde_json::{Value, json};

use crate::{
    client::{OLDER, Session, bare, refusal, request},
    common::{Server, TOKEN},
};

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": OLDER, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" },
    } })
}

#[tokio::test]
async fn only_a_bearer_token_lets_a_client_in_and_no_cookie_does() {
    let server = Server::start().await;
    let accept = "application/json, text/event-stream";
    let login = server.bare(Method::GET, &format!("/?token={TOKEN}")).send().await.unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let bare = || server.bare(method.clone(), "/mcp").header("accept", accept).json(&initialize());
        assert_eq!(refusal(bare()).await, (401, json!("unauthorized")), "{method}");
        assert_eq!(refusal(bare().header("cookie", &cookie)).await, (401, json!("unauthorized")), "{method}");
        assert_eq!(refusal(bare().bearer_auth("wrong")).await, (401, json!("unauthorized")), "{method}");
        let basic = bare().header("authorization", format!("Basic {TOKEN}"));
        assert_eq!(refusal(basic).await, (401, json!("unauthorized")), "{method}");
    }
    assert_eq!(refusal(server.bare(Method::POST, &format!("/mcp?token={TOKEN}")).json(&initialize())).await.0, 401);
}

#[tokio::test]
async fn no_page_of_another_origin_reaches_it_even_with_the_token() {
    let server = Server::start().await;
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        for method in [Method::POST, Method::GET, Method::DELETE, Method::OPTIONS] {
            let sent = request(&server, method, TOKEN).header("origin", origin).json(&initialize());
            assert_eq!(refusal(sent).await, (403, json!("forbidden_origin")), "{origin}");
        }
    }
    let sent = request(&server, Method::POST, TOKEN).header("sec-fetch-site", "cross-site").json(&initialize());
    assert_eq!(refusal(sent).await, (403, json!("forbidden_origin")));
    let sent = request(&server, Method::POST, TOKEN).header("host", "evil.example").json(&initialize());
    assert_eq!(refusal(sent).await, (403, json!("forbidden_host")));
    let answer = request(&server, Method::POST, TOKEN).json(&initialize()).send().await.unwrap();
    assert!(answer.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
}

#[tokio::test]
async fn a_session_is_its_owners_and_ends_when_it_is_told_to() {
    let server = Server::start().await;
    let mut client = Session::of_person(&server).await;
    let ping = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" });
    for wrong in ["", "nobody", "../x", &"x".repeat(5_000)] {
        let sent = request(&server, Method::POST, TOKEN).header("mcp-session-id", wrong).json(&ping);
        assert_eq!(refusal(sent).await.0, 404, "{wrong:.20}");
    }
    // Another caller's session does not exist, whatever a caller tries.
    let worker_id = protocol::WorkerId::parse(server.pod("ada").await.rsplit('/').next().unwrap()).unwrap();
    server.backend.pod_tokens().serve_at("http://127.0.0.1:1/mcp".to_owned());
    let token = server.backend.pod_tokens().mint(&worker_id).unwrap().unwrap();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let sent = request(&server, method, token.secret()).header("mcp-session-id", &client.id).json(&ping);
        assert_eq!(refusal(sent).await.0, 404);
    }
    assert_eq!(client.ask("ping", json!({})).await, json!({}));
    let ended = request(&server, Method::DELETE, TOKEN).header("mcp-session-id", &client.id).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    assert_eq!(refusal(client.post(&ping)).await.0, 404);
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_refusal_arrives() {
    let server = Server::start().await;
    let mut client = Session::of_person(&server).await;
    let post =
        |body: String| request(&server, Method::POST, TOKEN).header("content-type", "application/json").body(body);
    for body in ["", "{", "null", "[]", "7", "{\"jsonrpc\":\"2.0\"}", "\u{0}"] {
        let (status, _) = refusal(post(body.to_owned())).await;
        assert_eq!(status, 400, "{body:?}");
    }
    let batch = json!([initialize(), initialize()]).to_string();
    assert_eq!(refusal(post(batch)).await, (400, json!(-32700)));
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    assert_eq!(refusal(post(huge)).await, (413, json!("payload_too_large")));
    let text = request(&server, Method::POST, TOKEN).header("content-type", "text/plain").body("{}");
    assert_eq!(refusal(text).await, (400, json!("invalid_input")));
    let put = request(&server, Method::PUT, TOKEN).json(&initialize());
    assert_eq!(refusal(put).await.0, 405);
    let deaf = server.bare(Method::POST, "/mcp").bearer_auth(TOKEN).header("accept", "text/html").json(&initialize());
    assert_eq!(refusal(deaf).await.0, 406);
    let odd = client
        .post(&json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" }))
        .header("mcp-protocol-version", "1999-01-01");
    assert_eq!(refusal(odd).await.0, 400);
    let unknown = client.ask("tools/destroy", json!({})).await;
    assert_eq!(unknown["code"], -32601, "{unknown}");
    // The newer protocol says the same thing twice, and the two have to agree.
    let other = header::HeaderMap::from_iter([(HeaderName::from_static("mcp-method"), "tools/call".parse().unwrap())]);
    let lied = bare(&server, TOKEN, "tools/list", json!({})).headers(other);
    assert_eq!(refusal(lied).await.0, 400);
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"send\",\"arguments\":{{\"pod\":{deep}}}}}}}"
    );
    assert_eq!(refusal(post(deep)).await.0, 400);
    assert_eq!(client.ask("ping", json!({})).await, json!({}), "the session lives on");
}

#[tokio::test]
async fn no_more_sessions_are_open_than_are_counted_and_the_oldest_silent_one_goes() {
    let server = Server::start().await;
    let first = Session::of_person(&server).await;
    let mut second = Session::of_person(&server).await;
    for _ in 0..254 {
        second.ask("ping", json!({})).await;
        Session::of_person(&server).await;
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" });
    Session::of_person(&server).await;
    assert_eq!(refusal(first.post(&ping)).await.0, 404);
    assert_eq!(second.ask("ping", json!({})).await, json!({}));
}
