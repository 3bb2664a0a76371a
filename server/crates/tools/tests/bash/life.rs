//! A command ends with its call, whatever it started and whichever side ends first.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::json;
use testkit::{until, until_so, within};
use tokio::sync::mpsc;
use tools::{Lifeline, Place, Tool, bash::Bash};

use crate::{PARENT, stage::Stage};

/// Whether there is a process with this word in its command line.
fn is_there(word: &str) -> bool {
    command_lines().any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

/// Whether this very program runs with this one argument. A process about to start it does not count: at the moment
/// when a process becomes another program, its command line reads as empty.
fn is_running(program: &str, argument: &str) -> bool {
    command_lines().any(|line| line == [program.as_bytes(), b"\0", argument.as_bytes(), b"\0"].concat())
}

fn command_lines() -> impl Iterator<Item = Vec<u8>> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default())
}

/// Once seen, it counts; it is not checked again.
#[track_caller]
fn is_soon(what: impl Fn() -> bool) -> impl Future<Output = ()> {
    until_so("what runs is as wanted", async move || what())
}

pub(crate) async fn a_background_process_ends_with_the_call() {
    let stage = Stage::new();
    let said = stage.says("sleep 1111.1 & setsid sleep 1111.2 & (setsid nohup sleep 1111.3 &) ; (while :; do echo x >> log; done) & (while :; do setsid sleep 1111.4 & sleep 0.002; done) & sleep 0.3; echo done").await;
    assert!(said.contains("done"));
    for word in ["1111.1", "1111.2", "1111.3", "1111.4"] {
        assert!(!is_there(word), "{word} is left");
    }
    let size = fs::metadata(stage.path("pod/log")).unwrap().len();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(fs::metadata(stage.path("pod/log")).unwrap().len(), size);
}

pub(crate) async fn the_time_limit_ends_a_whole_tree() {
    let stage = Stage::new();
    let command =
        "trap '' TERM INT HUP; echo begun; setsid bash -c 'setsid sleep 2222.1 & sleep 2222.2' & sleep 2222.3";
    let done = stage.call(json!({ "command": command, "timeout_s": 15 })).await;
    assert_eq!(done.outcome.summary, "killed after 15 s (time limit) · 1 line", "{}", done.content());
    assert_eq!((done.outcome.is_error, done.outcome.code.as_deref()), (true, Some("timeout")));
    assert_eq!(done.content(), "begun\n");
    for word in ["2222.1", "2222.2", "2222.3"] {
        assert!(!is_there(word), "{word} is left");
    }
}

pub(crate) async fn a_dropped_call_ends_its_command() {
    let stage = Stage::new();
    let (sender, _pieces) = mpsc::channel(8);
    let (lifeline, mut ended) = Lifeline::pair();
    let (bash, place) = (Bash::new(stage.options.clone()), Place { lifeline, ..stage.place() });
    let call = bash.call(&place, json!({ "command": "setsid sleep 3333.1 & sleep 3333.2" }), sender);
    let watching = is_soon(|| is_running("sleep", "3333.1") && is_running("sleep", "3333.2"));
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        () = watching => (),
    }
    drop(place);
    // Received when the last process has ended, and not before.
    assert_eq!(within("nothing of the call is left", ended.recv()).await, None);
    assert!(!is_there("3333.1") && !is_there("3333.2"));
}

pub(crate) async fn a_command_that_is_given_up_is_told_to_end_and_has_time_for_it() {
    let stage = Stage::new();
    let (sender, mut pieces) = mpsc::channel(8);
    let (lifeline, mut ended) = Lifeline::pair();
    let (bash, place) = (Bash::new(stage.options.clone()), Place { lifeline, ..stage.place() });
    let command = "trap 'echo told; sleep 0.05; echo told > told; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let call = bash.call(&place, json!({ "command": command }), sender);
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        ready = pieces.recv() => assert_eq!(ready.as_deref(), Some("ready\n")),
    }
    drop(place);
    assert_eq!(within("nothing of the call is left", ended.recv()).await, None);
    assert_eq!(fs::read_to_string(stage.path("pod/told")).unwrap(), "told\n");
}

pub(crate) async fn a_command_that_does_not_end_when_it_is_told_to_is_killed() {
    let stage = Stage::new();
    let (sender, mut pieces) = mpsc::channel(8);
    let (lifeline, mut ended) = Lifeline::pair();
    let (bash, place) = (Bash::new(stage.options.clone()), Place { lifeline, ..stage.place() });
    let command = "trap '' TERM; (setsid sleep 5555.1 &); echo ready; sleep 5555.2";
    let call = bash.call(&place, json!({ "command": command }), sender);
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        _ = pieces.recv() => (),
    }
    drop(place);
    assert_eq!(within("nothing of the call is left", ended.recv()).await, None);
    assert!(!is_there("5555.1") && !is_there("5555.2"));
}

