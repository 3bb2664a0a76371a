//! Logging in to an MCP server, with the real binary: from the command line and from a browser.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt};

use reqwest::{Url, header};
use serde_json::{Value, json};
use testkit::{
    scripted_mcp::ScriptedMcp,
    until_so,
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

async fn yoi_with(server: &ScriptedMcp) -> YoiProcess {
    let launch = Launch::new(YOI).env("YOI_LOG", "debug");
    let config = launch.work_dir().with_file_name("yoi.toml");
    let section = format!("[mcp.far]\nurl = \"{}\"\n[mcp.near]\ncommand = [\"true\"]", server.url());
    fs::write(&config, section).unwrap();
    launch.arg("--config").arg(config.to_str().unwrap()).start().await
}

async fn far(yoi: &YoiProcess) -> Value {
    yoi.get("/api/v1/mcp").await.expect(200)["items"][0].clone()
}

/// Returns what a verb prints.
async fn printed(yoi: &YoiProcess, verb: &[&str]) -> String {
    let mut command = yoi.launch().command();
    let done = command.args(verb).arg("--data").arg(yoi.launch().data_dir()).output().await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Returns where the authorization server sends a browser.
async fn sent_back(url: &str) -> Url {
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let answer = client.get(url).send().await.unwrap();
    Url::parse(answer.headers()[header::LOCATION].to_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_person_logs_in_from_the_command_line_and_a_pod_uses_the_server() {
    let server = ScriptedMcp::start_locked().await;
    let yoi = yoi_with(&server).await;
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "ada" })).await.expect(201);
    yoi.say(&pod, "hello").await;
    until_so("the login is wanted", async || far(&yoi).await["state"] == "login").await;
    assert!(far(&yoi).await["detail"].as_str().unwrap().contains("yoi mcp login far"));

    let address = printed(&yoi, &["mcp", "login", "far"]).await;
    let back = sent_back(address.trim()).await;
    let port = Url::parse(yoi.base_url()).unwrap().port();
    assert_eq!((back.host_str(), back.port(), back.path()), (Some("localhost"), port, "/mcp/oauth/callback/far"));
    let query = back.query().unwrap();
    let client = yoi.browser_client();
    let bring = async |query: &str| {
        let answer = client.get(format!("{}/mcp/oauth/callback/far?{query}", yoi.base_url())).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    };
    assert_eq!(bring("state=made-up&code=x").await.0, 400);
    let (status, page) = bring(query).await;
    assert_eq!(status, 200, "{page}");
    assert!(page.contains("logged in to far"), "{page}");
    assert_eq!(bring(query).await.0, 400, "it counts once");

    assert_eq!(far(&yoi).await["logged_in"], true);
    yoi.say(&pod, "hello again").await;
    until_so("it is ready", async || far(&yoi).await["tools"].is_array()).await;
    let file = yoi.launch().data_dir().join("mcp-logins.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let audit = yoi.get("/api/v1/audit").await.expect(200).to_string();
    assert!(audit.contains("mcp_login") && audit.contains("mcp_logged_in"), "{audit}");
    let told = format!("{audit} {} {}", yoi.log().join("\n"), far(&yoi).await);
    for secret in server.oauth().secrets() {
        assert!(!told.contains(&secret), "{secret} is told");
    }

    yoi.delete("/api/v1/mcp/far/login").await.expect(200);
    assert!(far(&yoi).await["logged_in"].is_null());
    assert!(!fs::read_to_string(&file).unwrap().contains("secret"));
    yoi.post("/api/v1/mcp/near/login", &json!({})).await.expect_error(400);
    yoi.post("/api/v1/mcp/none/login", &json!({})).await.expect_error(404);
    assert_eq!(server.oauth().complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_login_that_a_browser_begins_ends_in_that_browser() {
    let server = ScriptedMcp::start_locked().await;
    let yoi = yoi_with(&server).await;
    let client = yoi.browser_client();
    let entered = client.get(yoi.login_url()).send().await.unwrap();
    let cookie = entered.headers()[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let console = yoi.console_url();
    let begun = client.post(format!("{console}/api/v1/mcp/far/login")).header(header::COOKIE, &cookie);
    let begun: Value = begun.header(header::ORIGIN, console).send().await.unwrap().json().await.unwrap();
    let back = sent_back(begun["url"].as_str().unwrap()).await;
    let target = format!("{}?{}", back.path(), back.query().unwrap());

    // Under the shared name it leads to the console, and there to a page of ours, with which the cookie comes.
    let shared = client.get(format!("{}{target}", yoi.base_url())).send().await.unwrap();
    assert_eq!(shared.status(), 303);
    assert_eq!(shared.headers()[header::LOCATION].to_str().unwrap(), format!("{console}{target}"));
    let page = client.get(format!("{console}{target}")).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("http-equiv=\"refresh\"") && page.contains("yoi_again=1"), "{page}");
    let again = format!("{console}{target}&yoi_again=1");
    let other = client.get(&again).send().await.unwrap();
    assert_eq!(other.status(), 403, "another browser has no cookie");
    assert!(far(&yoi).await["logged_in"].is_null());
    let done = client.get(&again).header(header::COOKIE, &cookie).send().await.unwrap();
    assert_eq!(done.headers()[header::LOCATION], "/settings");
    assert_eq!(far(&yoi).await["logged_in"], true);
    let audit = yoi.get("/api/v1/audit?action=mcp_logged_in").await.expect(200);
    let results: Vec<_> = audit["items"].as_array().unwrap().iter().map(|row| row["result"].clone()).collect();
    assert_eq!(results, [json!("done"), json!("refused")], "the way to the console is no refusal");
}

#[tokio::test]
async fn prompts_and_resources_are_there_for_people() {
    let server = ScriptedMcp::start().await;
    let yoi = yoi_with(&server).await;
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "ada" })).await.expect(201);
    let of = |rest: &str| format!("{}/{rest}", pod_path(&pod));
    let before = yoi.journal(&pod).await;
    let prompts = yoi.get(&of("prompts")).await.expect(200);
    assert_eq!(prompts["items"][0]["name"], "far__review");
    assert_eq!(prompts["items"][0]["arguments"][0], json!({ "name": "file", "required": true }));
    let made = yoi.get(&of("prompts/far__review?words=main.rs%20kind")).await.expect(200);
    assert_eq!(made["text"], "Review \"main.rs\" in a \"kind\" tone.");
    let made = yoi.get(&of("prompts/far__review?arguments=%7B%22file%22%3A%22a%22%7D")).await.expect(200);
    assert_eq!(made["text"], "Review \"a\" in a null tone.");
    yoi.get(&of("prompts/far__review")).await.expect_error(400);
    yoi.get(&of("prompts/far__review?arguments=%5B%5D")).await.expect_error(400);
    yoi.get(&of("prompts/far__none")).await.expect_error(404);
    yoi.get(&of("prompts/none__review")).await.expect_error(404);

    let found = yoi.get(&of("resources?q=NOTES")).await.expect(200);
    assert_eq!(
        found["items"],
        json!([{
            "server": "far", "uri": "note://1", "name": "notes", "media_type": "text/markdown",
        }])
    );
    assert_eq!(yoi.get(&of("resources")).await.expect(200)["items"].as_array().unwrap().len(), 3);
    let read = yoi.get(&of("resources/content?server=far&uri=note://1")).await.expect(200);
    assert_eq!(read, json!({ "uri": "note://1", "media_type": "text/plain", "text": "Buy milk." }));
    let read = yoi.get(&of("resources/content?server=far&uri=note://2")).await.expect(200);
    assert_eq!((&read["media_type"], &read["data"]), (&json!("image/gif"), &json!("R0lGODlhAQABAAAAADs=")));
    yoi.get(&of("resources/content?server=none&uri=note://1")).await.expect_error(404);

    // What may come next in an address of a template, and whether it is whole then.
    let next = async |begun: &str| -> Vec<(String, bool)> {
        let found = yoi.get(&of(&format!("resources?q={begun}"))).await.expect(200);
        let item = |item: &Value| (item["uri"].as_str().unwrap().to_owned(), item.get("template").is_none());
        found["items"].as_array().unwrap().iter().map(item).collect()
    };
    let item = |uri: &str, is_whole| (uri.to_owned(), is_whole);
    for begun in ["LOGS", "lo"] {
        assert_eq!(next(begun).await, [item("log://", false)], "{begun}");
    }
    let days = [item("log://monday/", false), item("log://saint%20monday/", false), item("log://tuesday/", false)];
    assert_eq!(next("log://").await, days);
    assert_eq!(next("log://mon").await, [item("log://monday/", false), item("log://mon/", false)]);
    assert_eq!(next("log://monday/").await, [item("log://monday/of%20monday", true)]);
    assert_eq!(next("log://monday/x").await, [item("log://monday/x", true)]);
    assert_eq!(next("log://monday/x/y").await, []);
    let asked = server.count("completion/complete");
    assert_eq!(next("log://").await, days);
    assert_eq!(server.count("completion/complete"), asked, "an answer counts for a while");
    let read = yoi.get(&of("resources/content?server=far&uri=log://monday/x")).await.expect(200);
    assert_eq!(read["text"], "The log at \"log://monday/x\".");
    let listed = printed(&yoi, &["mcp", "resources", "ada", "logs"]).await;
    assert!(listed.contains("log://{day}/{name}"), "{listed}");

    let text = printed(&yoi, &["mcp", "prompt", "ada", "far__review", "a b.rs"]).await;
    assert_eq!(text, "Review \"a b.rs\" in a null tone.\n");
    assert_eq!(server.count("prompts/list"), 1, "a list counts for a while");
    assert_eq!(yoi.journal(&pod).await, before, "the Pod is told nothing");
}
