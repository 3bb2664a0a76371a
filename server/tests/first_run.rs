//! The built binary from outside: the first start, the folder it creates, and the ways it ends.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use futures_util::StreamExt;
use serde_json::Value;
use testkit::{
    scripted_model::{Answer, ScriptedModel},
    yoi::{Launch, YoiProcess},
};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The result of one verb of the command line.
#[derive(Debug)]
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Done {
    #[track_caller]
    fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs `yoi` with these arguments, on the launch's own folder.
async fn run(launch: &Launch, words: &[&str]) -> Done {
    let output = launch.command().args(words).arg("--data").arg(launch.data_dir()).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn entries(path: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_fresh_start_answers_and_makes_only_its_own_folder_for_its_owner_only() {
    let yoi = YoiProcess::start(YOI).await;
    let health = reqwest::get(format!("{}/healthz", yoi.base_url())).await.unwrap();
    assert_eq!(health.status(), 200);
    yoi.get("/api/v1/pods").await.expect(200);

    let data = yoi.launch().data_dir();
    assert_eq!(mode(data), 0o700);
    for entry in entries(data) {
        let expected = if entry.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&entry), expected, "{}", entry.display());
    }
    let token = fs::read_to_string(data.join("token")).unwrap();
    assert_eq!(token.trim(), yoi.token());
    assert!(token.trim().len() == 64 && token.trim().bytes().all(|byte| byte.is_ascii_hexdigit()));
    let root = data.parent().unwrap();
    for other in ["config", "work", "home"] {
        assert_eq!(entries(&root.join(other)), Vec::<std::path::PathBuf>::new(), "something was put into {other}");
    }
}

#[tokio::test]
async fn a_folder_in_use_is_refused_with_the_pid_and_is_free_at_once_after_a_kill() {
    let mut yoi = YoiProcess::start(YOI).await;
    let (pid, token) = (yoi.pid().unwrap(), yoi.token().to_owned());
    let refused = yoi.launch().clone().try_start().await.unwrap_err();
    assert_eq!(refused.status.code(), Some(1));
    let sentence = refused.stderr.join("\n");
    assert!(sentence.contains(&format!("is in use by yoi with pid {pid}")), "{sentence}");
    yoi.get("/api/v1/pods").await.expect(200);

    yoi.restart().await;
    assert_eq!(yoi.token(), token, "the token is made once");
    yoi.get("/api/v1/pods").await.expect(200);
}

#[tokio::test]
async fn a_page_leads_to_the_login_and_the_printed_address_logs_in() {
    let yoi = YoiProcess::start(YOI).await;
    let browser = yoi.browser_client();
    let get = |path: &str| browser.get(format!("{}{path}", yoi.console_url()));
    let refused = get("/").send().await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["location"].to_str().unwrap()), (303, "/login"));
    assert_eq!(get("/login").send().await.unwrap().status(), 200);

    let login = browser.get(yoi.login_url()).send().await.unwrap();
    assert_eq!((login.status().as_u16(), login.headers()["location"].to_str().unwrap()), (303, "/"));
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = get("/").header("cookie", &cookie).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(page.headers().contains_key("content-security-policy"));
    assert!(page.text().await.unwrap().contains("New Pod"));
    for path in ["/no/such/page", "/pods/local/no-such-pod", "/pkg/absent/no.js"] {
        assert_eq!(get(path).header("cookie", &cookie).send().await.unwrap().status(), 404, "{path}");
    }
}

