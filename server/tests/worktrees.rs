//! Git work trees of Pods, from outside: made, worked in, committed, merged, removed, and everything that is refused on
//! the way.

#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use testkit::{
    repository::{git, repository},
    until_so,
    yoi::{Launch, YoiProcess, pod_path},
};

const YOI: &str = env!("CARGO_BIN_EXE_yoi");

/// A repository with one commit on `main`, and a server beside it.
struct Stage {
    yoi: YoiProcess,
    repository: PathBuf,
}

impl Stage {
    async fn set() -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir().canonicalize().unwrap();
        let repository = repository(&work, "orchard", &[("src/round.txt", "one\ntwo\nthree\n")]);
        Self { yoi: launch.start().await, repository }
    }

    fn body(&self, name: &str, worktree: Value) -> Value {
        json!({ "name": name, "provider": "rehearsal", "model": "rehearsal", "cwd": self.repository, "worktree": worktree })
    }

    async fn make(&self, name: &str, worktree: Value) -> Value {
        self.yoi.post("/api/v1/pods", &self.body(name, worktree)).await.expect(201)
    }

    async fn refused(&self, body: &Value, status: u16, code: &str) -> Value {
        let answer = self.yoi.post("/api/v1/pods", body).await.expect(status);
        assert_eq!(answer["code"], code, "{answer}");
        self.is_untouched();
        answer
    }

    /// No branch, work tree or folder besides the first ones.
    fn is_untouched(&self) {
        assert_eq!(git(&self.repository, &["branch", "--list"]).trim(), "* main");
        assert_eq!(git(&self.repository, &["worktree", "list"]).lines().count(), 1);
        assert!(!self.trees().exists(), "a folder stays behind");
    }

    fn trees(&self) -> PathBuf {
        self.repository.with_file_name("orchard.worktrees")
    }

    async fn detail(&self, pod: &Value) -> Value {
        self.yoi.get(&pod_path(pod)).await.expect(200)
    }

    async fn bash(&self, pod: &Value, command: &str) -> Value {
        let path = format!("{}/tools/Bash", pod_path(pod));
        self.yoi.post(&path, &json!({ "arguments": { "command": command } })).await.expect(200)
    }

    async fn does(&self, pod: &Value, command: &str) -> String {
        let answer = self.bash(pod, command).await;
        assert_eq!(answer["is_error"], false, "{command}: {answer}");
        answer["content"].as_str().unwrap_or_default().to_owned()
    }

    async fn worktree(&self, pod: &Value, body: Value, status: u16) -> Value {
        self.yoi.post(&format!("{}/worktree", pod_path(pod)), &body).await.expect(status)
    }

    async fn commit(&self, pod: &Value, body: Value, status: u16) -> Value {
        self.yoi.post(&format!("{}/changes/commit", pod_path(pod)), &body).await.expect(status)
    }
}

fn head(folder: &Path, named: &str) -> String {
    git(folder, &["rev-parse", named]).trim().to_owned()
}

