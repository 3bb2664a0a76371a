//! Logging in to a scripted server behind a scripted authorization server, which checks PKCE, `resource`, codes and
//! refresh tokens.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::{collections::BTreeMap, path::PathBuf};

use mcp::{
    Address, Ask, Clients, LoginAnswer, LoginFailed, LoginWish, ServerConfig, ServerName, Servers, ServersOptions,
    Stand,
};
use pod::{Scope, ToolOutcome};
use protocol::{McpServerState, NetworkPolicy, WorkerId};
use serde_json::json;
use testkit::{scripted_mcp::ScriptedMcp, scripted_oauth::Fault};
use tokio::sync::mpsc;
use tools::{Lifeline, Place, bash::BashOptions};

fn servers(url: &str, logins: Option<PathBuf>) -> Servers {
    let address = Address::url(url, BTreeMap::new()).unwrap();
    let config = ServerConfig::new(ServerName::parse("far").unwrap(), address, None, Vec::new()).unwrap();
    let bash = BashOptions::of_this_process();
    Servers::new(ServersOptions { configs: vec![config], bash, accepted: None, logins })
}

fn pod() -> WorkerId {
    WorkerId::parse("018f0000-0000-7000-8000-000000000001").unwrap()
}

/// A Pod's connections, once each is there or away.
async fn connected(servers: &Servers) -> (Clients, mpsc::Receiver<Ask>) {
    let (asks, asked) = mpsc::channel(4);
    let mut clients = Clients::of_pod(servers, &pod(), None, asks);
    let (wishes, _) = mpsc::channel(1);
    clients.meet(&Stand { cwd: "/".into(), scope: Scope::default(), network: NetworkPolicy::None, wishes }).await;
    clients.settled().wait().await;
    (clients, asked)
}

async fn call(clients: &Clients, tool: &str) -> ToolOutcome {
    let place = Place::nowhere(pod(), "call-b1", Lifeline::pair().0);
    let (output, mut written) = mpsc::channel(8);
    let tool = clients.tool(tool).unwrap();
    let calling = tool.call(&place, json!({ "message": "hello" }), output);
    tokio::join!(calling, async { while written.recv().await.is_some() {} }).0
}

fn wish(caller: Option<&str>) -> LoginWish {
    let redirect_uri = "http://localhost:7474/mcp/oauth/callback/far".to_owned();
    LoginWish { redirect_uri, client_metadata_url: None, caller: caller.map(str::to_owned) }
}

/// Does what a browser does at the address of a login: returns what it brings back.
async fn browsed(url: &str) -> LoginAnswer {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let answer = client.get(url).send().await.unwrap();
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
    let back = reqwest::Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    assert_eq!(back.path(), "/mcp/oauth/callback/far");
    let of = |name: &str| back.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    LoginAnswer { state: of("state").unwrap(), code: of("code"), issuer: of("iss"), error: of("error") }
}

async fn log_in(servers: &Servers) {
    let begun = servers.begin_login("far", wish(None)).await.unwrap();
    servers.finish_login("far", browsed(&begun.url).await, None).await.unwrap();
}

#[tokio::test]
async fn a_server_that_wants_a_login_gets_one_and_it_is_renewed_and_survives_a_restart() {
    let server = ScriptedMcp::start_locked().await;
    let folder = tempfile::tempdir().unwrap();
    let file = Some(folder.path().join("logins.json"));
    let servers_now = servers(&server.url(), file.clone());
    let (before, _asked) = connected(&servers_now).await;
    let item = &servers_now.items()[0];
    assert_eq!((item.state, item.logged_in), (McpServerState::Login, false));
    assert!(item.detail.as_ref().unwrap().contains("yoi mcp login far"), "{item:?}");
    drop(before);

    log_in(&servers_now).await;
    let (clients, _asked) = connected(&servers_now).await;
    let item = &servers_now.items()[0];
    assert_eq!((item.state, item.logged_in), (McpServerState::Ready, true), "{item:?}");
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello");

    server.oauth().expire();
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello", "the token was renewed");
    assert_eq!(server.oauth().grants(), ["authorization_code", "refresh_token"]);
    drop(clients);

    let again = servers(&server.url(), file.clone());
    let (clients, _asked) = connected(&again).await;
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello", "the login was written down");
    server.oauth().expire();
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello", "and can be renewed");
    assert_eq!(server.oauth().complaints(), Vec::<String>::new());

    server.oauth().revoke();
    let outcome = call(&clients, "far__echo").await;
    assert_eq!(outcome.code.as_deref(), Some("unauthorized"), "{outcome:?}");
    assert_eq!(again.items()[0].state, McpServerState::Login);
    for secret in server.oauth().secrets() {
        let shown = format!("{again:?} {:?} {outcome:?}", again.items());
        assert!(!shown.contains(&secret), "{secret} in {shown}");
    }

    let elsewhere = servers("http://127.0.0.1:9/mcp", file);
    assert!(!elsewhere.items()[0].logged_in, "a token is for the address that gave it");
    again.forget_login("far").await.unwrap();
    assert!(!again.items()[0].logged_in);
    assert!(!std::fs::read_to_string(folder.path().join("logins.json")).unwrap().contains("secret"));
}

