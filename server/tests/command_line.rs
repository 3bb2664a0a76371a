//! The command line of the built binary: its exit codes, its messages, and its output.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use testkit::{
    scripted_model::{Answer, ScriptedModel, Tokens},
    terminal::Terminal,
    until_so,
    yoi::{Launch, YoiProcess},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// The result of one verb: exit code, standard output, standard error.
type Done = (Option<i32>, String, String);

async fn run_with(launch: &Launch, words: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = launch.command();
    command.args(words).arg("--data").arg(launch.data_dir()).envs(variables.iter().copied());
    let output = command.output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

async fn run(launch: &Launch, words: &[&str]) -> Done {
    run_with(launch, words, &[]).await
}

/// Its output as JSON; it has to have succeeded, and to have printed one document.
async fn json(launch: &Launch, words: &[&str]) -> Value {
    let (code, stdout, stderr) = run(launch, &[words, &["--json"]].concat()).await;
    assert_eq!((code, stdout.lines().count()), (Some(0), 1), "{words:?}: {stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[tokio::test]
async fn every_failure_is_a_sentence_with_the_way_out_and_its_own_exit_code() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    json(launch, &["new", "busy", "--provider", "rehearsal"]).await;
    json(launch, &["new", "gone", "--provider", "rehearsal"]).await;
    json(launch, &["send", "busy", "wait", "600"]).await;
    json(launch, &["stop", "gone"]).await;

    let away = "http://127.0.0.1:1";
    let none: &[(&str, &str)] = &[];
    type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32, &'a [&'a str]);
    let table: &[Row] = &[
        (&["ls", "--server", away], none, 3, &["no yoi answers at http://127.0.0.1:1", "start one with `yoi`"]),
        (&["ls", "--server", "unix:/no/such/socket"], none, 3, &["unix:/no/such/socket", "start one"]),
        (&["log", "ada", "-f"], &[("YOI_SERVER", away)], 3, &["no yoi answers", "--server URL"]),
        (&["ls"], &[("YOI_TOKEN", "wrong")], 1, &["refuses the token", "YOI_TOKEN", "--data"]),
        (&["events"], &[("YOI_TOKEN", "wrong")], 1, &["refuses the token"]),
        (&["log", "nobody"], none, 1, &["nobody", "yoi ls"]),
        (&["send", "gone", "hello"], none, 1, &["gone", "restore"]),
        (&["send", "busy", "hello", "--no-queue"], none, 1, &["busy", "queue"]),
        (&["rewind", "busy", "1"], none, 1, &["busy"]),
        (&["retry", "ada"], none, 1, &["ada", "nothing to retry", "rewind"]),
        (&["fork", "busy", "eve"], none, 1, &["busy", "fork at record"]),
        (&["fork", "ada", "eve", "--at", "999"], none, 1, &["no record 999"]),
        (&["pause", "ada"], none, 1, &["ada"]),
        (&["new", "ada"], none, 1, &["ada"]),
        (&["peer", "ada", "ada"], none, 1, &["its own peer"]),
        (&["approve", "ada", "no-such-question"], none, 1, &["no-such-question"]),
        (&["approve", "ada"], none, 1, &["no pending approval of ada", "yoi approvals"]),
        (&["deny"], none, 1, &["no pending approval", "yoi approvals"]),
        (&["tool", "ada", "NoSuchTool"], none, 1, &["NoSuchTool"]),
        (&["rm", "ada"], none, 1, &["--yes"]),
        (&["providers", "test", "nobody"], none, 1, &["nobody"]),
        (&["new", "not a name"], none, 2, &["a name is"]),
        (&["tool", "ada", "Read", "{nonsense"], none, 2, &["JSON"]),
        (&["ls", "--server", "ftp://x"], none, 2, &["ftp://x", "http://127.0.0.1:7474"]),
        (&["ls", "--config", "/no/such/config.toml"], none, 2, &["/no/such/config.toml"]),
        (&["ls"], &[("YOI_TOKEN", "a b")], 2, &["YOI_TOKEN"]),
    ];
    for (words, variables, code, says) in table {
        let (ended, stdout, stderr) = run_with(launch, words, variables).await;
        assert_eq!((ended, stdout.as_str()), (Some(*code), ""), "{words:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "one sentence for {words:?}: {stderr}");
        assert!(stderr.starts_with("yoi: ") && !stderr.contains("panicked"), "{words:?}: {stderr}");
        for word in *says {
            assert!(stderr.contains(word), "{words:?} does not say {word:?}: {stderr}");
        }
    }
    for words in [&["no-such-verb"][..], &["send", "ada"], &["log", "ada", "--limit", "0"], &["wake", "ada", "maybe"]] {
        let (ended, stdout, stderr) = run(launch, words).await;
        assert_eq!((ended, stdout.as_str()), (Some(2), ""), "{words:?}: {stderr}");
    }
    assert!(!run_with(launch, &["ls"], &[("YOI_TOKEN", "of-mine")]).await.2.contains("of-mine"));
}

#[tokio::test]
async fn a_living_pod_takes_another_model_and_what_each_costs_is_told() {
    let server = ScriptedModel::start().await;
    server.set_models(&["small", "large"]);
    let launch = Launch::new(YOI);
    let configuration = format!(
        "[providers.mine]\nkind = \"openai-compatible\"\nbase_url = \"{}\"\n\
         [models.large]\ncontext_limit = 64000\ninput = 2.5\noutput = 10\nthinking = [\"off\", \"high\"]\n",
        server.base_url()
    );
    let config = launch.work_dir().join("config.toml");
    std::fs::write(&config, configuration).unwrap();
    let yoi = launch.env("YOI_CONFIG", config.to_str().unwrap()).start().await;
    let launch = yoi.launch();
    // The server's first one.
    assert_eq!(json(launch, &["new", "ada"]).await["model"], "small");
    let answer = || Answer::new().text("done").usage(Tokens { input: 1_000, cached: 0, output: 10 }).finish();
    server.push(answer());
    json(launch, &["send", "ada", "hello"]).await;
    until_so("the run is over", async || json(launch, &["show", "ada"]).await["usage"]["output"] == 10).await;
    let shown = json(launch, &["show", "ada"]).await;
    assert!(shown["usage"].get("context_limit").is_none() && shown["usage"].get("cost").is_none(), "{shown}");

    let (code, told, stderr) = run(launch, &["model", "ada", "large", "--thinking", "high"]).await;
    assert_eq!((code, told.as_str()), (Some(0), "ada: large of mine, thinking high\n"), "{stderr}");
    let (code, _, stderr) = run(launch, &["model", "ada", "--thinking", "low"]).await;
    assert_eq!(code, Some(1));
    assert!(stderr.contains("cannot think low; it has off, high"), "{stderr}");
    server.push(answer());
    json(launch, &["send", "ada", "again"]).await;
    until_so("the second run is over", async || json(launch, &["show", "ada"]).await["usage"]["output"] == 20).await;
    let asked = server.requests();
    let last = &asked.last().unwrap().body;
    assert_eq!((&last["model"], &last["reasoning_effort"]), (&"large".into(), &"high".into()));
    let shown = json(launch, &["show", "ada"]).await;
    assert_eq!((&shown["usage"]["cost"], &shown["usage"]["context_limit"]), (&"0.0026".into(), &64_000.into()));

    let usage = json(launch, &["usage"]).await;
    let models = usage["models"].as_array().unwrap();
    let cost = |model: &str| models.iter().find(|one| one["model"] == model).map(|one| one.get("cost").cloned());
    assert_eq!((cost("large"), cost("small")), (Some(Some("0.0026".into())), Some(None)));
    let (_, listed, _) = run(launch, &["models"]).await;
    let line = listed.lines().find(|line| line.starts_with("large")).unwrap();
    assert!(line.contains("64k+") && line.contains("$2.5+") && line.contains("off high+"), "{line}");
    let (_, log, _) = run(launch, &["log", "ada"]).await;
    assert!(log.contains("model large, thinking high: set by you"), "{log}");
}

#[tokio::test]
async fn the_walls_around_commands_are_listed_with_their_state() {
    let yoi = YoiProcess::start(YOI).await;
    let told = yoi.get("/api/v1/walls").await.expect(200);
    assert_eq!(json(yoi.launch(), &["walls"]).await, told);
    let (code, listed, _) = run(yoi.launch(), &["walls"]).await;
    assert_eq!(code, Some(0));
    let names: Vec<_> = listed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["namespaces", "landlock", "seccomp", "cgroup", "network"], "{listed}");
    for (line, item) in listed.lines().skip(1).zip(told["items"].as_array().unwrap()) {
        assert_eq!(line.split_whitespace().nth(1), item["state"].as_str(), "{listed}");
    }
}

