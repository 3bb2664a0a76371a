//! Tests the driver of the binary itself, with a shell script in place of the binary.

use super::{Launch, YoiProcess};

/// A script in place of yoi.
fn stand_in(folder: &std::path::Path, body: &str) -> String {
    crate::helper::tests::stand_in(folder, "stand-in", body).to_str().unwrap().to_owned()
}

const READY_AND_WAITING: &str = "trap 'exit 7' TERM; echo \"started with $*\" >&2\n\
    echo \"yoi is ready: http://127.0.0.1:4711/?token=abc\"; while :; do sleep 0.05; done";

#[tokio::test]
async fn a_yoi_is_known_by_its_ready_line_and_ends_on_sigterm() {
    let folder = tempfile::tempdir().unwrap();
    let mut yoi = YoiProcess::start(&stand_in(folder.path(), READY_AND_WAITING)).await;
    assert_eq!((yoi.base_url(), yoi.token()), ("http://127.0.0.1:4711", "abc"));
    assert_eq!(yoi.login_url(), "http://127.0.0.1:4711/?token=abc");
    assert_eq!(yoi.terminate().await.code(), Some(7));
    assert_eq!(yoi.pid(), None);
}

#[tokio::test]
async fn a_restart_has_the_same_folder_and_on_request_the_same_port() {
    let folder = tempfile::tempdir().unwrap();
    let launch = Launch::new(&stand_in(folder.path(), READY_AND_WAITING)).arg("--open");
    let mut yoi = launch.start().await;
    let first = yoi.pid();
    yoi.kill9().await;
    yoi.restart_on_same_port().await;
    assert_ne!(yoi.pid(), first);
    let expected = format!("serve --listen 127.0.0.1:4711 --data {} --open", yoi.launch().data_dir().display());
    crate::until_so("the log begins", async || !yoi.log().is_empty()).await;
    assert_eq!(yoi.log(), [format!("started with {expected}")]);
}

#[tokio::test]
async fn a_yoi_whose_port_is_taken_for_a_moment_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let once = folder.path().join("once").display().to_string();
    let lost = "cannot listen on 127.0.0.1:4711: Address already in use (os error 98); choose another address";
    let body = format!("[ -e {once} ] || {{ touch {once}; echo '{lost}' >&2; exit 1; }}\n{READY_AND_WAITING}");
    let yoi = Launch::new(&stand_in(folder.path(), &body)).listen("127.0.0.1:4711").start().await;
    assert_eq!(yoi.base_url(), "http://127.0.0.1:4711");
}

#[tokio::test]
async fn a_yoi_that_ended_by_itself_is_known_with_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let body = "echo \"yoi is ready: http://127.0.0.1:4711/?token=abc\"; exit 9";
    let mut yoi = YoiProcess::start(&stand_in(folder.path(), body)).await;
    crate::until_so("it has ended", async || super::how_it_is(&mut yoi.child) != "it runs").await;
    assert_eq!(super::how_it_is(&mut yoi.child), "it has ended (exit status: 9)");
}

#[tokio::test]
async fn a_start_that_is_refused_tells_status_and_both_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let binary = stand_in(folder.path(), "echo out; echo err >&2; exit 2");
    let failed = Launch::new(&binary).try_start().await.unwrap_err();
    assert_eq!(failed.status.code(), Some(2));
    assert_eq!((failed.stdout, failed.stderr), (vec!["out".to_owned()], vec!["err".to_owned()]));
}

#[tokio::test]
async fn a_launch_hides_the_homes_of_the_machine_and_passes_what_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let binary = stand_in(folder.path(), "env; exit 1");
    let launch = Launch::new(&binary).env("YOI_LOG", "debug");
    let root = launch.work_dir().parent().unwrap().display().to_string();
    let failed = launch.try_start().await.unwrap_err();
    for expected in [format!("HOME={root}/home"), format!("XDG_CONFIG_HOME={root}/config"), "YOI_LOG=debug".to_owned()]
    {
        assert!(failed.stdout.contains(&expected), "{expected} is not in {:#?}", failed.stdout);
    }
}
