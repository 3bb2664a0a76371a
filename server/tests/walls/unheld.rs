//! If the kernel cannot create namespaces, no rule allows a command: each one is asked for, with the reason.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use testkit::yoi::{Launch, YoiProcess, pod_path, until};

use crate::YOI;

/// The kernel's refusal, whichever program it was for.
const REASON: &str = "user.max_user_namespaces";

/// Starts yoi where no more user namespaces can be created, inside one where it can set that limit.
fn without_namespaces(folder: &Path) -> PathBuf {
    let script = folder.join("without-namespaces");
    let text = format!(
        "#!/bin/sh\nexec unshare --user --map-root-user sh -c \
         'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"' '{YOI}' \"$@\"\n"
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

async fn question(yoi: &YoiProcess, pod: &Value, known: &Value) -> Value {
    until("a new question", async || {
        let open = yoi.get(&format!("{}/approvals", pod_path(pod))).await.expect(200);
        let question = &open["items"][0];
        (question.is_object() && question["id"] != known["id"]).then(|| question.clone())
    })
    .await
}

#[tokio::test]
async fn where_the_kernel_makes_no_namespaces_each_command_is_asked_for_and_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let yoi = Launch::new(YOI).binary(&without_namespaces(folder.path())).start().await;
    let work = tempfile::tempdir().unwrap();
    let rules = json!([{ "tool": "Bash", "match": "*", "decision": "allow" }]);
    let body = json!({ "name": "ada", "provider": "rehearsal", "cwd": work.path() });
    let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
    yoi.patch(&pod_path(&pod), &json!({ "permissions": rules })).await.expect(200);

    // Twice: an answer applies to one command.
    let mut asked = Value::Null;
    for round in ["one", "two"] {
        let call = json!({ "command": format!("echo ran > {round}") });
        yoi.say(&pod, &format!("call Bash {call}\nsay went on")).await;
        asked = question(&yoi, &pod, &asked).await;
        assert_eq!((&asked["tool"], &asked["arguments"]), (&json!("Bash"), &call));
        let effect = asked["effect"].as_str().unwrap();
        assert!(effect.contains("cannot sandbox commands") && effect.contains(REASON), "{asked}");
        assert!(!work.path().join(round).exists(), "it ran before it was allowed");
        let id = asked["id"].as_str().unwrap();
        let path = format!("{}/approvals/{id}", pod_path(&pod));
        yoi.post(&path, &json!({ "decision": "allow" })).await.expect(200);
        until("the end of the run", async || {
            let pod = yoi.get(&pod_path(&pod)).await.expect(200);
            (pod["state"] == "idle").then_some(())
        })
        .await;
        assert!(work.path().join(round).exists(), "it was allowed, and ran");
    }
    let walls = yoi.get("/api/v1/walls").await.expect(200).to_string();
    assert!(walls.contains(REASON), "{walls}");

    let doctor = yoi.launch().command().args(["doctor", "--no-test", "--data"]).arg(yoi.launch().data_dir()).output();
    let doctor = String::from_utf8(doctor.await.unwrap().stdout).unwrap();
    let is_told = |line: &str| line.contains("each command needs approval") && line.contains(REASON);
    assert!(doctor.lines().any(is_told), "{doctor}");
}