#[tokio::test]
async fn the_settings_of_a_pod_are_seen_and_changed() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    let new = ["new", "ada", "--peer-policy", "ask", "--wake", "off", "--scope", "read:.", "--reasoning", "hidden"];
    json(launch, &new).await;
    let ada = json(launch, &["show", "ada"]).await;
    assert_eq!((&ada["peer_policy"], &ada["wake_on_peer"]), (&"ask".into(), &false.into()), "{ada}");
    assert_eq!((&ada["scope"][0]["access"], &ada["reasoning"]), (&"read".into(), &"hidden".into()), "{ada}");

    assert_eq!(json(launch, &["policy", "ada", "open"]).await["peer_policy"], "open");
    assert_eq!(json(launch, &["wake", "ada", "on"]).await["wake_on_peer"], true);
    json(launch, &["permissions", "ada", "allow Bash cargo *", "ask Bash"]).await;
    let (_, rules, _) = run(launch, &["permissions", "ada"]).await;
    assert_eq!(rules, "allow Bash cargo *\nask Bash\n");
    assert_eq!(json(launch, &["rules"]).await["items"][0]["name"], "ada");
    json(launch, &["permissions", "ada", "--clear"]).await;
    assert_eq!(json(launch, &["permissions", "ada"]).await, serde_json::json!([]));
    assert_eq!(json(launch, &["rename", "ada", "eve"]).await["name"], "eve");

    let set = ["set", "eve", "--instructions", "Be brief.", "--scope", "write:."];
    let detail = json(launch, &set).await;
    assert_eq!((&detail["instructions"], &detail["scope"][0]["access"]), (&"Be brief.".into(), &"write".into()));
    assert_eq!(run(launch, &["set", "eve"]).await.0, Some(2));
    assert_eq!(run(launch, &["budget", "eve"]).await.1, "eve has no budget\n");
    let said = "eve has a budget of $5 a day, including its children; 0 % is used\n";
    assert_eq!(run(launch, &["budget", "eve", "$5", "a", "day"]).await.1, said);
    assert_eq!(json(launch, &["show", "eve"]).await["budget"], serde_json::json!({ "cost": "5", "per": "day" }));
    let (code, _, stderr) = run(launch, &["budget", "eve", "much"]).await;
    assert_eq!(code, Some(2));
    assert!(stderr.contains("a budget is like $5"), "{stderr}");

    let address = json(launch, &["resolve", "eve"]).await;
    assert_eq!(address["runtime_id"], "local");
    assert_eq!(json(launch, &["visible", "eve"]).await["items"][0]["visibility"][0], "self");
    assert_eq!(json(launch, &["history", "eve"]).await["messages"][0]["role"], "system");
    assert_eq!(json(launch, &["compact", "eve", "--preview"]).await, Value::Null);
    for (words, expected) in
        [(&["ls", "--state", "idle"][..], 1), (&["ls", "--state", "paused"], 0), (&["ls", "--state", "failed"], 0)]
    {
        assert_eq!(json(launch, words).await["items"].as_array().unwrap().len(), expected, "{words:?}");
    }
}

