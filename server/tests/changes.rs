//! What a Pod changed on the disk, against the built binary: hunks, reverting, a review, and rewinding with files.

#![allow(clippy::unwrap_used)]

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use serde_json::{Value, json};
use testkit::{
    browser::Browser,
    yoi::{Launch, YoiProcess, pod_path},
};
use thirtyfour::Key;

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A running yoi with one Pod whose Bash and Write need no approval, and the Pod's folder.
struct World {
    yoi: YoiProcess,
    pod: Value,
    path: String,
    work: std::path::PathBuf,
}

impl World {
    async fn start(prepare: impl FnOnce(&Path)) -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir();
        prepare(&work);
        let yoi = launch.start().await;
        let pod = yoi.new_pod("ada").await;
        let rules = ["Bash", "Write", "Edit"].map(|tool| json!({ "tool": tool, "decision": "allow" }));
        yoi.patch(&pod_path(&pod), &json!({ "permissions": rules })).await.expect(200);
        let path = pod_path(&pod);
        Self { yoi, pod, path, work }
    }

    /// The Pod's model does these lines as one turn.
    async fn turn(&self, lines: &str) {
        let mut socket = self.yoi.events().await;
        socket.subscribe("a", &self.pod, None).await;
        let receipt = self.yoi.say(&self.pod, lines).await;
        let (mut begun, id) = (false, receipt["command_id"].clone());
        socket
            .records_until("a", |record| {
                begun |= record["event"]["command_id"] == id;
                begun && record["event"]["kind"] == "run_finished"
            })
            .await;
        socket.close().await;
        self.settle().await;
    }

    /// Waits until the Pod is idle.
    async fn settle(&self) {
        let mut socket = self.yoi.events().await;
        socket.subscribe_pods("pods").await;
        socket
            .wait_for(|frame| {
                let pods = frame["upserts"].as_array().into_iter().flatten();
                pods.into_iter().any(|one| one["pod"] == self.pod["pod"] && one["state"] == "idle")
            })
            .await;
    }

    async fn bash(&self, command: &str) {
        let body = json!({ "arguments": { "command": command } });
        let ran = self.yoi.post(&format!("{}/tools/Bash", self.path), &body).await.expect(200);
        assert_eq!(ran["is_error"], false, "{ran:#}");
    }

    async fn changes(&self, since: &str) -> Value {
        self.yoi.get(&format!("{}/changes{since}", self.path)).await.expect(200)
    }

    async fn post(&self, rest: &str, body: Value) -> testkit::yoi::Answer {
        self.yoi.post(&format!("{}/{rest}", self.path), &body).await
    }

    async fn head(&self) -> i64 {
        self.yoi.get(&self.path).await.expect(200)["head_seq"].as_i64().unwrap()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.work.join(path)).unwrap()
    }

    /// The page of its changes since the start.
    async fn page(&self) -> Browser {
        let browser = Browser::open(&self.yoi, 1440, 900).await;
        let worker_id = self.pod["pod"]["worker_id"].as_str().unwrap();
        browser.goto_page(&self.yoi, &format!("/pods/local/{worker_id}/changes?since=start")).await;
        browser
    }

    fn put(&self, path: &str, content: &str) {
        fs::write(self.work.join(path), content).unwrap();
    }
}

fn numbered(count: usize) -> String {
    (1..=count).map(|line| format!("{line}\n")).collect()
}

fn summary(changes: &Value) -> Vec<(String, String)> {
    let files = changes["files"].as_array().unwrap().iter();
    let text = |file: &Value, name: &str| file[name].as_str().unwrap().to_owned();
    files.map(|file| (text(file, "path"), text(file, "status"))).collect()
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, status)| ((*path).to_owned(), (*status).to_owned())).collect()
}