#[tokio::test]
async fn assets_come_compressed_and_can_be_kept_for_ever() {
    let yoi = YoiProcess::start(YOI).await;
    if !bundle::is_present() {
        // A build with YOI_WEB=skip has no pages, and the answer says so.
        let page = yoi.get("/").await.expect(200);
        assert!(page.as_str().unwrap().contains("YOI_WEB=skip"), "{page}");
        return;
    }
    let path = format!("/pkg/{}/{}", bundle::HASH, bundle::JS);
    // The client must not decompress the body, because that removes the header.
    let plain = reqwest::Client::builder().no_gzip().build().unwrap();
    let url = format!("{}{path}", yoi.base_url());
    let get = |encodings: &'static str| plain.get(&url).bearer_auth(yoi.token()).header("accept-encoding", encodings);
    for (encodings, chosen) in [("gzip, br", Some("br")), ("gzip", Some("gzip")), ("identity", None)] {
        let answer = get(encodings).send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(header("content-encoding").as_deref(), chosen, "{encodings}");
        assert_eq!(header("vary").as_deref(), Some("accept-encoding"));
        assert!(header("cache-control").unwrap().contains("immutable"));
        let etag = header("etag").unwrap();
        let again = get(encodings).header("if-none-match", etag).send().await.unwrap();
        assert_eq!(again.status(), 304);
    }
}

#[tokio::test]
async fn a_bad_configuration_is_exit_2_and_names_the_key() {
    let launch = Launch::new(YOI);
    let config = launch.work_dir().join("config.toml");
    fs::write(&config, "[providers.openai]\nkind = \"openai\"\nbase_ulr = \"http://127.0.0.1:1\"\n").unwrap();
    let failed = launch.clone().arg("--config").arg(config.to_str().unwrap()).try_start().await.unwrap_err();
    assert_eq!(failed.status.code(), Some(2));
    assert!(failed.stderr.join("\n").contains("`base_ulr`"), "{failed:?}");
    assert_eq!(failed.stderr.len(), 1, "one readable line: {failed:?}");

    for words in [&["--no-such-flag"][..], &["--compat-sockets", "/run/yoi"], &["--listen", "nowhere"]] {
        let mut launch = Launch::new(YOI);
        for word in words {
            launch = launch.arg(word);
        }
        let failed = launch.try_start().await.unwrap_err();
        assert_eq!(failed.status.code(), Some(2), "{words:?}: {failed:?}");
    }
}

