//! What is closed to a command besides files: secrets, the server, other processes; and when nothing is run.

use std::{env, path::Path, process::Command};

use serde_json::json;
use testkit::until_so;
use tools::{
    Tool,
    bash::{Bash, BashOptions, Confine, Confinement, confinement},
};

use crate::{
    PARENT,
    stage::{Stage, builder},
};

pub(crate) async fn this_kernel_confines() {
    let Confinement::Room { abi, .. } = confinement(builder()) else {
        panic!("these tests need namespaces and Landlock: {:?}", confinement(builder()));
    };
    assert!(abi >= 3);
    assert!(Bash::new(BashOptions::of_this_process()).is_confined());
}

pub(crate) async fn secrets_are_not_in_the_environment() {
    // This process has none of them: another one runs the command, and reports what it saw.
    let mut child = Command::new(env::current_exe().unwrap());
    let secrets = [
        "YOI_ADDRESS",
        "OPENAI_API_KEY",
        "my_token",
        "SSH_AUTH_SOCK",
        "PGPASSWORD",
        "BASH_TEST_UNNAMED",
        "LD_PRELOAD_",
        "BASH_ENV",
    ];
    child
        .envs(secrets.map(|name| (name, "do-not-tell")))
        .env("BASH_TEST_SHOWN", "shown")
        .env("LC_TEST", "shown")
        .env(PARENT, "env");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("BASH_TEST_SHOWN=shown")
            && said.contains("LC_TEST=shown")
            && said.contains("PAGER=cat")
            && said.contains("TERM=dumb"),
        "{said}"
    );
    assert!(said.contains("GIT_TERMINAL_PROMPT=0") && said.contains("TMPDIR="), "{said}");
    assert!(!said.contains("do-not-tell"), "{said}");
}

pub(crate) async fn the_environment_of_the_server_and_of_the_keeper_is_closed() {
    let stage = Stage::new();
    let own = std::process::id();
    for file in ["environ", "mem", "maps"] {
        stage.is_refused(&format!("cat /proc/{own}/{file}")).await;
        stage.is_refused(&format!("cat /proc/$PPID/{file}")).await;
    }
    stage.is_refused(&format!("ls /proc/{own}/root/")).await;
    stage.is_refused(&format!("cat /proc/{own}/fd/0")).await;
    stage.says("cat /proc/self/environ | tr '\\0' '\\n'").await;
}

pub(crate) async fn the_server_and_the_keeper_cannot_be_signalled() {
    let stage = Stage::new();
    for signal in [0, 15, 9] {
        stage.is_refused(&format!("kill -{signal} {}", std::process::id())).await;
        stage.is_refused(&format!("kill -{signal} $PPID")).await;
    }
    // It can kill its own processes.
    stage.says("sleep 100 & kill -9 $!; wait $! || true").await;
    assert_eq!(stage.run("kill -9 0").await.outcome.code.as_deref(), Some("signal"));
    stage.says("sleep 100 & kill -9 -1").await;
}

pub(crate) async fn arguments_and_folders_are_checked() {
    let stage = Stage::new();
    let cases = [
        json!({}),
        json!({ "command": 1 }),
        json!({ "command": "true", "timeout_s": 0 }),
        json!({ "command": "true", "timeout_s": 601 }),
        json!({ "command": "true", "more": 1 }),
        json!("true"),
        json!({ "command": "a\u{0}b" }),
    ];
    for arguments in cases {
        let done = stage.call(arguments.clone()).await;
        assert_eq!(done.outcome.code.as_deref(), Some("invalid_input"), "{arguments}: {:?}", done.outcome);
    }
    for cwd in ["..", "../outside", "/", "/usr", "src/../../outside"] {
        let done = stage.call(json!({ "command": "touch ran", "cwd": cwd })).await;
        assert_eq!(done.outcome.code.as_deref(), Some("permission_denied"), "{cwd}: {:?}", done.outcome);
    }
    let done = stage.call(json!({ "command": "pwd", "cwd": "nowhere" })).await;
    assert_eq!(done.outcome.code.as_deref(), Some("not_found"));
    let done = stage.call(json!({ "command": "pwd; cat b", "cwd": "./src/../src" })).await;
    assert_eq!(done.content(), format!("{}\ntext of pod/src/b\n", stage.path("pod/src").display()));
    let schema = Bash::new(BashOptions::of_this_process()).schema();
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["required"], json!(["command"]));
}

pub(crate) async fn without_the_kernel_nothing_runs_unless_it_is_allowed() {
    let mut stage = Stage::new();
    stage.options.confine = Confine::Never;
    assert!(!Bash::new(stage.options.clone()).is_confined());
    let done = stage.run("touch ran").await;
    assert_eq!(done.outcome.code.as_deref(), Some("unconfined"));
    assert!(!stage.path("pod/ran").exists());
    stage.options.allow_unconfined = true;
    let done = stage.run("cat ../outside/e").await;
    assert_eq!(done.content(), "text of outside/e\n");
    assert!(done.outcome.summary.starts_with("not confined by the kernel: exit 0"), "{}", done.outcome.summary);
}

pub(crate) async fn the_temporary_folder_is_private_and_removed() {
    let stage = Stage::new();
    let said = stage
        .says(
            "echo $TMPDIR; stat -c %a $TMPDIR; f=$(mktemp); echo x > $f; mkdir $TMPDIR/d; chmod 0 $TMPDIR/d; ls -d $f",
        )
        .await;
    let lines = said.lines().collect::<Vec<_>>();
    assert_eq!(lines[1], "700");
    assert!(lines[2].starts_with(lines[0]));
    // It is cleaned up once the command has ended, and the call does not wait for that.
    until_so("it is removed", async || !Path::new(lines[2]).exists()).await;
    // Nothing of it is there for the next one, or in the machine's temporary folder.
    assert_eq!(stage.says("ls -A $TMPDIR | grep -v ^[.]tmp || true").await, "");
}
