//! Real agents from npm as Pods, against a scripted model server on this machine: `cargo xtask real agents` runs it.
//!
//! For each agent it prints whether it talks, asks before it runs a command, shows what it writes as a diff, can be
//! cancelled, continues after its own process or yoi's is killed, and is led from the page; and whether a message from
//! one agent to the other is answered with a correct receipt.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{Launch, YoiProcess, pod_path, until},
};

/// The agents, and a word in the command line of each one's process.
const AGENTS: [(&str, &str); 2] = [("opencode", "opencode acp"), ("codex", "codex-acp-linux")];
const HELLO: &str = "Hello from the scripted model.";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [binary, programs] = arguments.as_slice() else {
        eprintln!("usage: agents YOI FOLDER_OF_PROGRAMS");
        return ExitCode::from(2);
    };
    match tried(binary, programs).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A model server that ends when this is dropped.
struct Model(Child);

impl Drop for Model {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

async fn tried(binary: &Path, programs: &Path) -> Result<bool> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agents/model.py");
    let child = Command::new("python3").arg(script).stdout(Stdio::piped()).spawn();
    let mut model = Model(child.context("python3 could not be started")?);
    let mut line = String::new();
    let output = model.0.stdout.take().context("the model server has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    let path = std::env::var("PATH").unwrap_or_default();
    let launch = Launch::new(binary.to_str().context("the path of yoi is UTF-8")?)
        .env("PATH", &format!("{}:{path}", programs.display()));
    settings(&launch, line.trim())?;
    let mut yoi = launch.start().await;
    let mut is_whole = true;
    let mut pods = Vec::new();
    for (name, process) in AGENTS {
        let pod = yoi.post("/api/v1/pods", &json!({ "name": name, "agent": name })).await.expect(201);
        for (what, outcome) in [
            ("talks", talks(&yoi, &pod).await),
            ("asks before it runs a command", asks(&yoi, &pod, name).await),
            ("shows what it writes as a diff", writes(&yoi, &pod, name).await),
            ("is cancelled", cancelled(&yoi, &pod).await),
            ("goes on after it was killed", killed(&yoi, &pod, process).await),
        ] {
            is_whole &= told(name, what, &outcome);
        }
        pods.push(pod);
    }
    let browser = Browser::open(&yoi, 1440, 900).await;
    for ((name, _), pod) in AGENTS.iter().zip(&pods) {
        is_whole &= told(name, "is led from the page", &led(&yoi, &browser, pod, name).await);
    }
    browser.quit().await;
    let answered = answers_a_peer(&yoi, &pods).await;
    is_whole &= told("both", "write to each other with receipts", &answered);
    yoi.kill9().await;
    yoi.restart().await;
    for ((name, _), pod) in AGENTS.iter().zip(&pods) {
        is_whole &= told(name, "goes on after yoi was killed", &talks(&yoi, pod).await);
    }
    Ok(is_whole)
}

fn told(name: &str, what: &str, outcome: &Result<()>) -> bool {
    match outcome {
        Ok(()) => println!("pass  {name:10} {what}"),
        Err(error) => println!("FAIL  {name:10} {what}: {error:#}"),
    }
    outcome.is_ok()
}

/// Writes the agents' settings for their model into the home of the server.
fn settings(launch: &Launch, port: &str) -> Result<()> {
    let root = launch.work_dir().parent().context("a launch has a folder")?.to_owned();
    let url = format!("http://127.0.0.1:{port}/v1");
    let opencode = json!({
        "autoupdate": false, "share": "disabled", "model": "scripted/m", "small_model": "scripted/m",
        "permission": { "bash": "ask", "edit": "ask" },
        "provider": { "scripted": { "npm": "@ai-sdk/openai-compatible", "name": "Scripted",
            "options": { "baseURL": url, "apiKey": "none" },
            "models": { "m": { "name": "M", "limit": { "context": 32_000, "output": 4_000 } } } } },
    });
    let codex = format!(
        "model = \"m\"\nmodel_provider = \"scripted\"\napproval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n\
         [model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"{url}\"\nwire_api = \"responses\"\n"
    );
    for (folder, file, text) in [
        (root.join("config/opencode"), "opencode.json", opencode.to_string()),
        (root.join("home/.config/opencode"), "opencode.json", opencode.to_string()),
        (root.join("home/.codex"), "config.toml", codex),
    ] {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(file), text)?;
    }
    Ok(())
}

