//! The official test server as an MCP server of Pods, with the real binary: over its standard input and output in the
//! Pod's sandbox, and over HTTP.

#![allow(clippy::unwrap_used)]

use std::{fs, path::Path, process::Stdio};

use serde_json::{Value, json};
use testkit::{
    generators::server_everything,
    until, until_so,
    yoi::{Launch, YoiProcess, pod_path},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
const SECRET: &str = "a-word-that-nobody-sees";

async fn yoi_with(section: &str) -> YoiProcess {
    let launch = Launch::new(YOI);
    let config = launch.work_dir().with_file_name("yoi.toml");
    fs::write(&config, section).unwrap();
    launch.arg("--config").arg(config.to_str().unwrap()).start().await
}

/// Creates a Pod that works in its own folder and may read the server's program.
async fn pod_that_reads(yoi: &YoiProcess, program: &Path) -> Value {
    let packages = program.ancestors().nth(3).unwrap();
    let scope = json!([
        { "path": yoi.launch().work_dir(), "access": "write" },
        { "path": packages, "access": "read" },
    ]);
    yoi.post("/api/v1/pods", &json!({ "name": "ada", "scope": scope })).await.expect(201)
}

async fn call(yoi: &YoiProcess, pod: &Value, tool: &str, arguments: Value) -> Value {
    let path = format!("{}/tools/everything__{tool}", pod_path(pod));
    yoi.post(&path, &json!({ "arguments": arguments })).await.expect(200)
}

async fn server(yoi: &YoiProcess) -> Value {
    yoi.get("/api/v1/mcp").await.expect(200)["items"][0].clone()
}

/// Returns whether a process is running whose command line contains this.
fn runs(words: &str) -> bool {
    let lines =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(words))
}

#[tokio::test]
async fn a_program_is_talked_to_in_the_room_of_its_pod_and_ends_with_its_rest() {
    let program = server_everything().await;
    let index = program.join("dist/index.js");
    // So that no other test's process is mistaken for it.
    let mark = format!("stdio --mark-{}", std::process::id());
    let (word, number) = mark.split_once(' ').unwrap();
    let section = format!(
        "[mcp.everything]\ncommand = [\"node\", {index:?}, \"{word}\", \"{number}\"]\nenv = {{ KEY = \"{SECRET}\" }}\n\
         permissions = [{{ tool = \"echo\", decision = \"allow\" }}]\n"
    );
    let yoi = yoi_with(&section).await;
    let pod = pod_that_reads(&yoi, &program).await;
    assert_eq!(server(&yoi).await, json!({ "name": "everything", "state": "idle" }));
    yoi.say(&pod, "call everything__echo {\"message\":\"hi\"}").await;
    let journal = until("the call has ended", async || {
        let journal = yoi.journal(&pod).await;
        journal.iter().any(|record| record["event"]["kind"] == "run_finished").then_some(journal)
    })
    .await;
    let events: Vec<_> = journal.iter().map(|record| &record["event"]).collect();
    let finished = events.iter().find(|event| event["kind"] == "tool_finished");
    let finished = finished.unwrap_or_else(|| panic!("{events:?}\n{}", yoi.log().join("\n")));
    assert_eq!((&finished["is_error"], &finished["summary"]), (&json!(false), &json!("Echo: hi")), "{finished}");
    until_so("its process has ended with the Pod's rest", async || !runs(&mark)).await;

    let environment = call(&yoi, &pod, "get-env", json!({})).await;
    let text = environment["content"].as_str().unwrap();
    assert!(text.contains("\"KEY\": \"[hidden]\"") && text.contains("\"PATH\""), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("YOI_"), "{text}");
    let picture = call(&yoi, &pod, "get-tiny-image", json!({})).await;
    assert_eq!(picture["is_error"], false, "{picture}");
    let wrong = call(&yoi, &pod, "get-sum", json!({ "a": "x" })).await;
    assert_eq!(wrong["is_error"], true, "{wrong}");
    let missing = call(&yoi, &pod, "no-such-tool", json!({})).await;
    assert_eq!(missing["code"], "not_found", "{missing}");
    let known = server(&yoi).await;
    assert!(known["tools"].as_array().unwrap().contains(&json!("everything__echo")), "{known}");
    let log = yoi.get("/api/v1/mcp/everything/log").await.expect(200);
    assert!(log["text"].is_string() && !log.to_string().contains(SECRET), "{log}");
    yoi.post("/api/v1/mcp/everything/restart", &json!({})).await.expect(200);
    yoi.get("/api/v1/mcp/nothing/log").await.expect(404);
    assert!(!yoi.log().join("\n").contains(SECRET));
}