fn has(folder: &Path, branch: &str) -> bool {
    !git(folder, &["branch", "--list", branch]).is_empty()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_works_commits_and_merges_in_a_work_tree_of_its_own() {
    let stage = Stage::set().await;
    let pod = stage.make("refunds", json!(true)).await;
    let tree = stage.trees().join("refunds");
    assert_eq!(pod["cwd"], json!(tree));
    let git_of = |branch: &str, dirty: bool, ahead: u32| {
        let mut git = json!({ "branch": branch, "dirty": dirty, "ahead": ahead, "behind": 0, "worktree": tree, "from": "main", "repository": "orchard" });
        // One line more, committed or not.
        if dirty || ahead > 0 {
            git["added"] = json!(1);
        }
        git
    };
    assert_eq!(stage.detail(&pod).await["git"], git_of("refunds", false, 0));
    assert_eq!(pod["git"], git_of("refunds", false, 0), "the answer tells it, too");

    // Its own commands commit.
    stage.does(&pod, "echo four >> src/round.txt && git status --short").await;
    // A busy machine may need longer to look at the files than a page waits for it.
    let is_dirty = async || stage.detail(&pod).await["git"] == git_of("refunds", true, 0);
    until_so("the change is seen", is_dirty).await;
    let told = stage.does(&pod, "git commit -qam 'add four' 2>&1").await;
    // git 2.44 and newer also lock the packed branches after a commit, need it for nothing there, and say that they cannot.
    let other: Vec<_> = told.lines().filter(|line| !line.contains("/.git/packed-refs.lock'")).collect();
    assert_eq!(other, Vec::<&str>::new(), "nothing but the commit is tried");
    let is_ahead = async || stage.detail(&pod).await["git"] == git_of("refunds", false, 1);
    until_so("the commit is seen", is_ahead).await;
    assert_eq!(git(&stage.repository, &["log", "-1", "--format=%s %an", "refunds"]).trim(), "add four Ada");

    // A person commits what is changed.
    stage.does(&pod, "echo five >> src/round.txt; echo new > 'a file'; echo x > other").await;
    let refused = stage.worktree(&pod, json!({ "do": "merge" }), 409).await;
    assert_eq!(
        (&refused["code"], &refused["paths"]),
        (&json!("not_committed"), &json!(["src/round.txt", "a file", "other"]))
    );
    let done = stage.commit(&pod, json!({ "message": "add five\n\n# kept", "paths": ["src", "a file"] }), 200).await;
    assert_eq!((&done["branch"], &done["files"]), (&json!("refunds"), &json!(["src/round.txt", "a file"])));
    assert_eq!(done["commit"], head(&stage.repository, "refunds"));
    assert_eq!(git(&stage.repository, &["log", "-1", "--format=%B", "refunds"]).trim(), "add five\n\n# kept");
    for bad in [json!(["other", "gone"]), json!(["../../orchard/src/round.txt"]), json!(["/etc/passwd"])] {
        let refused = stage.commit(&pod, json!({ "message": "x", "paths": bad }), 409).await;
        assert_eq!(refused["code"], "nothing_to_commit", "{refused}");
    }
    stage.commit(&pod, json!({ "message": " \n" }), 400).await;
    stage.commit(&pod, json!({ "message": "x", "paths": [] }), 400).await;
    assert_eq!(stage.commit(&pod, json!({ "message": "the rest" }), 200).await["files"], json!(["other"]));
    assert_eq!(stage.commit(&pod, json!({ "message": "again" }), 409).await["code"], "nothing_to_commit");

    // The main folder follows.
    let merged = stage.worktree(&pod, json!({ "do": "merge" }), 200).await;
    assert_eq!(
        (&merged["done"], &merged["into"], &merged["branch"]),
        (&json!("fast_forward"), &json!("main"), &json!("refunds"))
    );
    assert_eq!(head(&stage.repository, "main"), head(&stage.repository, "refunds"));
    assert_eq!(fs::read_to_string(stage.repository.join("src/round.txt")).unwrap(), "one\ntwo\nthree\nfour\nfive\n");
    assert_eq!(git(&stage.repository, &["status", "--porcelain"]), "");
    assert_eq!(stage.worktree(&pod, json!({ "do": "merge" }), 200).await["done"], "up_to_date");
    let discarded = stage.worktree(&pod, json!({ "do": "discard" }), 200).await;
    assert_eq!(discarded["done"], "discarded");
    assert!(!tree.exists());
    stage.is_untouched();
    assert_eq!(stage.detail(&pod).await["git"], Value::Null);
    assert_eq!(stage.worktree(&pod, json!({ "do": "discard" }), 409).await["code"], "no_worktree");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let stage = Stage::set().await;
    let outside = stage.repository.parent().unwrap();
    let mut body = stage.body("a", json!(true));
    body["cwd"] = json!(outside);
    let refused = stage.refused(&body, 409, "no_repository").await;
    assert!(refused["detail"].as_str().unwrap().contains("choose a folder"), "{refused}");
    for branch in ["", "-b", "a b", "a..b", ".a", "a/", "a.lock", "HEAD", "@{-1}", "refs/heads/x", "a\nb", "a\u{0}b"] {
        stage.refused(&stage.body("a", json!({ "branch": branch })), 400, "invalid_input").await;
    }
    for branch in ["main", "main/x"] {
        stage.refused(&stage.body("a", json!({ "branch": branch })), 409, "name_taken").await;
    }
    for from in ["nowhere", "", "-x", "--all", "main^{tree}", "HEAD:src", "a\nb"] {
        stage.refused(&stage.body("a", json!({ "from": from })), 400, "invalid_input").await;
    }
    for odd in [json!("yes"), json!(1), json!({ "branches": "x" }), json!([])] {
        stage.refused(&stage.body("a", odd), 400, "invalid_input").await;
    }
    // The Pod itself is refused.
    let mut body = stage.body("a", json!(true));
    body["provider"] = json!("nobody");
    stage.refused(&body, 400, "invalid_input").await;
    let mut plain = stage.body("ada", json!(false));
    plain["worktree"] = json!(false);
    let ada = stage.yoi.post("/api/v1/pods", &plain).await.expect(201);
    assert_eq!(ada["cwd"], json!(stage.repository));
    stage.refused(&stage.body("ada", json!(true)), 409, "name_taken").await;
    // A folder that the commit does not have.
    fs::create_dir(stage.repository.join("fresh")).unwrap();
    let mut body = stage.body("a", json!(true));
    body["cwd"] = json!(stage.repository.join("fresh"));
    stage.refused(&body, 400, "invalid_input").await;
    // No commit to begin with.
    git(outside, &["init", "-q", "empty"]);
    body["cwd"] = json!(outside.join("empty"));
    let refused = stage.yoi.post("/api/v1/pods", &body).await.expect(400);
    assert!(refused["detail"].as_str().unwrap().contains("no commit yet"), "{refused}");
    assert!(!outside.join("empty.worktrees").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn names_folders_and_scopes_follow_what_is_asked() {
    let stage = Stage::set().await;
    git(&stage.repository, &["branch", "refunds"]);
    git(&stage.repository, &["tag", "v1"]);
    let one = stage.make("refunds", json!(true)).await;
    assert_eq!(stage.detail(&one).await["git"]["branch"], "refunds-2", "the Pod's name is taken by a branch");
    let two = stage.make("two", json!({ "branch": "fix/round", "from": "v1" })).await;
    let detail = stage.detail(&two).await;
    assert_eq!((&detail["git"]["branch"], &detail["git"]["from"]), (&json!("fix/round"), &Value::Null));
    assert_eq!(detail["cwd"], json!(stage.trees().join("fix-round")));
    let refused = stage.worktree(&two, json!({ "do": "merge" }), 400).await;
    assert!(refused["detail"].as_str().unwrap().contains("`into`"), "{refused}");
    assert_eq!(stage.worktree(&two, json!({ "do": "merge", "into": "main" }), 200).await["done"], "up_to_date");
    stage.worktree(&two, json!({ "do": "merge", "into": "nowhere" }), 400).await;
    // A folder within, with a scope for the folders that everybody knows.
    let mut body = stage.body("three", json!(true));
    body["cwd"] = json!(stage.repository.join("src"));
    body["scope"] = json!([
        { "path": stage.repository.join("src"), "access": "write", "recursive": true },
        { "path": stage.repository.join("secret"), "access": "deny", "recursive": true },
        { "path": "/usr", "access": "read", "recursive": true },
    ]);
    let three = stage.yoi.post("/api/v1/pods", &body).await.expect(201);
    let tree = stage.trees().join("three");
    assert_eq!(three["cwd"], json!(tree.join("src")));
    let scope = stage.detail(&three).await["scope"].clone();
    let paths: Vec<&str> = scope.as_array().unwrap().iter().map(|rule| rule["path"].as_str().unwrap()).collect();
    let expected = [tree.join("src"), tree.join("secret"), stage.repository.join("secret"), PathBuf::from("/usr")];
    assert_eq!(paths, expected.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
    // One from another's work tree comes from its branch.
    let mut body = stage.body("four", json!(true));
    body["cwd"] = one["cwd"].clone();
    let four = stage.yoi.post("/api/v1/pods", &body).await.expect(201);
    assert_eq!((&four["git"]["from"], &four["cwd"]), (&json!("refunds-2"), &json!(stage.trees().join("four"))));
    // The same command again is the same Pod.
    let again = stage.body("five", json!(true));
    let first = stage.yoi.post_with_key("key-5", "/api/v1/pods", &again).await.expect(201);
    let second = stage.yoi.post_with_key("key-5", "/api/v1/pods", &again).await.expect(201);
    assert_eq!(first["pod"], second["pod"]);
    assert!(has(&stage.repository, "five") && !has(&stage.repository, "five-2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_does_all_or_nothing() {
    let stage = Stage::set().await;
    let pod = stage.make("refunds", json!(true)).await;
    stage.does(&pod, "sed -i s/two/zwei/ src/round.txt && git commit -qam zwei").await;
    // Something else on main: a merge commit.
    fs::write(stage.repository.join("other"), "x\n").unwrap();
    git(&stage.repository, &["add", "."]);
    let refused = stage.worktree(&pod, json!({ "do": "merge" }), 409).await;
    assert_eq!((&refused["code"], &refused["paths"]), (&json!("not_committed"), &json!(["other"])));
    git(&stage.repository, &["commit", "-qm", "other"]);
    let merged = stage.worktree(&pod, json!({ "do": "merge" }), 200).await;
    assert_eq!(merged["done"], "merged", "{merged}");
    assert_eq!(head(&stage.repository, "main"), merged["commit"]);
    assert_eq!(git(&stage.repository, &["log", "-1", "--format=%s|%an|%P", "main"]).split(' ').count(), 6);
    assert_eq!(fs::read_to_string(stage.repository.join("src/round.txt")).unwrap(), "one\nzwei\nthree\n");
    assert!(stage.repository.join("other").exists());
    // A conflict.
    fs::write(stage.repository.join("src/round.txt"), "one\ndeux\nthree\n").unwrap();
    git(&stage.repository, &["commit", "-qam", "deux"]);
    stage.does(&pod, "sed -i s/zwei/dos/ src/round.txt && git commit -qam dos").await;
    let before = (head(&stage.repository, "main"), head(&stage.repository, "refunds"));
    let refused = stage.worktree(&pod, json!({ "do": "merge" }), 409).await;
    assert_eq!((&refused["code"], &refused["paths"]), (&json!("merge_conflict"), &json!(["src/round.txt"])));
    assert_eq!((head(&stage.repository, "main"), head(&stage.repository, "refunds")), before);
    assert_eq!(git(&stage.repository, &["status", "--porcelain"]), "");
    assert!(!stage.repository.join(".git/MERGE_HEAD").exists());
    // The Pod solves it; meanwhile main is checked out nowhere.
    stage.bash(&pod, "git merge -q main; sed -i '/^[<=>]/d;/deux/d' src/round.txt; git commit -qam solved").await;
    git(&stage.repository, &["checkout", "-q", "-b", "elsewhere"]);
    assert_eq!(stage.worktree(&pod, json!({ "do": "merge" }), 200).await["done"], "fast_forward");
    assert_eq!(head(&stage.repository, "main"), head(&stage.repository, "refunds"));
    // A file that git does not know and that would be overwritten.
    git(&stage.repository, &["checkout", "-q", "main"]);
    stage.does(&pod, "echo theirs > clash && git add clash && git commit -qm clash").await;
    fs::write(stage.repository.join("clash"), "mine\n").unwrap();
    let refused = stage.worktree(&pod, json!({ "do": "merge" }), 409).await;
    assert_eq!(refused["code"], "not_committed", "{refused}");
    assert_eq!(fs::read_to_string(stage.repository.join("clash")).unwrap(), "mine\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_thrown_away_without_being_asked() {
    let stage = Stage::set().await;
    let pod = stage.make("refunds", json!(true)).await;
    stage.does(&pod, "echo x > new && git add new && git commit -qm 'worth keeping' && echo y > loose").await;
    let refused = stage.worktree(&pod, json!({ "do": "discard" }), 409).await;
    assert_eq!((&refused["code"], &refused["paths"]), (&json!("not_merged"), &json!(["loose"])));
    let told = refused["detail"].as_str().unwrap();
    assert!(told.contains("worth keeping") && told.contains("loose") && told.contains("`force`"), "{told}");
    assert!(stage.trees().join("refunds/loose").exists());
    // Another Pod in the same folder, and this one at work.
    let mut body = stage.body("eve", json!(false));
    body["cwd"] = pod["cwd"].clone();
    let eve = stage.yoi.post("/api/v1/pods", &body).await.expect(201);
    let refused = stage.worktree(&pod, json!({ "do": "discard", "force": true }), 409).await;
    assert!(refused["code"] == "busy" && refused["detail"].as_str().unwrap().contains("eve"), "{refused}");
    stage.yoi.post(&format!("{}/stop", pod_path(&eve)), &json!({})).await.expect(202);
    let input = json!({ "segments": [{ "type": "text", "text": "wait 60" }] });
    stage.yoi.post(&format!("{}/input", pod_path(&pod)), &input).await.expect(202);
    for body in [json!({ "do": "merge" }), json!({ "do": "discard", "force": true })] {
        assert_eq!(stage.worktree(&pod, body, 409).await["code"], "busy");
    }
    stage.yoi.post(&format!("{}/cancel", pod_path(&pod)), &json!({})).await.expect(202);
    stage.worktree(&pod, json!({ "do": "discard", "force": true }), 200).await;
    stage.is_untouched();
    for odd in [json!({}), json!({ "do": "burn" }), json!({ "do": "merge", "x": 1 })] {
        assert_eq!(stage.worktree(&pod, odd, 400).await["code"], "invalid_input");
    }
    // A deleted Pod takes what is nowhere else not with it.
    let full = stage.make("full", json!(true)).await;
    stage.does(&full, "echo x > new").await;
    let empty = stage.make("empty", json!(true)).await;
    for (pod, name) in [(&full, "full"), (&empty, "empty")] {
        stage.yoi.delete(&format!("{}?confirm={name}", pod_path(pod))).await.expect(204);
    }
    assert!(stage.trees().join("full/new").exists() && has(&stage.repository, "full"));
    assert!(!stage.trees().join("empty").exists() && !has(&stage.repository, "empty"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_without_a_work_tree_commits_what_it_may_write() {
    let stage = Stage::set().await;
    let mut body = stage.body("ada", json!(false));
    body["scope"] = json!([{ "path": stage.repository.join("src"), "access": "write", "recursive": true }]);
    let ada = stage.yoi.post("/api/v1/pods", &body).await.expect(201);
    fs::write(stage.repository.join("src/round.txt"), "by ada\n").unwrap();
    fs::write(stage.repository.join("mine"), "not hers\n").unwrap();
    git(&stage.repository, &["add", "mine"]);
    fs::create_dir_all(stage.repository.join(".git/hooks")).unwrap();
    let hook = stage.repository.join(".git/hooks/pre-commit");
    fs::write(&hook, "#!/bin/sh\ntouch \"$(git rev-parse --git-dir)/ran\"\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let done = stage.commit(&ada, json!({ "message": "round" }), 200).await;
    assert_eq!((&done["files"], &done["branch"]), (&json!(["src/round.txt"]), &json!("main")));
    assert_eq!(git(&stage.repository, &["status", "--porcelain"]).trim(), "A  mine", "what was staged stays staged");
    assert!(!stage.repository.join(".git/ran").exists());
    assert_eq!(stage.commit(&ada, json!({ "message": "again" }), 409).await["code"], "nothing_to_commit");
    // In no repository.
    let mut body = stage.body("eve", json!(false));
    body["cwd"] = json!(stage.repository.parent().unwrap());
    let eve = stage.yoi.post("/api/v1/pods", &body).await.expect(201);
    assert_eq!(stage.commit(&eve, json!({ "message": "x" }), 409).await["code"], "no_repository");
    assert_eq!(stage.worktree(&eve, json!({ "do": "merge" }), 409).await["code"], "no_worktree");
}

#[tokio::test]
async fn a_commit_of_which_the_record_was_lost_is_found_again() {
    let stage = Stage::set().await;
    let pod = stage.make("ada", Value::Null).await;
    fs::write(stage.repository.join("new.txt"), "new").unwrap();
    let body = json!({ "message": "add new" });
    let path = |pod: &Value| format!("{}/changes/commit", pod_path(pod));
    let first = stage.yoi.post_with_key("k1", &path(&pod), &body).await.expect(200);
    assert_eq!(first["files"], json!(["new.txt"]));
    // A server that knows nothing of it, as after a crash between the commit and its record.
    let other = Launch::new(YOI).start().await;
    let pod = other.post("/api/v1/pods", &stage.body("ada", Value::Null)).await.expect(201);
    fs::write(stage.repository.join("later.txt"), "later").unwrap();
    assert_eq!(other.post_with_key("k1", &path(&pod), &body).await.expect(200), first);
    let next = other.post_with_key("k2", &path(&pod), &body).await.expect(200);
    assert_eq!(next["files"], json!(["later.txt"]), "another command is another commit");
    assert_eq!(git(&stage.repository, &["rev-list", "--count", "HEAD"]).trim(), "3");
    assert_eq!(
        git(&stage.repository, &["log", "-1", "--format=%B"]).trim(),
        "add new",
        "the message has nothing added"
    );
}