#[tokio::test]
async fn what_waits_can_be_taken_back_and_what_two_wrote_be_read() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    json(launch, &["new", "bob", "--provider", "rehearsal"]).await;
    json(launch, &["send", "ada", "wait", "600"]).await;
    let waits = json(launch, &["send", "ada", "say", "later"]).await["command_id"].as_str().unwrap().to_owned();
    json(launch, &["send", "ada", "say", "now", "--steer"]).await;
    let queue = json(launch, &["queue", "ada"]).await;
    assert_eq!(queue["items"].as_array().unwrap().iter().filter(|item| item["steer"] == true).count(), 1, "{queue}");
    let (_, table, _) = run(launch, &["queue", "ada"]).await;
    assert!(table.contains(&waits) && table.contains("say later") && table.contains("steers"), "{table}");
    json(launch, &["unqueue", "ada", &waits]).await;
    let (code, _, stderr) = run(launch, &["unqueue", "ada", &waits]).await;
    assert_eq!(code, Some(1), "{stderr}");
    json(launch, &["cancel", "ada"]).await;

    json(launch, &["peer", "ada", "bob"]).await;
    json(launch, &["message", "ada", "bob", "hello", "there"]).await;
    let exchange = json(launch, &["exchange", "bob", "ada"]).await;
    assert_eq!(exchange["items"][0]["text"], "hello there", "{exchange}");
    assert!(run(launch, &["exchange", "ada", "bob"]).await.1.contains("ada: hello there"));
}

