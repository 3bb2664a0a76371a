//! The terminal console as people use it: the built binary in a real terminal, against a real server.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use testkit::{
    terminal::{CTRL_T, Terminal},
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// `yoi tui` with these arguments, on this server.
async fn console(yoi: &YoiProcess, words: &[&str]) -> Terminal {
    Terminal::start(&command(yoi, words), 80, 24).await
}

fn command(yoi: &YoiProcess, words: &[&str]) -> tokio::process::Command {
    let mut command = yoi.launch().command();
    command.arg("tui").args(words).args(["--server", yoi.base_url()]).arg("--data").arg(yoi.launch().data_dir());
    command
}

/// A console with this Pod open; the composer has the focus.
async fn opened(yoi: &YoiProcess, name: &str) -> Terminal {
    let terminal = console(yoi, &[name]).await;
    terminal.wait_text("─ Message").await;
    terminal.wait_text("connected").await;
    terminal.wait_without("on its way").await;
    terminal
}

/// Quits as a person does, and checks that the terminal is restored.
async fn quits(mut terminal: Terminal) {
    // Out of a sheet, the composer and the Pod; on the list, one more has no effect.
    for _ in 0..3 {
        terminal.escape().await;
    }
    terminal.wait_text("q quit").await;
    terminal.types("q").await;
    let ended = terminal.wait_end().await;
    assert_eq!((ended.code, &ended.left_behind[..]), (0, &[][..]), "{}", ended.screen);
}

/// How often a word is on the screen.
fn count(screen: &str, word: &str) -> usize {
    screen.split_whitespace().filter(|found| *found == word).count()
}

#[tokio::test]
async fn a_pod_is_found_in_the_list_opened_written_to_and_read_to_the_end() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = console(&yoi, &[]).await;
    let screen = terminal.wait_text("○ idle").await;
    assert!(screen.contains("ada") && screen.contains("Idle"), "{screen}");
    terminal.types("\r").await;
    terminal.wait_text("No messages yet.").await;
    // The composer has the focus: typed text is a message.
    terminal.enters("say hello from the other side").await;
    terminal.wait_text("hello from the other side").await;
    terminal.wait_text("✓ completed").await;
    terminal.enters("stream 300 at 200").await;
    let screen = terminal.wait_text("w300").await;
    assert_eq!(count(&screen, "w299"), 1, "{screen}");
    terminal.wait_for("second end", |screen| screen.contains("w300") && screen.contains("✓ completed")).await;
    quits(terminal).await;
}

#[tokio::test]
async fn a_pod_is_created_and_opened_by_its_name_or_its_address() {
    let yoi = YoiProcess::start(YOI).await;
    let mut terminal = console(&yoi, &[]).await;
    terminal.wait_text("creates ada, which uses the rehearsal model").await;
    terminal.enters("neve").await;
    terminal.wait_text("No messages yet.").await;
    quits(terminal).await;

    let pods = yoi.get("/api/v1/pods").await.expect(200);
    let worker = pods["items"][0]["pod"]["worker_id"].as_str().unwrap().to_owned();
    let terminal = console(&yoi, &["--runtime", "local", "--worker", &worker]).await;
    terminal.wait_text("eve ○ idle").await;
    quits(terminal).await;

    let terminal = console(&yoi, &["eva"]).await;
    terminal.wait_text("no Pod is called \"eva\"; did you mean \"eve\"?").await;
}