#[tokio::test]
async fn without_a_server_every_verb_is_exit_3() {
    let launch = Launch::new(YOI);
    let verbs: [&[&str]; 6] =
        [&["ls"], &["new", "ada"], &["send", "ada", "hello"], &["log", "ada", "-f"], &["events"], &["pause", "ada"]];
    for words in verbs {
        let done = run(&launch, &[words, &["--server", "http://127.0.0.1:1"]].concat()).await;
        assert_eq!((done.code, done.stdout.as_str()), (Some(3), ""), "{words:?}: {done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "one readable line: {done:?}");
    }
}

#[tokio::test]
async fn sigterm_ends_with_0_in_time_and_tells_open_sockets_why() {
    let mut yoi = YoiProcess::start(YOI).await;
    let mut request = format!("{}/api/v1/events", yoi.base_url().replace("http", "ws")).into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", yoi.token()).parse().unwrap());
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    assert!(matches!(socket.next().await, Some(Ok(Message::Text(hello))) if hello.contains("hello")));
    // Nor may an idle keep-alive connection hold up the server.
    yoi.get("/api/v1/pods").await.expect(200);

    assert_eq!(yoi.terminate().await.code(), Some(0));
    let mut reason = None;
    while let Some(Ok(message)) = socket.next().await {
        if let Message::Close(Some(frame)) = message {
            reason = Some(frame.reason.to_string());
        }
    }
    assert!(reason.is_some_and(|reason| !reason.is_empty()), "the socket was closed without a reason");
}

#[tokio::test]
async fn the_log_holds_no_token_even_when_it_holds_everything() {
    let mut yoi = Launch::new(YOI).env("YOI_LOG", "trace").start().await;
    yoi.browser_client().get(yoi.login_url()).send().await.unwrap();
    let code = yoi.post("/api/v1/login-codes", &Value::Null).await.expect(201)["code"].as_str().unwrap().to_owned();
    yoi.browser_client().get(format!("{}/?code={code}", yoi.console_url())).send().await.unwrap();
    let events = yoi.events().await;
    events.close().await;
    yoi.get("/api/v1/pods").await.expect(200);
    yoi.terminate().await;
    let log = yoi.log();
    assert!(!log.is_empty());
    let leak = log.iter().find(|line| line.contains(yoi.token()) || line.contains("?token") || line.contains(&code));
    assert_eq!(leak, None);
}

#[tokio::test]
async fn a_key_from_standard_input_makes_its_provider_work_and_stays_in_one_file() {
    use tokio::io::AsyncWriteExt as _;
    const KEY: &str = "sk-test-90ab12cd34ef56";
    let (model, refuses) = (ScriptedModel::start().await, ScriptedModel::start().await);
    // A list of models whose requests the test can see.
    model.otherwise(Answer::refuse(200, "{\"data\":[{\"id\":\"small\"},{\"id\":\"large\"}]}"));
    let url = model.base_url().replace("/v1", "/keyed");
    let mut yoi = Launch::new(YOI).env("YOI_LOG", "trace").start().await;
    let launch = yoi.launch().clone();
    let set = async |name: &str, url: &str| {
        let mut command = launch.command();
        command.args(["key", "set", name, "--kind", "openai-compatible", "--base-url", url, "--data"]);
        command.arg(launch.data_dir()).stdin(std::process::Stdio::piped());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).await.unwrap();
        let output = child.wait_with_output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    };
    let refused = set("lab", &refuses.base_url().replace("/v1", "/keyed")).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.stderr.contains("nothing was kept"), "{refused:?}");
    let file = launch.data_dir().join("keys.json");
    assert!(!file.exists());
    let done = set("lab", &url).await;
    assert_eq!(done.stdout, "lab works: 2 models; its key is kept\n", "{done:?}");
    assert_eq!(mode(&file), 0o600);

    // At once, and again after a restart; a Pod that names no provider uses it.
    let pod = run(&launch, &["new", "ada", "--json"]).await.json();
    assert_eq!((&pod["provider"], &pod["model"]), (&Value::from("lab"), &Value::from("small")));
    yoi.restart().await;
    let listed = run(&launch, &["providers"]).await;
    assert!(listed.stdout.contains("lab (default)") && listed.stdout.contains("data folder, with a key"), "{listed:?}");
    assert_eq!(run(&launch, &["providers", "test", "lab", "--json"]).await.json()["is_ok"], true);
    assert_eq!(model.requests().last().unwrap().headers["authorization"], format!("Bearer {KEY}"));

    // The key is in its file, and nowhere else: not in a log, an answer or another file.
    let audit = run(&launch, &["audit"]).await;
    assert!(audit.stdout.contains("key_set"), "{audit:?}");
    let log = yoi.log().join("\n");
    assert!(!log.is_empty() && !log.contains(KEY), "the log holds the key");
    for entry in entries(launch.data_dir()).into_iter().filter(|entry| entry.is_file() && *entry != file) {
        let holds = fs::read(&entry).unwrap().windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes());
        assert!(!holds, "{} holds the key", entry.display());
    }
    assert!(![&refused, &done, &listed, &audit].iter().any(|done| format!("{done:?}").contains(KEY)));

    // The configuration takes precedence, and the answer says so.
    yoi.terminate().await;
    let config = launch.work_dir().join("config.toml");
    fs::write(&config, format!("[providers.lab]\nkind = \"openai\"\nbase_url = \"{url}\"\n")).unwrap();
    let yoi = launch.clone().env("YOI_CONFIG", config.to_str().unwrap()).start().await;
    let listed = run(&launch, &["providers"]).await;
    assert!(listed.stdout.contains("configuration (a kept key is not used)"), "{listed:?}");
    assert_eq!(run(&launch, &["key", "forget", "lab"]).await.code, Some(0));
    assert!(!fs::read_to_string(&file).unwrap().contains(KEY));
    drop(yoi);
}