#[tokio::test]
async fn a_browser_is_logged_in_without_the_token_and_curl_reads_it_from_a_file() {
    let yoi = YoiProcess::start(YOI).await;
    let (code, printed, _) = run(yoi.launch(), &["open", "--print"]).await;
    let address = printed.trim();
    assert!(code == Some(0) && address.starts_with(&format!("{}/?code=", yoi.console_url())), "{printed}");
    let entered = yoi.browser_client().get(address).send().await.unwrap();
    assert_eq!((entered.status().as_u16(), entered.headers()["location"].to_str().unwrap()), (303, "/"));
    assert!(entered.headers().contains_key("set-cookie"));

    let (_, printed, _) = run(yoi.launch(), &["token", "--header"]).await;
    let file = std::path::Path::new(printed.trim());
    assert_eq!(std::fs::read_to_string(file).unwrap(), format!("Authorization: Bearer {}\n", yoi.token()));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);

    // Our own programs resolve the console's name even if the system does not.
    let mut by_name = yoi.launch().command();
    by_name.args(["ls", "--server", yoi.console_url()]).env("YOI_TOKEN", yoi.token());
    assert!(by_name.status().await.unwrap().success());
}

#[tokio::test]
async fn the_console_stays_on_127_0_0_1_for_who_lists_it_and_is_told_what_that_means() {
    let yoi = Launch::new(YOI).arg("--allow-host").arg("127.0.0.1").start().await;
    assert_eq!(yoi.console_url(), yoi.base_url());
    let login = yoi.browser_client().get(yoi.login_url()).send().await.unwrap();
    assert_eq!((login.status().as_u16(), login.headers()["location"].to_str().unwrap()), (303, "/"));
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let page = yoi.browser_client().get(format!("{}/", yoi.base_url())).header("cookie", cookie).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(yoi.log().iter().any(|line| line.contains("the console stays on 127.0.0.1")), "{:?}", yoi.log());
}

#[tokio::test]
async fn what_the_server_is_set_up_with_is_listed() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    assert_eq!(json(launch, &["runtimes"]).await["items"][0]["runtime_id"], "local");
    assert_eq!(json(launch, &["providers"]).await["items"][0]["name"], "rehearsal");
    assert_eq!(json(launch, &["providers", "test", "rehearsal"]).await["is_ok"], true);
    assert_eq!(json(launch, &["providers", "test"]).await["items"][0]["is_ok"], true);
    assert_eq!(json(launch, &["profiles"]).await["items"], serde_json::json!([]));
    assert!(run(launch, &["tools"]).await.1.contains("Bash           ask"));

    assert_eq!(yoi.browser_client().get(yoi.login_url()).send().await.unwrap().status(), 303);
    let id = json(launch, &["sessions"]).await["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(run(launch, &["sign-out", &id]).await.1.contains("signed out"));
    assert_eq!(json(launch, &["sessions"]).await["items"], serde_json::json!([]));
    assert_eq!(run(launch, &["sign-out", "--all"]).await.0, Some(0));
}