#[tokio::test]
async fn adding_a_peer_and_each_way_it_fails_is_a_sentence_in_the_last_line() {
    let yoi = YoiProcess::start(YOI).await;
    let (ada, bob) = (yoi.new_pod("ada").await, yoi.new_pod("bob").await);
    for (name, policy) in [("shut", "closed"), ("shy", "ask")] {
        yoi.post("/api/v1/pods", &json!({ "name": name, "peer_policy": policy })).await.expect(201);
    }
    let mut terminal = console(&yoi, &[]).await;
    terminal.wait_text("○ idle").await;
    terminal.enters(":peer bob").await;
    terminal.wait_text("not attached").await;
    let audit = yoi.get("/api/v1/audit").await.expect(200);
    let is_peer = |entry: &Value| entry["action"] == "peer";
    assert!(!audit["items"].as_array().unwrap().iter().any(is_peer), "nobody was asked: {audit}");

    terminal.enters(":open ada").await;
    terminal.wait_text("No messages yet.").await;
    for (line, sentence) in [
        (":peer bbo", "no Pod is called \"bbo\"; did you mean bob?"),
        (":peer nobody-of-this-name", "no Pod is called \"nobody-of-this-name\"; :pods lists them all"),
        (":peer ada", "a Pod cannot be its own peer; choose another one"),
        (":peer shut", "refused, nothing was changed:"),
        (":peer bob@nowhere", "no such runtime:"),
        (":peer", ":peer needs a name after it"),
    ] {
        terminal.enters(line).await;
        let screen = terminal.wait_text(sentence).await;
        assert!(screen.contains("No messages yet."), "a failure left something in the transcript:\n{screen}");
    }
    assert_eq!(yoi.get(&format!("{}/peers", pod_path(&ada))).await.expect(200)["items"], json!([]));

    let history = |pod: Value| {
        let yoi = &yoi;
        async move { yoi.get(&format!("{}/history", pod_path(&pod))).await.expect(200) }
    };
    let before = (history(ada.clone()).await, history(bob.clone()).await);
    terminal.enters(":peer shy").await;
    terminal.wait_text("peer request sent to shy; it has to be accepted there").await;
    terminal.enters(":peer bob").await;
    terminal.wait_text("ada and bob are peers").await;
    let peers = yoi.get(&format!("{}/peers", pod_path(&bob))).await.expect(200);
    assert_eq!((peers["items"][0]["name"].as_str(), peers["items"][0]["link"].as_str()), (Some("ada"), Some("linked")));
    assert_eq!((history(ada.clone()).await, history(bob.clone()).await), before, "no conversation was touched");
    // A Pod that is already a peer is offered with the reason why it cannot be chosen.
    terminal.types(":peer bob").await;
    terminal.wait_text("is a peer already").await;
    terminal.escape().await;

    let message = json!({ "name": "bob", "message": "say hello ada" });
    terminal.enters(&format!("call SendToPeerPod {message}")).await;
    terminal.wait_text("⚙ SendToPeerPod").await;
    terminal.enters(":open bob").await;
    terminal.wait_text("⇄ ada · peer · answered (turn 1)").await;
    terminal.enters(":unpeer ada").await;
    terminal.wait_text("bob and ada are no longer peers").await;
    quits(terminal).await;
}

#[tokio::test]
async fn a_request_is_accepted_in_the_list_of_questions() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    yoi.post("/api/v1/pods", &json!({ "name": "shy", "peer_policy": "ask" })).await.expect(201);
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters(":peer shy").await;
    terminal.wait_text("request sent").await;
    terminal.enters(":approvals").await;
    terminal.wait_text("ada asks to be a peer").await;
    terminal.types("a").await;
    terminal.wait_text("shy: request accepted").await;
    terminal.wait_text("No approvals pending.").await;
    let peers = yoi.get(&format!("{}/peers", pod_path(&ada))).await.expect(200);
    assert_eq!(peers["items"][0]["link"], "linked");
}

/// What was written is on disk: only then is its field cleared. The transcript may show it sooner.
async fn is_sent(terminal: &mut Terminal) {
    let is_empty = |screen: &str| screen.lines().any(|line| line.trim_end() == "❯");
    terminal.wait_for("an empty field", is_empty).await;
}

#[tokio::test]
async fn a_question_is_answered_with_one_key_with_a_command_and_in_the_list() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    let asks = |word: &str| format!("call Bash {}", json!({ "command": format!("echo {word}") }));
    terminal.enters(&asks("first")).await;
    terminal.wait_text("? Bash asks for permission").await;
    terminal.types(CTRL_T).await;
    terminal.types("a").await;
    terminal.wait_text("? Bash echo first: allowed").await;
    terminal.wait_text("⚙ Bash echo first ✓").await;

    terminal.types("i").await;
    terminal.enters(&asks("second")).await;
    terminal.wait_text("? Bash asks for permission echo second").await;
    is_sent(&mut terminal).await;
    terminal.enters(":deny not today").await;
    terminal.wait_text("denied by you: not today").await;

    terminal.enters(&asks("third")).await;
    terminal.wait_text("? Bash asks for permission echo third").await;
    is_sent(&mut terminal).await;
    terminal.enters(":approvals").await;
    terminal.wait_text("▸ ada Bash echo third").await;
    terminal.types("A").await;
    terminal.wait_text("always for ada (Enter: exactly this):").await;
    terminal.types("\r").await;
    terminal.wait_text("allowed, and always from now on").await;
    terminal.wait_text("No approvals pending.").await;
    quits(terminal).await;
}

