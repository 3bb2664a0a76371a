//! `yoi mcp` and `yoi acp`: the built binary on standard input and output, as programs that start it themselves use it.

#![allow(clippy::unwrap_used)]

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    until_so,
    yoi::{Launch, YoiProcess, pod_path},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");
/// Longer than any answer here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that uses no model of this machine: a Pod that names none has the rehearsal model.
async fn quiet() -> YoiProcess {
    let launch = Launch::new(YOI);
    let config = launch.work_dir().with_file_name("yoi.toml");
    std::fs::write(&config, "find_models = false\n").unwrap();
    launch.arg("--config").arg(&config.to_string_lossy()).start().await
}

/// A program that speaks line-delimited JSON.
struct Spoken {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    next: i64,
    /// Notifications and requests that arrived while something else was awaited.
    told: Vec<Value>,
}

impl Spoken {
    fn start(launch: &Launch, words: &[&str]) -> Self {
        let mut command = launch.command();
        command.args(words).arg("--data").arg(launch.data_dir());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take(), child, output, next: 1, told: Vec::new() }
    }

    async fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string()).await;
    }

    async fn say_text(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        input.flush().await.unwrap();
    }

    async fn send(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    async fn tell(&mut self, method: &str, params: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn next(&mut self) -> Value {
        let line = timeout(PATIENCE, self.output.next_line()).await.expect("it says something").unwrap();
        serde_json::from_str(&line.expect("it goes on")).unwrap()
    }

    /// The matching message; earlier ones are kept.
    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.told.iter().position(&fits) {
            return self.told.remove(at);
        }
        loop {
            let message = self.next().await;
            if fits(&message) {
                return message;
            }
            self.told.push(message);
        }
    }

    /// Reads on until the text of this kind of update ends like this, in however many pieces it arrives.
    async fn until_shown(&mut self, kind: &str, end: &str) {
        while !shown(&self.told, kind).ends_with(end) {
            let message = self.next().await;
            self.told.push(message);
        }
    }

    async fn answer(&mut self, id: i64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none()).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Ends as its client does: nothing more is sent.
    async fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        timeout(PATIENCE, self.child.wait()).await.expect("it ends with its input").unwrap().code()
    }
}

async fn mcp(launch: &Launch) -> Spoken {
    let mut client = Spoken::start(launch, &["mcp"]);
    let about = client
        .ask(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "stdio", "version": "1" } }),
        )
        .await;
    assert_eq!(about["serverInfo"]["name"], "yoi");
    client.tell("notifications/initialized", json!({})).await;
    client
}