#[tokio::test]
async fn whoever_logs_out_leaves_no_valid_token_behind() {
    let server = ScriptedMcp::start_locked().await;
    let servers = servers(&server.url(), None);
    log_in(&servers).await;
    assert_eq!(server.oauth().valid(), 2);
    assert!(!servers.forget_login("far").await.unwrap().logged_in);
    assert_eq!(
        (server.oauth().revoked(), server.oauth().valid()),
        (vec!["refresh_token".into(), "access_token".into()], 0)
    );
    assert_eq!(server.oauth().complaints(), Vec::<String>::new());

    log_in(&servers).await;
    server.oauth().does(Fault::KeepsTokens);
    assert!(!servers.forget_login("far").await.unwrap().logged_in, "it is forgotten here all the same");
    assert_eq!(server.oauth().valid(), 2);
}

#[tokio::test]
async fn a_call_that_lacks_a_scope_leads_to_a_login_with_it_and_with_those_before() {
    let server = ScriptedMcp::start_locked().await;
    let servers = servers(&server.url(), None);
    // The demand for a login names the first scope.
    drop(connected(&servers).await);
    log_in(&servers).await;
    let (clients, _asked) = connected(&servers).await;
    let outcome = call(&clients, "far__write").await;
    assert_eq!(outcome.code.as_deref(), Some("unauthorized"), "{outcome:?}");
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello", "the others still work");
    let item = &servers.items()[0];
    assert_eq!(item.state, McpServerState::Login);
    assert!(item.detail.as_ref().unwrap().contains("(write)"), "{item:?}");
    drop(clients);
    log_in(&servers).await;
    let (clients, _asked) = connected(&servers).await;
    assert_eq!(call(&clients, "far__write").await.summary, "echo: hello");
    assert_eq!(call(&clients, "far__echo").await.summary, "echo: hello");
    assert_eq!(servers.items()[0].state, McpServerState::Ready);
}

#[tokio::test]
async fn an_answer_counts_once_and_only_from_the_browser_that_began() {
    let server = ScriptedMcp::start_locked().await;
    let servers = servers(&server.url(), None);
    let begun = servers.begin_login("far", wish(Some("ada"))).await.unwrap();
    assert_eq!(begun.host, "127.0.0.1");
    let answer = browsed(&begun.url).await;
    for other in [None, Some("eve")] {
        let refused = servers.finish_login("far", answer.clone(), other).await;
        assert_eq!(refused, Err(LoginFailed::OtherBrowser), "{other:?}");
    }
    let forged = LoginAnswer { state: "made up".into(), ..answer.clone() };
    assert!(matches!(servers.finish_login("far", forged, Some("ada")).await, Err(LoginFailed::Unknown(_))));
    servers.finish_login("far", answer.clone(), Some("ada")).await.unwrap();
    assert!(matches!(servers.finish_login("far", answer, Some("ada")).await, Err(LoginFailed::Unknown(_))));
    assert_eq!(server.oauth().grants().len(), 1);
    assert_eq!(servers.begin_login("near", wish(None)).await, Err(LoginFailed::NoServer));
}

#[tokio::test]
async fn what_is_not_as_it_should_be_gives_no_token() {
    let server = ScriptedMcp::start_locked().await;
    let servers = servers(&server.url(), None);
    for fault in [Fault::OtherMetadata, Fault::PageIsScript, Fault::OtherResource] {
        server.oauth().does(fault);
        // The demand for a login names the description of the resource.
        let (clients, _asked) = connected(&servers).await;
        drop(clients);
        let refused = servers.begin_login("far", wish(None)).await;
        assert!(matches!(refused, Err(LoginFailed::Refused(..))), "{fault:?}: {refused:?}");
    }
    for fault in [Fault::OtherIssuer, Fault::Refuses] {
        server.oauth().does(fault);
        let begun = servers.begin_login("far", wish(None)).await.unwrap();
        let refused = servers.finish_login("far", browsed(&begun.url).await, None).await;
        assert!(matches!(refused, Err(LoginFailed::Refused(..))), "{fault:?}: {refused:?}");
    }
    assert_eq!(server.oauth().grants(), Vec::<String>::new());
    assert!(!servers.items()[0].logged_in);
}
