//! Attacks on the end of a command: what survives its call, and what is reported about it.

use serde_json::json;

use super::{Stage, stage};
use crate::Tally;

/// Each leaves something running under a name of its own, which is `$M`.
const LEFT: &[(&str, &str)] = &[
    ("a job in the background", "sleep $M &"),
    ("a job without a parent", "(sleep $M &)"),
    ("a job that no hangup ends", "nohup sleep $M > /dev/null 2>&1 &"),
    ("a session of its own", "setsid sleep $M &"),
    ("a session of its own without a parent", "(setsid setsid sleep $M < /dev/null > /dev/null 2>&1 &)"),
    (
        "a daemon that was forked twice",
        "perl -MPOSIX -e 'exit if fork; setsid(); exit if fork; close STDIN; close STDOUT; close STDERR; exec \"sleep\", $ENV{M}'",
    ),
    (
        "a daemon that takes no signal",
        "perl -e 'exit if fork; $SIG{$_} = \"IGNORE\" for grep { !/KILL|STOP|NUM|ZERO|__/ } keys %SIG; exec \"sleep\", $ENV{M}'",
    ),
    ("a stopped job", "sleep $M & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!"),
    ("a job that is disowned", "sleep $M & disown -a"),
    (
        "a loop that starts itself again",
        "(for i in $(seq 60); do setsid sleep $M & sleep 0.05; done) > /dev/null 2>&1 &",
    ),
    ("a server of terminals", "command -v tmux > /dev/null && tmux -L left new-session -d \"sleep $M\""),
    ("a terminal of its own", "script -qc \"sleep $M\" /dev/null > /dev/null 2>&1 &"),
    ("a job of another scheduling", "chrt -i 0 sleep $M &"),
    ("a job at the lowest priority", "nice -n 19 setsid sleep $M &"),
    (
        "a job that the death of its parent does not end",
        "perl -e 'syscall(@prctl@, 1, 0); exit if fork; syscall(@prctl@, 1, 0); exec \"sleep\", $ENV{M}'",
    ),
    (
        "a job that adopts others",
        "perl -e 'exit if fork; syscall(@prctl@, 36, 1); exec \"sleep\", $ENV{M} unless fork; sleep 1000' > /dev/null 2>&1 &",
    ),
];

/// Waits until each one runs. Two need a terminal, which a sandbox does not have, so they may not start.
const ALL_RUN: &str = r#"
for m in $(seq 0 15); do
  test $m = 10 -o $m = 11 && continue
  until cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ' | grep -q "[s]leep $ME.$m "; do sleep 0.02; done
done"#;

pub(super) async fn attack(stage: &Stage, tally: &mut Tally) {
    nothing_is_left(stage, tally).await;
    endings_are_true(stage, tally).await;
}

async fn nothing_is_left(stage: &Stage, tally: &mut Tally) {
    let mark = |number: usize| format!("{}.{number}", stage.number());
    let all = LEFT
        .iter()
        .enumerate()
        .map(|(number, (_, command))| format!("M={} bash -c '{}'", mark(number), command.replace('\'', "'\\''")));
    let script = all.chain([format!("ME={}\n{ALL_RUN}", stage.number())]).collect::<Vec<_>>().join("\n");
    let said = stage.bash(&script).await;
    assert_eq!(said["is_error"], json!(false), "{said}");
    // The call has returned: all of it has ended now, and not merely soon.
    let running = stage::arguments_of_all();
    for (number, (name, _)) in LEFT.iter().enumerate() {
        let is_left = running.contains(&mark(number));
        tally.note(&format!("after the call: {name}"), is_left.then(|| "it runs on".to_owned()));
    }
}

/// The shell reports one thing and the command another.
async fn endings_are_true(stage: &Stage, tally: &mut Tally) {
    let forged = r#"for f in 1 2 3 4 5 6 7 8 9; do echo '{"exited":0}' >&$f; done 2>/dev/null; exit 3"#;
    let said = stage.bash(forged).await;
    let is_true =
        said["code"] == "exit" && said["summary"].as_str().is_some_and(|summary| summary.starts_with("exit 3"));
    tally.note("a report of its own on its output", (!is_true).then(|| said.to_string()));

    let said = stage.bash("kill -9 -1; kill -9 0; kill -9 $$; echo on").await;
    let is_true = said["code"] == "signal";
    tally.note("everything that it can reach is killed", (!is_true).then(|| said.to_string()));

    let said = stage.bash("echo still here").await;
    tally.note("and the next command", (said["content"] != "still here\n").then(|| said.to_string()));

    stage.bash("echo x > /tmp/left; echo x > /dev/shm/left").await;
    let said = stage.bash("cat /tmp/left /dev/shm/left 2>/dev/null; true").await;
    tally.note("what an earlier command left in memory", (said["content"] != "").then(|| said.to_string()));
}