#[tokio::test]
async fn a_token_of_the_environment_is_used_and_not_written_down() {
    let yoi = Launch::new(YOI).env("YOI_TOKEN", "of my own").try_start().await.unwrap_err();
    assert_eq!(yoi.status.code(), Some(2), "a token with spaces is no token");
    let yoi = Launch::new(YOI).env("YOI_TOKEN", "of-my-own").start().await;
    assert_eq!(yoi.token(), "of-my-own");
    yoi.get("/api/v1/pods").await.expect(200);
    assert!(!yoi.launch().data_dir().join("token").exists());
    assert_eq!(run(yoi.launch(), &["token"]).await.stdout, "of-my-own\n");
    assert_eq!(run(yoi.launch(), &["doctor"]).await.code, Some(0));
}

#[tokio::test]
async fn the_command_line_makes_talks_to_and_controls_pods() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    assert_eq!(run(launch, &["token"]).await.stdout.trim(), yoi.token());
    let pod = run(launch, &["new", "ada", "--provider", "rehearsal", "--json"]).await.json();
    assert_eq!((&pod["name"], &pod["state"]), (&Value::from("ada"), &Value::from("idle")));

    let mut follow = launch.command();
    follow.args(["log", "ada", "-f", "--json", "--data"]).arg(launch.data_dir()).stdout(std::process::Stdio::piped());
    let mut follow = follow.spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let receipt = run(launch, &["send", "ada", "say", "hello", "there", "--json"]).await.json();
    assert!(receipt["command_id"].is_string() && receipt["seq"].is_number(), "{receipt}");
    let mut said = None;
    while said.is_none() {
        let line = tokio::time::timeout(testkit::yoi::WAIT_MAX, lines.next_line()).await.unwrap().unwrap().unwrap();
        let record: Value = serde_json::from_str(&line).unwrap();
        said = (record["event"]["kind"] == "message_finished").then(|| record["event"]["text"].clone());
    }
    assert_eq!(said, Some(Value::from("hello there")));

    let log = run(launch, &["log", "ada", "--json"]).await.json();
    assert!(log["items"].as_array().unwrap().iter().any(|record| record["event"]["kind"] == "user_message"), "{log}");
    assert_eq!(log["next"], Value::Null);
    assert!(run(launch, &["log", "ada"]).await.stdout.contains("model: hello there"));

    assert_eq!(run(launch, &["stop", "ada"]).await.code, Some(0));
    let refused = run(launch, &["send", "ada", "hello"]).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("restore"), "the way out is named: {refused:?}");
    assert_eq!(run(launch, &["restore", "ada", "--json"]).await.code, Some(0));
    let listing = run(launch, &["ls", "--json"]).await.json();
    assert_eq!((listing["items"].as_array().unwrap().len(), &listing["next"]), (1, &Value::Null));

    assert_eq!(run(launch, &["rm", "ada"]).await.code, Some(1));
    assert_eq!(run(launch, &["rm", "ada", "--yes"]).await.code, Some(0));
    let unknown = run(launch, &["log", "ada"]).await;
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
}

#[tokio::test]
async fn a_run_that_goes_on_makes_a_message_wait_or_be_refused_as_it_was_asked() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    run(launch, &["new", "ada", "--provider", "rehearsal", "--json"]).await.json();
    run(launch, &["send", "ada", "wait", "600", "--json"]).await.json();
    let refused = run(launch, &["send", "ada", "hello", "--no-queue"]).await;
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{refused:?}");
    run(launch, &["send", "ada", "hello", "--json"]).await.json();
    assert_eq!(run(launch, &["cancel", "ada"]).await.code, Some(0));
}

#[tokio::test]
async fn completions_are_printed_for_each_shell() {
    let launch = Launch::new(YOI);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = launch.command().args(["completions", shell]).output().await.unwrap();
        assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("yoi"), "{shell}");
    }
}