#[tokio::test]
async fn a_pod_is_created_in_the_current_folder_and_the_line_says_so() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    let shell = launch.work_dir().join("src");
    std::fs::create_dir(&shell).unwrap();
    let new = async |words: &[&str]| {
        let mut command = launch.command();
        command.current_dir(&shell).arg("new").args(words).arg("--data").arg(launch.data_dir());
        let output = command.output().await.unwrap();
        (output.status.code(), [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()))
    };
    let real = shell.canonicalize().unwrap();
    let (code, [said, _]) = new(&["ada"]).await;
    assert_eq!(
        (code, said.starts_with(&format!("created ada in {}: local/", real.display()))),
        (Some(0), true),
        "{said}"
    );
    assert_eq!(json(launch, &["show", "ada"]).await["scope"][0]["path"], real.to_str().unwrap());
    let (_, [said, _]) = new(&["bob", "--cwd", ".."]).await;
    assert!(said.contains(&format!("in {}: ", real.parent().unwrap().display())), "{said}");
    // A folder that the server does not see is not one of its folders.
    std::fs::remove_dir(&shell).unwrap();
    let elsewhere = run(launch, &["new", "eve", "--cwd", shell.to_str().unwrap()]).await;
    assert!(elsewhere.0 == Some(1) && elsewhere.2.contains("working directory does not exist"), "{elsewhere:?}");
}

#[tokio::test]
async fn the_repository_that_a_pod_works_in_is_shown_with_its_branch() {
    let folder = tempfile::tempdir().unwrap();
    let made =
        std::process::Command::new("git").args(["init", "-q", "-b", "trunk"]).arg(folder.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    std::fs::write(folder.path().join("new"), "x").unwrap();
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal", "--cwd", folder.path().to_str().unwrap()]).await;
    let shown = json(launch, &["show", "ada"]).await;
    let name = folder.path().file_name().unwrap().to_str().unwrap();
    let expected = serde_json::json!({ "branch": "trunk", "dirty": true, "ahead": 0, "behind": 0, "repository": name });
    assert_eq!(shown["git"], expected, "{shown}");
    let (_, shown, _) = run(launch, &["show", "ada"]).await;
    assert!(shown.contains("trunk, not committed"), "{shown}");
    let elsewhere = tempfile::tempdir().unwrap();
    json(launch, &["new", "bob", "--provider", "rehearsal", "--cwd", elsewhere.path().to_str().unwrap()]).await;
    assert!(json(launch, &["show", "bob"]).await.get("git").is_none());
}

#[tokio::test]
async fn a_pod_is_removed_at_a_terminal_only_after_a_yes() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    let mut rm = launch.command();
    rm.args(["rm", "ada", "--data"]).arg(launch.data_dir());
    for (answer, code, says) in
        [("", 1, "ada was not deleted"), ("n", 1, "ada was not deleted"), ("y", 0, "ada deleted")]
    {
        let mut terminal = Terminal::start(&rm, 120, 24).await;
        let screen = terminal.wait_text("[y/N]").await;
        assert!(screen.contains("Delete ada (idle, in ") && screen.contains("whole transcript"), "{screen}");
        terminal.enters(answer).await;
        let ended = terminal.wait_end().await;
        assert!(ended.code == code && ended.screen.contains(says), "{answer:?}: {} {}", ended.code, ended.screen);
    }
    assert_eq!(json(launch, &["ls"]).await["items"], serde_json::json!([]));
}

