//! The Unix socket beside the port: who may connect, what it replaces, and the command line over it.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    process::{Output, Stdio},
};

use serde_json::Value;
use testkit::{within, yoi::Launch};
use tokio::io::{AsyncBufReadExt, BufReader};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A launch with a socket, and the path of the socket.
fn launch() -> (Launch, std::path::PathBuf) {
    let launch = Launch::new(YOI);
    let path = launch.work_dir().join("run/yoi.sock");
    (launch.arg("--socket").arg(path.to_str().unwrap()), path)
}

async fn run(launch: &Launch, path: &Path, words: &[&str]) -> Output {
    let server = format!("unix:{}", path.display());
    let mut command = launch.command();
    command.args(words).args(["--server", &server]).arg("--data").arg(launch.data_dir());
    command.output().await.unwrap()
}

#[tokio::test]
async fn the_command_line_works_over_the_socket_streams_included() {
    let (launch, path) = launch();
    let mut yoi = launch.clone().start().await;
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    assert!(run(&launch, &path, &["new", "ada", "--provider", "rehearsal"]).await.status.success());

    let server = format!("unix:{}", path.display());
    let mut follow = launch.command();
    follow.args(["log", "ada", "-f", "--json", "--server", &server, "--data"]).arg(launch.data_dir());
    let mut follow = follow.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    assert!(run(&launch, &path, &["send", "ada", "say", "over", "the", "socket"]).await.status.success());
    let said = within("the answer", async {
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            let mut record: Value = serde_json::from_str(&line).unwrap();
            if record["event"]["kind"] == "message_finished" {
                return record["event"]["text"].take();
            }
        }
    });
    assert_eq!(said.await, "over the socket");
    drop(follow);
    assert_eq!(yoi.terminate().await.code(), Some(0));
    assert!(!path.exists(), "the socket goes with its server");
    assert_eq!(run(&launch, &path, &["ls"]).await.status.code(), Some(3));
}

#[tokio::test]
async fn the_socket_asks_for_the_token_and_the_host_as_the_port_does() {
    let (launch, path) = launch();
    let yoi = launch.clone().start().await;
    let client = reqwest::Client::builder().unix_socket(path.as_path()).build().unwrap();
    let status = async |host: &str, token: Option<&str>| {
        let mut request = client.get("http://localhost/api/v1/pods").header("host", host);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("localhost", Some(yoi.token())).await, 200);
    assert_eq!(status("localhost", None).await, 401);
    assert_eq!(status("localhost", Some("wrong")).await, 401);
    assert_eq!(status("evil.example", Some(yoi.token())).await, 403);
    let mut wrong = launch.command();
    wrong.env("YOI_TOKEN", "wrong").arg("ls").arg("--server").arg(format!("unix:{}", path.display()));
    assert_eq!(wrong.output().await.unwrap().status.code(), Some(1));
}

#[tokio::test]
async fn a_dead_socket_is_replaced_and_a_living_one_is_refused_with_its_pid() {
    let (launch, path) = launch();
    let mut yoi = launch.clone().start().await;
    let pid = yoi.pid().unwrap();
    let other = Launch::new(YOI).arg("--socket").arg(path.to_str().unwrap());
    let refused = other.clone().try_start().await.unwrap_err();
    let said = refused.stderr.join("\n");
    assert!(refused.status.code() == Some(1) && said.contains(&format!("pid {pid}")), "{said}");

    yoi.kill9().await;
    assert!(path.exists(), "nobody was there to remove it");
    let other = other.start().await;
    assert!(run(other.launch(), &path, &["ls"]).await.status.success());

    let taken = launch.work_dir().join("notes");
    fs::write(&taken, "mine").unwrap();
    let refused = Launch::new(YOI).arg("--socket").arg(taken.to_str().unwrap()).try_start().await.unwrap_err();
    assert_eq!((refused.status.code(), fs::read_to_string(&taken).unwrap().as_str()), (Some(1), "mine"));
}

#[tokio::test]
async fn a_folder_where_others_may_write_is_a_bad_configuration() {
    let launch = Launch::new(YOI);
    let folder = launch.work_dir().join("open");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let path = folder.join("yoi.sock");
    let refused = launch.clone().arg("--socket").arg(path.to_str().unwrap()).try_start().await.unwrap_err();
    let said = refused.stderr.join("\n");
    assert!(refused.status.code() == Some(2) && said.contains("other accounts can write"), "{said}");
    // A folder that is not ours is not left behind.
    assert!(UnixListener::bind(&path).is_ok());
}