#[tokio::test]
async fn the_screen_follows_its_size() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters("stream 120 at 0").await;
    terminal.wait_text("✓ completed").await;
    for (columns, rows) in [(132, 43), (40, 12), (80, 24)] {
        terminal.resize(columns, rows);
        let rule = "─".repeat(usize::from(columns));
        let is_drawn = |screen: &str| screen.lines().any(|line| line == rule) && screen.contains("w120");
        terminal.wait_for(format!("screen of {columns} by {rows}"), is_drawn).await;
    }
    quits(terminal).await;
}

#[tokio::test]
async fn a_busy_pod_does_not_hold_up_typing_and_messages_wait_in_the_queue() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.enters("stream 6000 at 20").await;
    terminal.wait_text("w20 w21").await;
    terminal.enters("say after that").await;
    terminal.wait_text("queued say after that").await;
    terminal.wait_text("1 queued").await;
    terminal.types("a draft of words").await;
    terminal.wait_text("❯ a draft of words").await;
    terminal.escape().await;
    terminal.wait_text("■ cancelled").await;
    terminal.wait_without("1 queued").await;
    let screen = terminal.wait_text("queued messages are back in your message").await;
    let back = screen.split_once("❯ a draft of words").unwrap_or_else(|| panic!("no draft: {screen}")).1;
    assert!(back.contains("say after that"), "{screen}");
}

#[tokio::test]
async fn what_is_pasted_is_a_chip_what_is_copied_goes_to_the_clipboard_and_help_is_there() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut terminal = opened(&yoi, "ada").await;
    terminal.pastes("say one\nsay two\nsay three\nsay four").await;
    terminal.wait_text("[pasted\u{a0}4\u{a0}lines]").await;
    terminal.types("\r").await;
    terminal.wait_text("four").await;
    terminal.wait_text("✓ completed").await;
    assert!(terminal.is_coloured());
    terminal.escape().await;
    terminal.types("y").await;
    terminal.wait_text("copied: answer").await;
    // "four" in base64, at the end of what is copied to the clipboard.
    assert!(terminal.raw().contains("\x1b]52;c;"), "nothing was copied");
    terminal.types("?").await;
    terminal.wait_text("Help").await;
    terminal.wait_text("Ctrl-J  Shift-Enter").await;
    quits(terminal).await;
}

#[tokio::test]
async fn without_colours_it_is_as_readable() {
    let yoi = YoiProcess::start(YOI).await;
    yoi.new_pod("ada").await;
    let mut command = command(&yoi, &["ada"]);
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(&command, 80, 24).await;
    terminal.wait_text("No messages yet.").await;
    terminal.enters("say plain").await;
    terminal.wait_text("✓ completed").await;
    assert!(!terminal.is_coloured());
}

#[tokio::test]
async fn a_pod_that_is_deleted_elsewhere_leads_back_to_the_list() {
    let yoi = YoiProcess::start(YOI).await;
    let ada = yoi.new_pod("ada").await;
    let terminal = opened(&yoi, "ada").await;
    yoi.delete(&format!("{}?confirm=ada", pod_path(&ada))).await.expect(204);
    terminal.wait_text("is gone").await;
    terminal.wait_text("No Pods yet.").await;
}

#[tokio::test]
async fn a_refused_token_and_a_server_that_is_not_there_are_told() {
    let yoi = YoiProcess::start(YOI).await;
    let mut command = command(&yoi, &[]);
    command.env("YOI_TOKEN", "0".repeat(64));
    let mut terminal = Terminal::start(&command, 80, 24).await;
    terminal.wait_text("The server refuses the token.").await;
    terminal.wait_text("token refused").await;
    terminal.types("q").await;
    assert_eq!(terminal.wait_end().await.code, 0);

    let launch = Launch::new(YOI);
    let mut nowhere = launch.command();
    nowhere.args(["tui", "--server", "http://127.0.0.1:1"]).arg("--data").arg(launch.data_dir());
    let mut terminal = Terminal::start(&nowhere, 80, 24).await;
    terminal.wait_text("reconnecting").await;
    terminal.wait_text("The server is away").await;
    terminal.enters(":new eve").await;
    terminal.wait_text("no yoi answers at http://127.0.0.1:1").await;
    terminal.escape().await;
    terminal.types("q").await;
    assert_eq!(terminal.wait_end().await.code, 0);
}