#[tokio::test]
async fn a_table_is_as_wide_as_the_terminal_and_plain_where_that_is_wanted() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    let ls = |variables: &[(&str, &str)]| {
        let mut command = launch.command();
        command.arg("ls").arg("--data").arg(launch.data_dir()).envs(variables.iter().copied());
        command
    };
    let screen = Terminal::start(&ls(&[]), 40, 24).await;
    screen.wait_end().await;
    assert!(screen.raw().contains("\u{1b}[1mNAME") && screen.raw().contains('…'), "{}", screen.raw());
    let plain = Terminal::start(&ls(&[("NO_COLOR", "1")]), 40, 24).await;
    plain.wait_end().await;
    assert!(plain.raw().contains("NAME") && !plain.raw().contains("\u{1b}[1m"), "{}", plain.raw());
    let (_, piped, _) = run(launch, &["ls"]).await;
    assert!(!piped.contains('\u{1b}') && piped.contains(launch.work_dir().to_str().unwrap()), "{piped}");
}

#[tokio::test]
async fn the_manual_has_a_page_for_each_verb_and_completions_know_the_pods() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    let folder = launch.work_dir().join("man");
    assert_eq!(run(launch, &["man", folder.to_str().unwrap()]).await.0, Some(0));
    for page in ["yoi.1", "yoi-send.1", "yoi-service-install.1", "yoi-doctor.1", "yoi-providers-test.1"] {
        let text = std::fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(run(launch, &["man"]).await.1.contains(".TH yoi"));

    for (words, offered) in [
        (&["log", ""][..], "ada"),
        (&["new", "eve", "--provider", ""], "rehearsal\tbuilt in"),
        (&["new", "eve", "--model", ""], "rehearsal\tof rehearsal"),
    ] {
        until_so(&format!("{offered} is offered"), async || {
            let mut ask = launch.command();
            ask.env("YOI_COMPLETE", "fish").args(["--", "yoi", "--data"]).arg(launch.data_dir()).args(words);
            let output = ask.output().await.unwrap();
            assert!(output.status.success());
            // A server that is too busy to answer at once completes nothing: whoever presses Tab does not wait.
            String::from_utf8(output.stdout).unwrap().lines().any(|line| line.starts_with(offered))
        })
        .await;
    }
    let mut ask = launch.command();
    ask.env("YOI_COMPLETE", "fish").args(["--", "yoi", "--server", "http://127.0.0.1:1", "log", ""]);
    let output = ask.output().await.unwrap();
    assert!(output.status.success() && !String::from_utf8(output.stdout).unwrap().contains("ada"));
}

#[tokio::test]
async fn files_go_with_a_message_and_what_cannot_be_attached_is_said() {
    let yoi = YoiProcess::start(YOI).await;
    let launch = yoi.launch();
    json(launch, &["new", "ada", "--provider", "rehearsal"]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let gif = b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b";
    std::fs::write(path("dot.gif"), gif).unwrap();
    std::fs::write(path("notes.txt"), "remember").unwrap();
    let (dot, notes) = (path("dot.gif"), path("notes.txt"));
    json(launch, &["send", "ada", "say done", "--attach", &dot, "--attach", &notes]).await;
    let log = async || run(launch, &["log", "ada"]).await.1;
    let sent = format!("I was sent image dot.gif (image/gif, {} bytes), file notes.txt (8 bytes of text).", gif.len());
    until_so("it answers".to_owned(), async || log().await.contains(&sent)).await;
    assert!(log().await.contains("[image dot.gif]"), "{}", log().await);
    json(launch, &["send", "ada", "--attach", &dot]).await;

    let (code, _, said) = run(launch, &["send", "ada", "hello", "--attach", &path("nothing")]).await;
    assert!(code == Some(2) && said.contains("nothing"), "{said}");
    let (code, _, said) = run(launch, &["send", "ada", "hello", "--attach", folder.path().to_str().unwrap()]).await;
    assert!(code == Some(2) && said.contains("not a regular file"), "{said}");
}