async fn call(client: &mut Spoken, tool: &str, arguments: Value) -> Value {
    let result = client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

#[tokio::test]
async fn the_bridge_passes_messages_on_and_survives_a_restart_of_the_server() {
    let mut yoi = quiet().await;
    let mut client = mcp(yoi.launch()).await;
    call(&mut client, "create_pod", json!({ "name": "ada" })).await;
    call(&mut client, "send", json!({ "pod": "ada", "text": "say before" })).await;
    assert_eq!(call(&mut client, "wait", json!({ "pod": "ada" })).await["answer"], "before");
    let uri = client.ask("resources/list", json!({})).await["resources"][0]["uri"].as_str().unwrap().to_owned();
    client.ask("resources/subscribe", json!({ "uri": uri })).await;

    yoi.kill9().await;
    // Requested while the server is down.
    let id =
        client.send("tools/call", json!({ "name": "send", "arguments": { "pod": "ada", "text": "say after" } })).await;
    yoi.restart().await;
    let sent = client.answer(id).await;
    assert_eq!(sent["result"]["isError"], false, "{sent}");
    client.until(|message| message["method"] == "notifications/resources/list_changed").await;
    assert_eq!(call(&mut client, "wait", json!({ "pod": "ada" })).await["answer"], "after");
    // What was followed before is followed again.
    client
        .until(|message| {
            message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri.as_str()
        })
        .await;
    let pod = yoi.get("/api/v1/pods?name=ada").await.expect(200)["items"][0]["pod"].clone();
    let said = yoi.journal(&pod).await.into_iter().filter(|record| record["event"]["kind"] == "user_message").count();
    assert_eq!(said, 2, "nothing happened twice");
    assert_eq!(client.end().await, Some(0));
}

#[tokio::test]
async fn browser_a_program_is_on_the_map_under_the_name_that_it_gives_itself() {
    let yoi = quiet().await;
    let browser = Browser::open(&yoi, 1440, 900).await;
    browser.goto_page(&yoi, "/map").await;
    browser.wait_text("main", "No Pod has a child or a peer yet.").await;
    assert!(browser.is_absent(".map-programs").await);
    let mut client = mcp(yoi.launch()).await;
    call(&mut client, "create_pod", json!({ "name": "ada" })).await;
    call(&mut client, "send", json!({ "pod": "ada", "text": "say hello" })).await;
    browser.reload().await;
    let shown = browser.wait_text(".map-programs", "2 actions in the last day").await;
    assert!(shown.contains("stdio 1") && shown.contains("ada"), "{shown}");
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn the_bridge_answers_what_is_no_message_and_a_server_that_is_not_there() {
    let yoi = quiet().await;
    let mut client = mcp(yoi.launch()).await;
    for (line, code) in [("nonsense", -32_700), ("[]", -32_700)] {
        client.say_text(line).await;
        let answer = client.until(|message| message["id"].is_null() && message.get("error").is_some()).await;
        assert_eq!(answer["error"]["code"], code, "{line}");
    }
    let id = client.send("tools/nonsense", json!({})).await;
    assert_eq!(client.answer(id).await["error"]["code"], -32_601);
    assert_eq!(client.end().await, Some(0));

    let mut command = yoi.launch().command();
    command.args(["mcp", "--data"]).arg(yoi.launch().data_dir()).env("YOI_TOKEN", "wrong");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n").await.unwrap();
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("YOI_TOKEN") && text.contains("\"id\":1"), "{text}");
}

async fn editor(launch: &Launch, words: &[&str]) -> Spoken {
    let mut editor = Spoken::start(launch, &[&["acp"], words].concat());
    let about = editor
        .ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": { "fs": { "readTextFile": true } } }))
        .await;
    assert_eq!((&about["protocolVersion"], &about["agentCapabilities"]["loadSession"]), (&json!(1), &json!(true)));
    editor
}

fn words(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// All text of one kind of update that has arrived so far for a session.
fn shown(told: &[Value], kind: &str) -> String {
    let updates =
        told.iter().map(|message| &message["params"]["update"]).filter(|update| update["sessionUpdate"] == kind);
    updates.filter_map(|update| update["content"]["text"].as_str()).collect()
}

fn address(session: &str) -> Value {
    let (runtime_id, worker_id) = session.split_once('/').unwrap();
    json!({ "runtime_id": runtime_id, "worker_id": worker_id })
}

#[tokio::test]
async fn an_editor_and_the_browser_are_on_the_same_pod() {
    let yoi = quiet().await;
    let folder = yoi.launch().work_dir();
    let mut zed = editor(yoi.launch(), &[]).await;
    let opened = zed.ask("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let pod = address(&session);
    assert_eq!(option(&opened, "model")["category"], "model");
    let summary = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!(summary["cwd"], folder.to_str().unwrap());

    let done =
        zed.ask("session/prompt", json!({ "sessionId": session, "prompt": words("think hm\nsay hello there") })).await;
    assert_eq!(done["stopReason"], "end_turn");
    assert_eq!(shown(&zed.told, "agent_message_chunk"), "hello there");
    assert_eq!(shown(&zed.told, "agent_thought_chunk"), "hm");
    assert_eq!(shown(&zed.told, "user_message_chunk"), "", "the editor shows what it sent itself");

    // Somebody writes in the browser.
    yoi.say(&pod, "say from elsewhere").await;
    zed.until_shown("agent_message_chunk", "from elsewhere").await;
    assert_eq!(shown(&zed.told, "user_message_chunk"), "say from elsewhere");

    // Opened again, the session has all of it before it is ready.
    let mut other = editor(yoi.launch(), &[]).await;
    other.ask("session/load", json!({ "sessionId": session, "cwd": folder, "mcpServers": [] })).await;
    assert_eq!(shown(&other.told, "user_message_chunk"), "think hm\nsay hello theresay from elsewhere");
    assert_eq!(shown(&other.told, "agent_message_chunk"), "hello therefrom elsewhere");
    let listed = other.ask("session/list", json!({ "cwd": folder })).await;
    assert_eq!(listed["sessions"][0]["sessionId"], session.as_str());
    assert_eq!((zed.end().await, other.end().await), (Some(0), Some(0)));
    assert_eq!(yoi.get(&pod_path(&pod)).await.expect(200)["state"], "idle", "the Pod outlives its editors");
}

#[tokio::test]
async fn a_question_is_asked_in_the_editor_and_taken_back_when_it_was_answered_elsewhere() {
    let yoi = quiet().await;
    let folder = yoi.launch().work_dir();
    let mut zed = editor(yoi.launch(), &[]).await;
    let opened = zed.ask("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let path = pod_path(&address(&session));
    let write = |file: &str| words(&format!("call Write {{\"path\":\"{file}\",\"content\":\"one\\ntwo\\n\"}}"));

    let prompt = zed.send("session/prompt", json!({ "sessionId": session, "prompt": write("a.txt") })).await;
    let asked = zed.until(|message| message["method"] == "session/request_permission").await;
    assert_eq!(asked["params"]["toolCall"]["title"], "Write: a.txt");
    assert_eq!(yoi.get(&path).await.expect(200)["state"], "waiting");
    let options = asked["params"]["options"].as_array().unwrap();
    assert_eq!(
        options.iter().map(|option| &option["kind"]).collect::<Vec<_>>(),
        ["allow_once", "allow_always", "reject_once", "reject_always"]
    );
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
    zed.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    assert_eq!(zed.answer(prompt).await["result"]["stopReason"], "end_turn");
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "one\ntwo\n");
    let change = zed.until(|message| message["params"]["update"]["content"][0]["type"] == "diff").await;
    assert_eq!(change["params"]["update"]["content"][0]["newText"], "one\ntwo\n");

    let prompt = zed.send("session/prompt", json!({ "sessionId": session, "prompt": write("b.txt") })).await;
    let asked = zed.until(|message| message["method"] == "session/request_permission").await;
    let question =
        yoi.get(&format!("{path}/approvals")).await.expect(200)["items"][0]["id"].as_str().unwrap().to_owned();
    yoi.post(&format!("{path}/approvals/{question}"), &json!({ "decision": "deny" })).await.expect(200);
    let taken_back = zed.until(|message| message["method"] == "$/cancel_request").await;
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    zed.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": { "outcome": "selected", "optionId": "allow" } } })).await;
    assert_eq!(zed.answer(prompt).await["result"]["stopReason"], "end_turn");
    assert!(!folder.join("b.txt").exists(), "the first answer counts");

    // One that was open before the editor started.
    yoi.say(&address(&session), "call Write {\"path\":\"c.txt\",\"content\":\"x\"}").await;
    until_so("it waits", async || yoi.get(&path).await.expect(200)["state"] == "waiting").await;
    let mut late = editor(yoi.launch(), &[]).await;
    late.ask("session/resume", json!({ "sessionId": session, "cwd": folder, "mcpServers": [] })).await;
    let asked = late.until(|message| message["method"] == "session/request_permission").await;
    assert_eq!(asked["params"]["toolCall"]["title"], "Write: c.txt");
    assert_eq!(shown(&late.told, "user_message_chunk"), "", "what is resumed is not shown again");
}

#[tokio::test]
async fn a_prompt_is_cancelled_from_the_editor_and_outlives_a_kill_of_the_server() {
    let mut yoi = quiet().await;
    let folder = yoi.launch().work_dir();
    let pod = yoi.new_pod("ada").await["pod"].clone();
    yoi.say(&pod, "say from before").await;
    let mut zed = editor(yoi.launch(), &["--pod", "ada"]).await;
    let opened = zed.ask("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(address(&session), pod);
    zed.until(|message| message["params"]["update"]["content"]["text"] == "say from before").await;

    let begun = |word: &'static str| {
        move |message: &Value| {
            message["params"]["update"]["content"]["text"].as_str().is_some_and(|text| text.contains(word))
        }
    };
    let prompt = zed
        .send("session/prompt", json!({ "sessionId": session, "prompt": words("say w\nstream 100000 at 50") }))
        .await;
    zed.until(begun("w")).await;
    let queued = zed.send("session/prompt", json!({ "sessionId": session, "prompt": words("say queued") })).await;
    until_so("it is queued", async || yoi.get(&pod_path(&pod)).await.expect(200)["queued_count"] == 1).await;
    zed.tell("session/cancel", json!({ "sessionId": session })).await;
    for id in [prompt, queued] {
        assert_eq!(zed.answer(id).await["result"]["stopReason"], "cancelled");
    }

    let prompt = zed
        .send("session/prompt", json!({ "sessionId": session, "prompt": words("say x1\nstream 100000 at 50") }))
        .await;
    zed.until(begun("x1")).await;
    yoi.kill9().await;
    yoi.restart().await;
    // The run was interrupted, and the editor is told.
    assert_eq!(zed.answer(prompt).await["result"]["stopReason"], "end_turn");
    let done = zed.ask("session/prompt", json!({ "sessionId": session, "prompt": words("say again") })).await;
    assert_eq!(done["stopReason"], "end_turn");
    zed.until(begun("again")).await;
}

#[tokio::test]
async fn choices_pictures_and_nonsense_in_the_editor() {
    let yoi = quiet().await;
    let folder = yoi.launch().work_dir();
    let mut zed = editor(yoi.launch(), &[]).await;
    let opened = zed.ask("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    let path = pod_path(&address(&session));
    let chosen = zed
        .ask("session/set_config_option", json!({ "sessionId": session, "configId": "network", "value": "none" }))
        .await;
    let network = chosen["configOptions"].as_array().unwrap().iter().find(|option| option["id"] == "network").unwrap();
    assert_eq!(network["currentValue"], "none");
    assert_eq!(yoi.get(&path).await.expect(200)["network"], "none");

    // The modes of a Pod without an agent are yoi's own.
    assert_eq!(opened["modes"]["currentModeId"], "ask");
    zed.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" })).await;
    zed.until(|message| message["params"]["update"]["currentModeId"] == "plan").await;
    assert_eq!(yoi.get(&path).await.expect(200)["mode"], "plan");
    yoi.patch(&path, &json!({ "mode": "ask" })).await.expect(200);
    zed.until(|message| message["params"]["update"]["currentModeId"] == "ask").await;

    // The smallest possible picture.
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let prompt = json!([
        { "type": "text", "text": "say seen" },
        { "type": "image", "mimeType": "image/png", "data": picture },
        { "type": "resource", "resource": { "uri": "file:///x/notes.md", "text": "a note" } },
    ]);
    zed.ask("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
    let journal = yoi.journal(&address(&session)).await;
    let sent = journal.iter().find(|record| record["event"]["kind"] == "user_message").unwrap();
    let kinds: Vec<_> =
        sent["event"]["segments"].as_array().unwrap().iter().map(|segment| segment["type"].clone()).collect();
    assert_eq!(kinds, ["text", "image", "paste"]);

    for (method, params, code) in [
        ("session/prompt", json!({ "sessionId": "local/nobody", "prompt": words("x") }), -32_002),
        ("session/load", json!({ "sessionId": "nonsense", "cwd": folder, "mcpServers": [] }), -32_602),
        ("session/load", json!({ "sessionId": "local/0190", "cwd": folder, "mcpServers": [] }), -32_002),
        ("session/new", json!({ "cwd": "relative", "mcpServers": [] }), -32_602),
        ("session/prompt", json!({}), -32_602),
        (
            "session/prompt",
            json!({ "sessionId": session, "prompt": [{ "type": "image", "mimeType": "image/png", "data": "?" }] }),
            -32_602,
        ),
        ("session/set_mode", json!({ "sessionId": session, "modeId": "code" }), -32_602),
        ("session/set_config_option", json!({ "sessionId": session, "configId": "mood", "value": "x" }), -32_602),
        ("nonsense", json!({}), -32_601),
    ] {
        let id = zed.send(method, params.clone()).await;
        let answer = zed.answer(id).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    zed.say_text("nonsense").await;
    let answer = zed.until(|message| message["id"].is_null() && message.get("error").is_some()).await;
    assert_eq!(answer["error"]["code"], -32_700);
}

/// A server with the scripted agent, which keeps its sessions beside the folder that it works in.
async fn with_agent() -> YoiProcess {
    let launch = Launch::new(YOI);
    let folder = launch.work_dir().parent().unwrap().to_owned();
    let (config, state) = (folder.join("yoi.toml"), folder.join("state"));
    std::fs::create_dir(&state).unwrap();
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/agent.py");
    let table = format!(
        "find_models = false\n[agents.scripted]\ncommand = [\"/usr/bin/python3\", \"{agent}\"]\nenv = {{ AGENT_STATE = \"{}\" }}\n",
        state.display()
    );
    std::fs::write(&config, table).unwrap();
    launch.arg("--config").arg(&config.to_string_lossy()).start().await
}

fn option<'a>(options: &'a Value, id: &str) -> &'a Value {
    options["configOptions"].as_array().unwrap().iter().find(|option| option["id"] == id).unwrap()
}

#[tokio::test]
async fn an_agents_modes_models_commands_and_plan_reach_the_editor() {
    let yoi = with_agent().await;
    let folder = yoi.launch().work_dir();
    let pod = yoi.post("/api/v1/pods", &json!({ "name": "ada", "agent": "scripted" })).await.expect(201)["pod"].clone();
    let mut zed = editor(yoi.launch(), &["--pod", "ada"]).await;
    let opened = zed.ask("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(opened.get("modes"), None, "before its first turn nobody knows them");
    let prompt = |text: &str| json!({ "sessionId": session, "prompt": words(text) });
    let update = |kind: &'static str| move |message: &Value| message["params"]["update"]["sessionUpdate"] == kind;

    zed.ask("session/prompt", prompt("plan")).await;
    let mode = zed.until(update("current_mode_update")).await;
    assert_eq!(mode["params"]["update"]["currentModeId"], "ask");
    let commands = zed
        .until(|message| {
            let known = &message["params"]["update"]["availableCommands"];
            known.as_array().is_some_and(|known| !known.is_empty())
        })
        .await;
    let review = json!({ "name": "review", "description": "Looks at the changes", "input": { "hint": "what" } });
    assert_eq!(commands["params"]["update"]["availableCommands"], json!([review]));
    let plan = zed
        .until(|message| update("plan")(message) && message["params"]["update"]["entries"][0]["status"] == "completed")
        .await;
    assert_eq!(plan["params"]["update"]["entries"][1]["content"], "mend");
    let usage = zed.until(update("usage_update")).await;
    let usage = &usage["params"]["update"];
    assert_eq!((&usage["used"], &usage["size"]), (&json!(100), &json!(1_000)));
    assert_eq!(usage["cost"], json!({ "amount": 0.5, "currency": "USD" }));

    // Chosen in the editor, the mode and the model are the Pod's.
    zed.ask("session/set_mode", json!({ "sessionId": session, "modeId": "code" })).await;
    let chosen = json!({ "sessionId": session, "configId": "model", "value": "large" });
    let chosen = zed.ask("session/set_config_option", chosen).await;
    assert_eq!(option(&chosen, "model")["currentValue"], "large");
    assert_eq!(option(&chosen, "mode")["currentValue"], "code");
    zed.until(|message| message["params"]["update"]["currentModeId"] == "code").await;
    let detail = yoi.get(&pod_path(&pod)).await.expect(200);
    assert_eq!((&detail["session"]["mode"], &detail["model"]), (&json!("code"), &json!("large")));
    let wrong = zed.send("session/set_mode", json!({ "sessionId": session, "modeId": "fly" })).await;
    assert_eq!(zed.answer(wrong).await["error"]["code"], -32_602);

    // What somebody chooses in the browser reaches the editor.
    yoi.patch(&pod_path(&pod), &json!({ "agent_mode": "ask" })).await.expect(200);
    zed.until(|message| message["params"]["update"]["currentModeId"] == "ask").await;

    // A session that is opened later has all of it.
    let mut late = editor(yoi.launch(), &[]).await;
    let opened = late.ask("session/resume", json!({ "sessionId": session, "cwd": folder, "mcpServers": [] })).await;
    assert_eq!(
        (&opened["modes"]["currentModeId"], &opened["modes"]["availableModes"][1]["id"]),
        (&json!("ask"), &json!("code"))
    );
    assert_eq!(option(&opened, "model")["currentValue"], "large");
    late.until(update("available_commands_update")).await;
    late.until(update("plan")).await;
    let usage = late.until(update("usage_update")).await;
    assert_eq!(usage["params"]["update"]["cost"]["amount"], 0.5);
}