async fn events(yoi: &YoiProcess, pod: &Value) -> Vec<Value> {
    yoi.journal(pod).await.into_iter().map(|record| record["event"].clone()).collect()
}

/// Returns the events after this many records, once a run has ended in them.
async fn ended(yoi: &YoiProcess, pod: &Value, from: usize) -> Vec<Value> {
    until("the run has ended", async || {
        let events = events(yoi, pod).await.split_off(from);
        events.iter().any(|event| event["kind"] == "run_finished").then_some(events)
    })
    .await
}

fn outcome(events: &[Value]) -> String {
    let finished = events.iter().find(|event| event["kind"] == "run_finished");
    finished.map(|event| format!("{} {}", event["outcome"], event["detail"])).unwrap_or_default()
}

fn says(events: &[Value], text: &str) -> bool {
    events.iter().any(|event| {
        event["kind"] == "message_finished" && event["text"].as_str().is_some_and(|said| said.contains(text))
    })
}

async fn talks(yoi: &YoiProcess, pod: &Value) -> Result<()> {
    let from = events(yoi, pod).await.len();
    yoi.say(pod, "Say hello.").await;
    let events = ended(yoi, pod, from).await;
    ensure!(says(&events, HELLO), "it said something else ({})", outcome(&events));
    Ok(())
}

async fn question(yoi: &YoiProcess, pod: &Value) -> Value {
    let path = format!("{}/approvals", pod_path(pod));
    until("a question is open", async || {
        let page = yoi.get(&path).await.expect(200);
        page["items"].as_array().and_then(|items| items.first().cloned())
    })
    .await
}

async fn allow(yoi: &YoiProcess, pod: &Value) -> Result<Value> {
    let question = question(yoi, pod).await;
    ensure!(question["options"].as_array().is_some_and(|options| !options.is_empty()), "the question has no options");
    let id = question["id"].as_str().context("a question has an id")?;
    yoi.post(&format!("{}/approvals/{id}", pod_path(pod)), &json!({ "decision": "allow" })).await.expect(200);
    Ok(question)
}

async fn asks(yoi: &YoiProcess, pod: &Value, name: &str) -> Result<()> {
    let from = events(yoi, pod).await.len();
    let file = yoi.launch().work_dir().join(format!("by-{name}.txt"));
    yoi.say(pod, &format!("RUN `touch {}`", file.display())).await;
    let question = question(yoi, pod).await;
    ensure!(!file.exists(), "the command ran before it was allowed");
    ensure!(question["tool"] == "execute", "it asked about {}", question["tool"]);
    allow(yoi, pod).await?;
    let events = ended(yoi, pod, from).await;
    ensure!(file.exists(), "the command did not run ({})", outcome(&events));
    Ok(())
}

async fn writes(yoi: &YoiProcess, pod: &Value, name: &str) -> Result<()> {
    let file = yoi.launch().work_dir().join(format!("of-{name}.txt"));
    let path = file.display();
    changes(yoi, pod, &format!("WRITE `{path}` `a line by {name}`"), "+a line by").await?;
    let written = std::fs::read_to_string(&file).context("no file was written")?;
    ensure!(written.trim_end() == format!("a line by {name}"), "the file has {written:?}");
    changes(yoi, pod, &format!("EDIT `{path}` `a line by {name}` `another one`"), "+another one").await?;
    let written = std::fs::read_to_string(&file)?;
    ensure!(written.trim_end() == "another one", "the file has {written:?}");
    Ok(())
}

/// Has the agent change a file: it asks once, and the change is in the journal as a diff.
async fn changes(yoi: &YoiProcess, pod: &Value, text: &str, shown: &str) -> Result<()> {
    let from = events(yoi, pod).await.len();
    yoi.say(pod, text).await;
    allow(yoi, pod).await?;
    let events = ended(yoi, pod, from).await;
    let asked = events.iter().filter(|event| event["kind"] == "approval_asked").count();
    let mut diffs = events.iter().filter_map(|event| event["diff"].as_str());
    let is_shown = diffs.any(|diff| diff.contains(shown));
    ensure!(asked == 1 && is_shown, "it asked {asked} times; a diff is {is_shown}: {}", json!(events));
    Ok(())
}

