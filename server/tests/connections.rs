//! Strangers that hold connections: the built binary keeps serving those who are authenticated, and drops the others.

#![allow(clippy::unwrap_used)]

use reqwest::Method;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use testkit::{
    until_so, within,
    yoi::{Launch, YoiProcess, pod_path},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Sockets of a stranger, each after the first byte of a request.
async fn strangers(yoi: &YoiProcess, count: usize) -> Vec<TcpStream> {
    let address = yoi.base_url().trim_start_matches("http://").to_owned();
    let mut strangers = Vec::new();
    for _ in 0..count {
        let mut stranger = TcpStream::connect(&address).await.unwrap();
        // One that has been closed meanwhile is fine.
        let _ = stranger.write_all(b"G").await;
        strangers.push(stranger);
    }
    strangers
}

/// This process holds the other ends.
fn raise_own_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}

async fn figure(yoi: &YoiProcess, name: &str) -> u64 {
    let text = yoi.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("yoi_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

async fn until_figure(yoi: &YoiProcess, name: &str, is_so: impl Fn(u64) -> bool) {
    until_so(format!("{name} is as wanted"), async || is_so(figure(yoi, name).await)).await;
}

#[tokio::test]
async fn sockets_that_send_one_byte_are_let_go_and_nobody_waits_for_them() {
    raise_own_limit();
    let yoi = YoiProcess::start(env!("CARGO_BIN_EXE_yoi")).await;
    let pod = yoi.new_pod("ada").await;
    let mut viewer = yoi.events().await;
    viewer.subscribe("a", &pod, None).await;
    let mut strangers = strangers(&yoi, 1_500).await;
    until_figure(&yoi, "connections", |open| open >= 1_500).await;

    // A new connection for each, as a browser and a script open them.
    let page = yoi.browser_client().get(yoi.login_url()).send().await.unwrap();
    assert!(page.status().is_success() || page.status().is_redirection(), "{}", page.status());
    let receipt = yoi.say(&pod, "say hello").await;
    assert!(receipt["seq"].is_i64(), "{receipt}");
    viewer.records_until("a", |record| record["event"]["kind"] == "run_finished").await;

    // None of them gets anything but the end of the connection.
    for stranger in &mut strangers {
        let mut heard = Vec::new();
        let ended = within("a stranger is let go", stranger.read_to_end(&mut heard)).await;
        assert!(ended.is_err() || heard.is_empty(), "{heard:?}");
    }
    until_figure(&yoi, "connections", |open| open < 20).await;
    assert!(figure(&yoi, "connections_timed_out_total").await >= 1_500);

    // The viewer kept its connection.
    yoi.say(&pod, "say still here").await;
    viewer.records_until("a", |record| record["event"]["text"] == "still here").await;
}

#[tokio::test]
async fn where_files_are_few_strangers_make_room_and_the_store_and_commands_find_theirs() {
    raise_own_limit();
    let launch = Launch::new(env!("CARGO_BIN_EXE_yoi")).open_files(200, 256);
    let yoi = launch.start().await;
    let strangers = strangers(&yoi, 400).await;
    let pod = yoi.new_pod("ada").await;
    let mut viewer = yoi.events().await;
    viewer.subscribe("a", &pod, None).await;
    yoi.say(&pod, "say hello").await;
    viewer.records_until("a", |record| record["event"]["kind"] == "run_finished").await;
    assert!(figure(&yoi, "connections").await <= 160);
    assert!(figure(&yoi, "connections_displaced_total").await >= 240);

    // A command has the soft limit that yoi was started with, though yoi has raised its own.
    let command = json!({ "arguments": { "command": "ulimit -Sn; ulimit -Hn" } });
    let done = yoi.post(&format!("{}/tools/Bash", pod_path(&pod)), &command).await.expect(200);
    assert!(done["content"].as_str().unwrap_or_default().contains("200\n256"), "{done}");
    drop(strangers);
}