pub(crate) async fn the_death_of_the_server_ends_the_command() {
    let stage = Stage::new();
    let mut parent = Command::new(env::current_exe().unwrap())
        .env(PARENT, "run")
        .env("TMPDIR", stage.root.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "running\n");
    assert!(is_running("sleep", "4444.1") && is_running("sleep", "4444.2"));
    parent.kill().unwrap();
    parent.wait().unwrap();
    is_soon(|| !is_there("4444.1") && !is_there("4444.2")).await;
}

/// The helpers of this process, by their pids.
fn helpers() -> Vec<String> {
    let own = format!(" {} ", std::process::id());
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_helper = |path: &PathBuf| {
        let parent = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let is_own = parent.rsplit(')').next().is_some_and(|rest| rest.get(2..).unwrap_or_default().starts_with(&own));
        is_own && fs::read(path.join("cmdline")).is_ok_and(|line| line == b"yoi\0__shell\0")
    };
    entries.filter(is_helper).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

pub(crate) async fn the_helper_of_the_next_command_waits_is_replaced_and_ends_with_the_tool() {
    let stage = Stage::new();
    let bash = Bash::new(stage.options.clone());
    if !bash.is_confined() {
        return println!("without rooms no helper waits");
    }
    // Those of other tests end by themselves.
    is_soon(|| helpers().is_empty()).await;
    // Which helper keeps a command, and which one waits for it.
    let round = async || {
        let (sender, _pieces) = mpsc::channel(8);
        let command = json!({ "command": "touch began; until [ -e go ]; do sleep 0.02; done; rm began go" });
        let place = stage.place();
        let looking = async {
            is_soon(|| stage.path("pod/began").exists()).await;
            let keeping = helpers();
            fs::write(stage.path("pod/go"), "").unwrap();
            keeping
        };
        let (outcome, keeping) = tokio::join!(bash.call(&place, command, sender), looking);
        assert!(!outcome.is_error, "{outcome:?}");
        let [keeper] = &keeping[..] else { panic!("one helper keeps the command, and none waits: {keeping:?}") };
        let waiting = until("another one waits", async || match &helpers()[..] {
            [one] if one != keeper => Some(one.clone()),
            _ => None,
        });
        (keeper.clone(), waiting.await)
    };
    let (_, first) = round().await;
    let (keeper, second) = round().await;
    assert_eq!(keeper, first, "the one that waited");

    // One that is gone is not missed.
    assert!(Command::new("kill").args(["-9", &second]).status().unwrap().success());
    let stat = format!("/proc/{second}/stat");
    is_soon(|| fs::read_to_string(&stat).map_or(true, |text| text.contains(") Z "))).await;
    assert_ne!(round().await.0, second);
    drop(bash);
    is_soon(|| helpers().is_empty()).await;
}

/// Runs a command until somebody kills this process; or prints the environment of a command.
pub(crate) async fn be_a_parent(role: &str) {
    let mut stage = Stage::new();
    if role == "env" {
        stage.options.environment = vec!["BASH_TEST_SHOWN".to_owned()];
        println!("{}", stage.says("env").await);
        return;
    }
    let running = stage.run("setsid sleep 4444.1 & sleep 4444.2");
    let telling = async {
        is_soon(|| is_running("sleep", "4444.1") && is_running("sleep", "4444.2")).await;
        println!("running");
    };
    tokio::join!(running, telling);
}

pub(crate) async fn endings_are_told_apart() {
    let stage = Stage::new();
    let done = stage.run("kill -9 $$").await;
    assert_eq!(done.outcome.summary, "killed by signal 9 · 0 lines");
    assert_eq!(done.outcome.code.as_deref(), Some("signal"));
    for code in [1, 125, 126, 127, 255] {
        let done = stage.run(&format!("exit {code}")).await;
        assert!(done.outcome.summary.starts_with(&format!("exit {code} in")), "{}", done.outcome.summary);
    }
    assert!(stage.run("no-such-program").await.outcome.summary.starts_with("exit 127"));
    let mut broken = Stage::new();
    broken.options.helper = "/no/such/helper".into();
    let done = broken.run("echo x").await;
    assert_eq!(done.outcome.code.as_deref(), Some("io_failed"));
    broken.options.helper = "/bin/true".into();
    assert!(broken.run("echo x").await.outcome.is_error);
}

pub(crate) async fn a_slow_viewer_does_not_stop_the_time_limit() {
    let stage = Stage::new();
    let (sender, pieces) = mpsc::channel(1);
    let (bash, place) = (Bash::new(stage.options.clone()), stage.place());
    let call = bash.call(&place, json!({ "command": "yes yes-2222", "timeout_s": 15 }), sender);
    let viewer = async {
        is_soon(|| is_running("yes", "yes-2222")).await;
        is_soon(|| !is_running("yes", "yes-2222")).await;
        drop(pieces);
    };
    assert_eq!(tokio::join!(call, viewer).0.code.as_deref(), Some("timeout"));
}