/// A person writes to it on its page, and allows its command there.
async fn led(yoi: &YoiProcess, browser: &Browser, pod: &Value, name: &str) -> Result<()> {
    let from = events(yoi, pod).await.len();
    let file = yoi.launch().work_dir().join(format!("led-{name}.txt"));
    browser.goto_pod(yoi, pod).await;
    browser.wait_text("main .log .diff", "a line by").await;
    browser.send(&format!("RUN `touch {}`", file.display())).await;
    browser.wait_text("[data-question]", "touch").await;
    browser.find("[data-question] .answers .row button").await.click().await?;
    let events = ended(yoi, pod, from).await;
    ensure!(file.exists(), "the command did not run ({})", outcome(&events));
    browser.wait_text("main .log", "Done with it.").await;
    Ok(())
}

/// Has the agent begin a command that would run for a long time.
async fn begins_long(yoi: &YoiProcess, pod: &Value) -> Result<()> {
    yoi.say(pod, "RUN `sleep 600`").await;
    allow(yoi, pod).await.map(drop)
}

async fn cancelled(yoi: &YoiProcess, pod: &Value) -> Result<()> {
    let from = events(yoi, pod).await.len();
    begins_long(yoi, pod).await?;
    yoi.post(&format!("{}/cancel", pod_path(pod)), &json!({})).await.expect(202);
    let events = ended(yoi, pod, from).await;
    ensure!(outcome(&events).contains("cancelled"), "the run ended otherwise: {}", outcome(&events));
    talks(yoi, pod).await
}

/// Returns the newest process with this in its command line, among those that this server started.
fn process(word: &str, home: &Path) -> Result<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let line = String::from_utf8_lossy(&read("cmdline")).replace('\0', " ");
        let is_ours = String::from_utf8_lossy(&read("environ")).contains(&format!("HOME={}", home.display()));
        if is_ours && line.contains(word) {
            found.push(pid);
        }
    }
    found.into_iter().max().with_context(|| format!("no process has \"{word}\" in its command line"))
}

async fn killed(yoi: &YoiProcess, pod: &Value, word: &str) -> Result<()> {
    begins_long(yoi, pod).await?;
    let home = yoi.launch().work_dir().with_file_name("home");
    let pid = process(word, &home)?;
    ensure!(Command::new("kill").args(["-9", &pid.to_string()]).status()?.success(), "it could not be killed");
    let reason = until("the Pod is paused", async || {
        let detail = yoi.get(&pod_path(pod)).await.expect(200);
        (detail["state"] == "paused").then(|| detail["state_reason"].to_string())
    })
    .await;
    ensure!(reason.contains("is gone"), "it says {reason}");
    let from = events(yoi, pod).await.len();
    yoi.post(&format!("{}/resume", pod_path(pod)), &json!({})).await.expect(202);
    let events = ended(yoi, pod, from).await;
    let started = events.iter().find(|event| event["kind"] == "agent_started");
    match started {
        Some(started) if started["resumed"] == true => Ok(()),
        Some(_) => bail!("it began a new session"),
        None => bail!("it was not started again"),
    }
}

async fn answers_a_peer(yoi: &YoiProcess, pods: &[Value]) -> Result<()> {
    let [one, other] = pods else { bail!("there are two") };
    let name = other["name"].as_str().unwrap_or_default();
    yoi.post(&format!("{}/peers", pod_path(one)), &json!({ "target": name })).await;
    let sent = yoi.post(&format!("{}/messages", pod_path(one)), &json!({ "to": name, "text": "Say hello." })).await;
    ensure!(sent.status < 300, "the message was refused: {}", sent.body);
    until("the sender has the receipt that it was answered", async || {
        let events = events(yoi, one).await;
        events.iter().any(|event| event["kind"] == "message_receipt" && event["state"] == "answered").then_some(())
    })
    .await;
    Ok(())
}