#[tokio::test]
async fn a_program_reaches_what_its_pod_does_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside.txt");
    fs::write(&outside, "kept").unwrap();
    // A server that only reports, in its error, what it can read.
    let script = format!("cat {} >&2; cat inside.txt >&2; echo $HOME >&2; exit 3", outside.display());
    let yoi = yoi_with(&format!("[mcp.everything]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n")).await;
    fs::write(yoi.launch().work_dir().join("inside.txt"), "found\n").unwrap();
    let pod = yoi.new_pod("ada").await;
    let away = call(&yoi, &pod, "anything", json!({})).await;
    assert_eq!(away["code"], "unavailable", "{away}");
    let known = server(&yoi).await;
    assert_eq!(known["state"], "away");
    assert!(known["detail"].as_str().unwrap().contains("exit code 3"), "{known}");
    let log = yoi.get("/api/v1/mcp/everything/log").await.expect(200)["text"].as_str().unwrap().to_owned();
    assert!(log.contains("found") && !log.contains("kept"), "{log}");
}

#[tokio::test]
async fn a_server_is_spoken_to_over_http_and_asks_a_person_in_the_midst_of_a_call() {
    let program = server_everything().await;
    let (_server, port) = over_http(&program).await;
    let section = format!(
        "[mcp.everything]\nurl = \"http://127.0.0.1:{port}/mcp\"\nheaders = {{ X-Key = \"{SECRET}\" }}\n\
         permissions = [{{ tool = \"trigger-elicitation-request\", decision = \"allow\" }}]\n"
    );
    let yoi = yoi_with(&section).await;
    let pod = yoi.new_pod("ada").await;
    let sum = call(&yoi, &pod, "get-sum", json!({ "a": 2, "b": 3 })).await;
    assert!(sum["summary"].as_str().unwrap().contains('5'), "{sum}");
    yoi.say(&pod, "call everything__trigger-elicitation-request {}").await;
    let path = format!("{}/approvals", pod_path(&pod));
    let asked = until("the server asks", async || {
        yoi.get(&path).await.expect(200)["items"].as_array().unwrap().first().cloned()
    })
    .await;
    let schema = &asked["arguments"]["schema"];
    assert!(schema["properties"].is_object(), "{asked}");
    let answer = format!("{path}/{}", asked["id"].as_str().unwrap());
    let wrong = json!({ "decision": "allow", "content": { "nobody asked": true } });
    assert_eq!(yoi.post(&answer, &wrong).await.expect_error(400), "invalid_input");
    let given: serde_json::Map<String, Value> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|name| {
            let name = name.as_str().unwrap();
            (name.to_owned(), json!("ada"))
        })
        .collect();
    yoi.post(&answer, &json!({ "decision": "allow", "content": given })).await.expect(200);
    let finished = until("the call has ended", async || {
        let journal = yoi.journal(&pod).await;
        journal
            .into_iter()
            .map(|record| record["event"].clone())
            .rfind(|event| event["kind"] == "tool_finished" && event["by"] == "model")
    })
    .await;
    assert_eq!(finished["is_error"], false, "{finished}");
}

/// The same program over HTTP, on a free port.
async fn over_http(program: &Path) -> (Child, u16) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new("node")
        .arg(program.join("dist/index.js"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    testkit::within("the server listens", async {
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (server, port)
}
