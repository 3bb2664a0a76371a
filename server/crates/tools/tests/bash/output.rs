//! What a model and a viewer get of a command's output.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use serde_json::json;
use testkit::{until_so, within};
use tokio::{sync::mpsc, time::timeout};
use tools::{Drains, Place, Tool, bash::Bash};

use crate::stage::Stage;

/// How it ended, after how many seconds and tenths, and how much it printed.
fn assert_ended(summary: &str, how: &str, said: &str) {
    let seconds =
        summary.strip_prefix(&format!("{how} in ")).and_then(|rest| rest.strip_suffix(&format!(" s · {said}")));
    assert!(seconds.is_some_and(|seconds| seconds.parse::<f64>().is_ok()), "{summary}");
}

pub(crate) async fn a_command_says_its_output_and_exit_code() {
    let stage = Stage::new();
    let done = stage.run("echo one; echo two >&2; echo three").await;
    assert_eq!(done.content(), "one\ntwo\nthree\n");
    assert_eq!(done.live.concat(), "one\ntwo\nthree\n");
    assert_ended(&done.outcome.summary, "exit 0", "3 lines");
    assert_eq!((done.outcome.is_error, done.outcome.code.as_deref()), (false, None));

    let done = stage.run("printf no; exit 2").await;
    assert_ended(&done.outcome.summary, "exit 2", "1 line");
    assert_eq!((done.outcome.is_error, done.outcome.code.as_deref()), (true, Some("exit")));
    assert_eq!(
        stage.says("yes | head -n 1; echo ${PIPESTATUS[0]}; read x || echo $?; tty || true").await,
        "y\n141\n1\nnot a tty\n"
    );
}

pub(crate) async fn output_comes_live_and_in_few_pieces() {
    let stage = Stage::new();
    let (sender, mut pieces) = mpsc::channel(8);
    let (bash, place) = (Bash::new(stage.options.clone()), stage.place());
    let call =
        bash.call(&place, json!({ "command": "echo first; until test -e go; do sleep 0.01; done; echo last" }), sender);
    let watching = async {
        assert_eq!(timeout(Duration::from_secs(60), pieces.recv()).await.unwrap().unwrap(), "first\n");
        fs::write(stage.path("pod/go"), "").unwrap();
        assert_eq!(pieces.recv().await.unwrap(), "last\n");
        assert_eq!(pieces.recv().await, None);
    };
    assert_eq!(tokio::join!(call, watching).0.content.unwrap(), "first\nlast\n");

    let done = stage.run("for i in $(seq 3000); do echo line $i €; done").await;
    assert_eq!(done.live.concat().lines().count(), 3000);
    assert!(done.live.iter().all(|piece| piece.len() <= 4096));
    assert!(done.live.len() < 200, "{} pieces", done.live.len());
}

pub(crate) async fn long_output_is_cut_and_kept_in_a_file() {
    let stage = Stage::new();
    let done = stage.run("seq 1000000").await;
    let whole = (1..=1_000_000).map(|number| format!("{number}\n")).collect::<String>();
    assert!(done.outcome.summary.ends_with("· 1000000 lines"), "{}", done.outcome.summary);
    assert!(done.content().chars().count() <= 30_000 && done.content().len() > 29_000);
    assert!(done.content().starts_with("1\n2\n3\n") && done.content().ends_with("\n999999\n1000000\n"));
    assert!(done.content().contains("characters left out; Read {\"path\":\"output:call-7\"} shows all]\n"));
    let live = done.live.concat();
    assert!(live.len() < 257 * 1024 && live.contains("output:call-7"), "{}", live.len());
    let file = stage.path("kept/outputs/call-7");
    assert_eq!(fs::read_to_string(&file).unwrap(), whole);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    for text in [done.content(), &live, &done.outcome.summary] {
        assert!(!text.contains("kept/outputs"));
    }

    // As many characters as fit, of three bytes each: nothing is stored separately.
    fs::remove_file(&file).unwrap();
    let done = stage.run("head -c 30000 /dev/zero | sed 's/\\x00/€/g'").await;
    assert_eq!(done.content(), "€".repeat(30_000));
    assert!(!file.exists());
    let done = stage.run("head -c 30001 /dev/zero | sed 's/\\x00/€/g'").await;
    assert!(done.content().chars().count() <= 30_000 && done.content().contains("[301 characters left out"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "€".repeat(30_001));
}

pub(crate) async fn output_without_end_is_stopped() {
    let stage = Stage::new();
    let done = stage.run("yes 0123456789; echo not reached").await;
    assert!(done.outcome.summary.starts_with("killed after 50 MiB of output"), "{}", done.outcome.summary);
    assert_eq!(done.outcome.code.as_deref(), Some("output"));
    assert_eq!(fs::metadata(stage.path("kept/outputs/call-7")).unwrap().len(), 50 * 1024 * 1024);
    assert!(done.live.concat().len() < 257 * 1024);
}

pub(crate) async fn bytes_that_are_no_text_are_replaced() {
    let stage = Stage::new();
    let done = stage.run("printf 'a\\xffb\\x00c\\xe2\\x82'; sleep 0.1; printf '\\xac|\\xe2\\x82'").await;
    assert_eq!(done.content(), "a\u{fffd}b\u{fffd}c€|\u{fffd}");
    assert_eq!(done.live.concat(), done.content());
}

pub(crate) async fn what_was_printed_comes_at_once_when_it_is_asked_for() {
    let stage = Stage::new();
    let (sender, mut pieces) = mpsc::channel(8);
    let drains = Drains::default();
    let place = Place { drain: drains.drain(), ..stage.place() };
    let bash = Bash::new(stage.options.clone());
    let command = "echo one; echo two; echo > printed; sleep 7777.1";
    let call = bash.call(&place, json!({ "command": command }), sender);
    let printed = stage.path("pod/printed");
    let asked = async {
        until_so("it has printed", async || printed.exists()).await;
        drains.ask();
        let mut said = String::new();
        while let Some(piece) = within("what was printed, and that it is all", pieces.recv()).await {
            if piece.is_empty() {
                break;
            }
            said.push_str(&piece);
        }
        said
    };
    tokio::select! {
        _ = call => panic!("it ended by itself"),
        said = asked => assert_eq!(said, "one\ntwo\n"),
    }
}