#[tokio::test]
async fn what_bash_did_is_shown_as_hunks_and_taken_back_hunk_by_hunk() {
    let world = World::start(|work| {
        fs::write(work.join("long.txt"), numbered(40)).unwrap();
        fs::write(work.join("gone.txt"), "x\n").unwrap();
        fs::write(work.join("data.bin"), b"a\0b").unwrap();
    })
    .await;
    assert_eq!(world.changes("").await["files"], json!([]), "it has done nothing yet");
    world.turn("call Bash {\"command\": \"sed -i -e 's/^5$/five/' -e 's/^30$/thirty/' long.txt; rm gone.txt; mkdir -p new; echo hi > new/a.txt; printf 'c\\\\0d' > data.bin\"}").await;
    let changes = world.changes("?since=start").await;
    assert_eq!(
        summary(&changes),
        pairs(&[("data.bin", "modified"), ("gone.txt", "deleted"), ("long.txt", "modified"), ("new/a.txt", "added")])
    );
    let long = &changes["files"][2];
    assert_eq!((&long["added"], &long["removed"], long["hunks"].as_array().unwrap().len()), (&json!(2), &json!(2), 2));
    assert_eq!(long["hunks"][0]["old_start"], 2);
    assert_eq!(long["hunks"][0]["lines"], json!([" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]));
    assert_eq!((&changes["files"][0]["binary"], &changes["files"][0]["hunks"]), (&json!(true), &json!([])));
    assert_eq!(world.changes("?since=turn").await["files"], changes["files"]);

    let hunk = long["hunks"][0]["id"].clone();
    let later = long["hunks"][1]["id"].clone();
    let done = world.post("changes/revert", json!({ "path": "long.txt", "hunk": hunk })).await.expect(200);
    assert_eq!(world.read("long.txt"), numbered(40).replace("\n30\n", "\nthirty\n"));
    let again = world.post("changes/revert", json!({ "path": "long.txt", "hunk": hunk })).await;
    assert_eq!(again.expect_error(409), "changed");
    assert_eq!(world.changes("").await["files"][2]["hunks"][0]["id"], later, "the other one keeps its id");
    let undo = json!({ "path": "long.txt", "before": done["before"], "after": done["after"] });
    world.post("changes/undo", undo.clone()).await.expect(200);
    assert!(world.read("long.txt").contains("five"));
    assert_eq!(world.post("changes/undo", undo).await.expect_error(409), "changed");

    // Whole files, each as it was.
    for path in ["gone.txt", "new/a.txt", "data.bin", "long.txt"] {
        world.post("changes/revert", json!({ "path": path })).await.expect(200);
    }
    assert_eq!((world.read("gone.txt"), world.read("long.txt")), ("x\n".to_owned(), numbered(40)));
    assert_eq!(fs::read(world.work.join("data.bin")).unwrap(), b"a\0b");
    assert!(!world.work.join("new/a.txt").exists());
    assert_eq!(world.changes("").await["files"], json!([]));
}

#[tokio::test]
async fn a_revert_is_refused_where_the_file_is_another_one_or_is_none_of_the_pods() {
    let world = World::start(|work| {
        fs::write(work.join("a.txt"), "1\n").unwrap();
        fs::write(work.join("same.txt"), "same\n").unwrap();
    })
    .await;
    let outside = world.work.with_file_name("outside.txt");
    fs::write(&outside, "secret\n").unwrap();
    world.bash("echo 2 > a.txt").await;
    symlink(&outside, world.work.join("link")).unwrap();
    world.changes("").await;
    world.put("a.txt", "mine\n");
    let revert = |path: &str| json!({ "path": path });
    assert_eq!(world.post("changes/revert", revert("a.txt")).await.expect_error(409), "changed");
    assert_eq!(world.read("a.txt"), "mine\n");
    assert_eq!(world.post("changes/revert", revert("same.txt")).await.expect_error(409), "changed");
    assert_eq!(world.post("changes/revert", revert("nothing.txt")).await.expect_error(404), "not_found");
    for path in ["../outside.txt", "/etc/passwd", outside.to_str().unwrap()] {
        assert_eq!(world.post("changes/revert", revert(path)).await.expect_error(403), "scope_not_held", "{path}");
    }
    for path in ["", "a\0b"] {
        assert_eq!(world.post("changes/revert", revert(path)).await.expect_error(400), "invalid_input");
    }
    let linked = world.post("changes/revert", revert("link")).await;
    assert!(matches!(linked.status, 400 | 403), "{linked:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret\n");
    let listed = world.changes("").await;
    assert_eq!(summary(&listed), pairs(&[("a.txt", "modified"), ("link", "added")]));
    assert_eq!(listed["files"][1]["others"], true);
    assert_eq!(world.yoi.get(&format!("{}/changes?since=ever", world.path)).await.expect_error(400), "invalid_input");
}

#[tokio::test]
async fn a_review_is_one_message_that_quotes_the_lines() {
    let world = World::start(|_| ()).await;
    world.bash("printf 'let a = 1;\\nlet b = 2;\\n' > a.rs").await;
    let comments =
        json!([{ "path": "a.rs", "line": 2, "text": "Why 2?" }, { "path": "b.rs", "line": 1, "text": "Missing" }]);
    let receipt = world.post("changes/review", json!({ "comments": comments, "text": "Thanks" })).await.expect(202);
    world.settle().await;
    let journal = world.yoi.journal(&world.pod).await;
    let message = journal.iter().find(|record| {
        record["event"]["command_id"] == receipt["command_id"] && record["event"]["kind"] == "user_message"
    });
    let text = message.unwrap()["event"]["segments"][0]["text"].as_str().unwrap();
    assert!(text.contains("a.rs:2\n> let b = 2;\nWhy 2?") && text.contains("b.rs:1\nMissing"), "{text}");
    assert!(text.ends_with("Thanks"), "{text}");
    for (body, code) in [
        (json!({ "comments": [] }), 400),
        (json!({ "comments": [{ "path": "a.rs", "line": 0, "text": "x" }] }), 400),
        (json!({ "comments": [{ "path": "a.rs", "line": 1, "text": " " }] }), 400),
        (json!({ "comments": [{ "path": "/etc/passwd", "line": 1, "text": "x" }] }), 403),
    ] {
        assert_eq!(world.post("changes/review", body.clone()).await.status, code, "{body}");
    }
}

#[tokio::test]
async fn a_rewind_brings_files_back_and_never_over_what_others_did() {
    let world = World::start(|work| fs::write(work.join("a.txt"), "0\n").unwrap()).await;
    world.turn("call Write {\"path\": \"first.txt\", \"content\": \"1\\n\"}").await;
    let before = world.head().await;
    world.turn("call Bash {\"command\": \"echo 1 > a.txt; echo new > b.txt\"}").await;
    world.put("mine.txt", "mine\n");

    let preview = world.yoi.get(&format!("{}/rewind/preview?to_seq={before}", world.path)).await.expect(200);
    let files: Vec<&str> =
        preview["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["a.txt", "b.txt"]);
    assert_eq!(preview["messages"][0]["kind"], "user_message");
    for to in ["0", "-1", "x", "99999", ""] {
        assert_eq!(
            world.yoi.get(&format!("{}/rewind/preview?to_seq={to}", world.path)).await.expect_error(400),
            "invalid_input"
        );
    }

    world.put("b.txt", "changed by hand\n");
    let rewind = |head: i64, overwrite: bool| json!({ "to_seq": before, "expected_head": head, "files": true, "overwrite": overwrite });
    let head = world.head().await;
    let refused = world.post("rewind", rewind(head, false)).await.expect(409);
    assert_eq!((&refused["code"], &refused["paths"]), (&json!("files_changed"), &json!(["b.txt"])));
    assert_eq!((world.read("a.txt"), world.head().await), ("1\n".to_owned(), head), "nothing has happened");
    assert_eq!(world.post("rewind", rewind(head + 7, true)).await.expect_error(409), "head_moved");
    assert_eq!(world.read("a.txt"), "1\n");

    world.post("rewind", rewind(head, true)).await.expect(202);
    assert_eq!((world.read("a.txt"), world.read("first.txt")), ("0\n".to_owned(), "1\n".to_owned()));
    assert!(!world.work.join("b.txt").exists());
    assert_eq!(world.read("mine.txt"), "mine\n");
}

#[tokio::test]
async fn snapshots_survive_kill_9_in_the_midst_of_a_command_and_go_with_the_pod() {
    let mut world = World::start(|work| fs::write(work.join("a.txt"), "0\n").unwrap()).await;
    let mut socket = world.yoi.events().await;
    socket.subscribe("a", &world.pod, None).await;
    world.yoi.say(&world.pod, "call Bash {\"command\": \"echo 1 > a.txt; echo done; sleep 300\"}").await;
    socket.wait_for(|frame| frame.to_string().contains("tool_output_chunk")).await;
    world.yoi.kill9().await;
    world.yoi.restart().await;
    let changes = world.changes("").await;
    assert_eq!(summary(&changes), pairs(&[("a.txt", "modified")]));
    assert_eq!(changes["files"][0].get("others"), None, "the command that was cut off did it");
    let snapshots = world.yoi.launch().data_dir().join("snapshots");
    assert_eq!(fs::read_dir(&snapshots).unwrap().count(), 1);
    // Half a line, as a kill leaves it.
    let log = fs::read_dir(&snapshots).unwrap().next().unwrap().unwrap().path().join("log");
    let whole = fs::read(&log).unwrap();
    fs::write(&log, [&whole[..], b"{\"seq\":9,\"at\""].concat()).unwrap();
    world.bash("echo 2 > b.txt").await;
    assert_eq!(summary(&world.changes("").await), pairs(&[("a.txt", "modified"), ("b.txt", "added")]));
    world.yoi.delete(&format!("{}?confirm=ada", world.path)).await.expect(204);
    assert_eq!(fs::read_dir(&snapshots).unwrap().count(), 0);
}

#[tokio::test]
async fn in_a_repository_ignored_files_are_left_out_and_a_branch_is_compared_with_its_beginning() {
    let git = |work: &Path, arguments: &[&str]| {
        let names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
        assert!(Command::new("git").current_dir(work).args(names).args(arguments).status().unwrap().success());
    };
    let world = World::start(|work| {
        git(work, &["init", "-q"]);
        fs::write(work.join("a.txt"), "1\n").unwrap();
        fs::write(work.join(".gitignore"), "target/\n").unwrap();
        git(work, &["add", "."]);
        git(work, &["commit", "-qm", "one"]);
        git(work, &["checkout", "-qb", "work"]);
        fs::write(work.join("before.txt"), "x\n").unwrap();
        git(work, &["add", "."]);
        git(work, &["commit", "-qm", "two"]);
    })
    .await;
    world.bash("echo 2 > a.txt; mkdir -p target node_modules; echo x > target/x; echo x > node_modules/x").await;
    assert_eq!(summary(&world.changes("").await), pairs(&[("a.txt", "modified")]));
    let branch = world.changes("?since=branch").await;
    assert_eq!(summary(&branch), pairs(&[("a.txt", "modified"), ("before.txt", "added")]));
    world.post("changes/revert", json!({ "path": "before.txt", "since": "branch" })).await.expect(200);
    assert!(!world.work.join("before.txt").exists());
}

#[tokio::test]
async fn the_command_line_prints_a_diff_that_git_understands() {
    let world = World::start(|work| fs::write(work.join("a.txt"), numbered(9)).unwrap()).await;
    world.bash("sed -i s/5/five/ a.txt").await;
    let run = async |arguments: &[&str]| {
        let mut command = world.yoi.launch().command();
        command.args(arguments).arg("--data").arg(world.yoi.launch().data_dir());
        command.output().await.unwrap()
    };
    let done = run(&["changes", "ada"]).await;
    let diff = String::from_utf8(done.stdout).unwrap();
    assert!(
        diff.starts_with("--- a/a.txt\n+++ b/a.txt\n@@ -2,7 +2,7 @@ "),
        "{diff} {}",
        String::from_utf8_lossy(&done.stderr)
    );
    let id = diff.lines().nth(2).unwrap().rsplit(' ').next().unwrap();
    assert!(run(&["revert", "ada", "a.txt", "--hunk", id]).await.status.success());
    assert_eq!(world.read("a.txt"), numbered(9));
    assert!(!run(&["revert", "ada", "a.txt", "--hunk", id]).await.status.success());
}

#[tokio::test]
async fn browser_a_revert_needs_the_focus_asks_before_it_deletes_and_is_undone_after_a_reload() {
    let world = World::start(|work| fs::write(work.join("long.txt"), numbered(40)).unwrap()).await;
    world.bash("sed -i 's/^5$/five/' long.txt; echo hi > new.txt").await;
    let browser = world.page().await;
    browser.wait_text(".changes-counts", "2 files").await;
    // While no hunk has the focus, the key only goes to one.
    browser.shortcut("x").await;
    browser.wait_focus("hunk-0-0").await;
    assert!(world.read("long.txt").contains("five"));
    browser.keys("x").await;
    browser.wait_text(".changes-counts", "1 file").await;
    assert_eq!(world.read("long.txt"), numbered(40));
    browser.shortcut("x").await;
    browser.wait_focus("hunk-0-0").await;
    assert_eq!(world.read("new.txt"), "hi\n");

    // The only one left is new: to take it back deletes it.
    browser.keys("x").await;
    browser.wait_focus("revert-sure").await;
    browser.keys(Key::Escape + "").await;
    browser.wait_focus("hunk-0-0").await;
    assert_eq!(world.read("new.txt"), "hi\n");

    browser.reload().await;
    browser.wait_live().await;
    browser.press_button("Undo revert").await;
    browser.wait_text(".changes-counts", "2 files").await;
    assert!(world.read("long.txt").contains("five"));
    browser.press("#file-1 .change-acts button").await;
    browser.wait_focus("revert-sure").await;
    browser.keys(Key::Enter + "").await;
    browser.wait_text(".changes-counts", "1 file").await;
    assert!(!world.work.join("new.txt").exists());
    browser.no_errors().await;
    browser.quit().await;
}

#[tokio::test]
async fn browser_what_changes_while_the_changes_are_on_screen_is_told() {
    let world = World::start(|_| ()).await;
    let browser = world.page().await;
    browser.wait_text(".changes-none", "Nothing has changed").await;
    world.turn("call Write {\"path\": \"one.txt\", \"content\": \"1\\n\"}").await;
    browser.wait_text(".changes-counts", "1 file").await;
    // What is being read stays until one asks.
    world.turn("call Write {\"path\": \"two.txt\", \"content\": \"2\\n\"}").await;
    browser.wait_text(".changes-meanwhile", "ada has changed files meanwhile.").await;
    browser.press_button("Look again").await;
    browser.wait_text(".changes-counts", "2 files").await;
    browser.wait_until("nothing more is told", async |browser| browser.is_absent(".changes-meanwhile").await).await;
    browser.no_errors().await;
    browser.quit().await;
}
