//! A Pod in a git work tree of its own writes objects and branches of a repository that others work in. It tries to make
//! git run something for them, or show it what is closed to it.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use testkit::{
    repository::{git, repository},
    yoi::{Launch, YoiProcess, pod_path},
};

use crate::{Tally, YOI};

struct Stage {
    yoi: YoiProcess,
    pod: Value,
    /// The main folder, which the Pod's scope does not have.
    main: PathBuf,
    /// Another repository, closed to the Pod.
    secret: PathBuf,
    /// Where something that ran outside would leave a trace.
    mark: PathBuf,
}

impl Stage {
    async fn set() -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir().canonicalize().unwrap();
        let (main, secret, mark) = (work.join("main"), work.join("secret"), work.join("mark"));
        for (name, text) in [("main", "one\n"), ("secret", "closed\n")] {
            repository(&work, name, &[("a", text)]);
        }
        git(&main, &["worktree", "add", "-q", "-b", "other", work.join("other").to_str().unwrap()]);
        let yoi = launch.start().await;
        let body =
            json!({ "name": "ada", "provider": "rehearsal", "model": "rehearsal", "cwd": main, "worktree": true });
        let pod = yoi.post("/api/v1/pods", &body).await.expect(201);
        Self { yoi, pod, main, secret, mark }
    }

    async fn bash(&self, command: &str) -> Value {
        let path = format!("{}/tools/Bash", pod_path(&self.pod));
        self.yoi.post(&path, &json!({ "arguments": { "command": command } })).await.body
    }

    async fn post(&self, rest: &str, body: Value) -> Value {
        self.yoi.post(&format!("{}/{rest}", pod_path(&self.pod)), &body).await.body
    }

    fn own(&self) -> PathBuf {
        self.main.join(".git/worktrees/ada")
    }

    fn tree(&self) -> PathBuf {
        PathBuf::from(self.pod["cwd"].as_str().unwrap())
    }

    /// What a person does in both folders: whatever git has been made to run, runs here.
    fn work_as_a_person(&self) -> Option<String> {
        let tree = self.tree();
        for folder in [self.main.as_path(), &tree] {
            for words in [&["status"][..], &["log", "-1", "-p"], &["diff"], &["branch", "-a"]] {
                let _ = std::process::Command::new("git").current_dir(folder).args(words).output();
            }
        }
        self.ran()
    }

    fn ran(&self) -> Option<String> {
        self.mark.exists().then(|| {
            let _ = fs::remove_file(&self.mark);
            "something ran outside".to_owned()
        })
    }
}

/// Every file and link beneath a folder, with what it says.
fn all_of(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        match kind.is_dir() {
            true => found.extend(all_of(&path)),
            false if kind.is_symlink() => found.push((path.clone(), format!("{:?}", fs::read_link(&path)))),
            false => {
                found.push((path.clone(), String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()))
            }
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_in_a_work_tree_change_nothing_that_makes_git_run_something() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("the repository of a work tree");
    let (common, own) = (stage.main.join(".git"), stage.own());
    let mark = stage.mark.display();
    // What is to be written works, also as git does it.
    let worked = stage
        .bash(&format!(
            "echo two >> a && git commit -qam two && git branch spare && git stash list && touch {0}/objects/x {0}/refs/x {1}/x && rm {0}/objects/x {0}/refs/x {1}/x",
            common.display(), own.display()
        ))
        .await;
    assert_eq!(worked["is_error"], false, "{worked}");
    let evil = format!("[core]\n\tfsmonitor = \"touch {mark};false\"\n\tpager = \"touch {mark};cat\"\n");
    let places = [
        "config",
        "hooks/pre-commit",
        "hooks/post-checkout",
        "hooks/reference-transaction",
        "info/attributes",
        "info/exclude",
        "info/grafts",
        "config.worktree",
        "commondir",
        "HEAD",
        "packed-refs",
        "index",
        "description",
        "shallow",
        "objects/info/alternates",
        "objects/info/http-alternates",
        "refs/replace/x",
        "worktrees/ada/commondir",
        "worktrees/ada/gitdir",
        "worktrees/ada/config.worktree",
        "worktrees/ada/hooks/pre-commit",
        "worktrees/other/HEAD",
        "worktrees/other/gitdir",
        "worktrees/other/config.worktree",
        "worktrees/other/index",
        "worktrees/new/HEAD",
        "modules/lib/config",
    ];
    for place in places {
        let at = common.join(place);
        let before = fs::read(&at).ok();
        let (path, folder) = (at.display(), at.parent().unwrap().display());
        for (way, command) in [
            ("a redirect", format!("mkdir -p {folder}; printf '%s' '{evil}' > {path}")),
            (
                "a move over it",
                format!(
                    "printf '%s' '{evil}' > $TMPDIR/d; mkdir -p {folder}; mv -f $TMPDIR/d {path}; printf '%s' '{evil}' > {folder}/d; mv -f {folder}/d {path}"
                ),
            ),
            ("a link", format!("mkdir -p {folder}; ln -sfn $PWD/a {path}; ln -f a {path}")),
            (
                "its folder moved away",
                format!("mv {folder} {folder}.away; mkdir -p {folder}; printf '%s' '{evil}' > {path}"),
            ),
            ("its removal", format!("rm -rf {path}")),
        ] {
            stage.bash(&format!("({command}) 2>&1")).await;
            let now = fs::read(&at).ok();
            let changed = (now != before)
                .then(|| format!("{path} says {:?}", now.map(|now| String::from_utf8_lossy(&now).into_owned())));
            tally.note(&format!("{place} by {way}"), changed);
        }
    }
    tally.note("what a person does afterwards", stage.work_as_a_person());
    tally.finish(130);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_in_a_work_tree_lead_git_nowhere_else() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("ways from a work tree to elsewhere");
    let (common, own, secret) = (stage.main.join(".git"), stage.own(), stage.secret.display());
    let (at, own_at) = (common.display(), own.display());
    let victim = stage.main.parent().unwrap().join("victim");
    fs::write(&victim, "mine\n").unwrap();
    let to = victim.display();
    let blob = git(&stage.secret, &["rev-parse", "HEAD:a"]);
    for (attack, command) in [
        ("a log that is a link", format!("rm -f {at}/logs/refs/heads/main; ln -s {to} {at}/logs/refs/heads/main")),
        ("a link moved to the logs", format!("ln -s {to} l; mv l {at}/logs/refs/heads/main")),
        ("a hard link to elsewhere", format!("ln {to} {at}/logs/refs/heads/main")),
        ("a branch that is a link", format!("ln -sfn {to} {at}/refs/heads/l; ln -sfn {to} {at}/refs/heads/main")),
        ("a folder of branches that is a link", format!("ln -sfn {} {at}/refs/heads/d", stage.main.display())),
        ("an index that is a link", format!("ln -sfn {to} {own_at}/index")),
        ("a HEAD that is a link", format!("ln -sfn {to} {own_at}/HEAD")),
        ("an object that is a link", format!("mkdir -p {at}/objects/aa; ln -s {to} {at}/objects/aa/x")),
        ("a pipe in place of a log", format!("rm -f {at}/logs/HEAD; mkfifo {at}/logs/HEAD {at}/refs/heads/p")),
        (
            "a socket in place of a branch",
            format!("python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('{at}/refs/heads/s')\""),
        ),
        ("a work tree whose folder moves", "mv $PWD $PWD.away; mkdir $PWD; git init -q .".to_owned()),
        ("another git file", format!("rm -f .git; echo 'gitdir: {secret}/.git' > .git; ln -sfn {secret}/.git .git")),
        (
            "a work tree that is its own repository",
            format!(
                "mkdir -p {own_at}/objects {own_at}/refs; rm -f {own_at}/commondir; printf '[core]\\n\\tfsmonitor = touch {}\\n' > {own_at}/config",
                stage.mark.display()
            ),
        ),
    ] {
        let before = fs::read_to_string(&victim).unwrap();
        stage.bash(&format!("({command}) 2>&1")).await;
        let links: Vec<_> = all_of(&common)
            .into_iter()
            .filter(|(path, _)| {
                let kind = path.symlink_metadata().map(|kind| kind.file_type());
                kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
            })
            .collect();
        let changed = fs::read_to_string(&victim).unwrap() != before;
        let leads = !own.join("commondir").is_file()
            || !fs::read_to_string(stage.tree().join(".git")).unwrap_or_default().contains("worktrees/ada");
        let through = (!links.is_empty() || changed || leads).then(|| format!("{links:?} {changed} {leads}"));
        tally.note(attack, through.or_else(|| stage.work_as_a_person()));
    }
    // Objects of a repository that is closed to the Pod.
    let shown = stage.bash(&format!("git cat-file -p {}; GIT_ALTERNATE_OBJECT_DIRECTORIES={secret}/.git/objects git cat-file -p {}; git -C {secret} log", blob.trim(), blob.trim())).await;
    tally.note(
        "objects of another repository",
        shown["content"].as_str().unwrap_or_default().contains("closed").then(|| shown.to_string()),
    );
    tally.finish(14);
}

/// Every hook that a commit, a merge or a checkout would run.
const HOOKS: [&str; 9] = [
    "pre-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-commit",
    "post-checkout",
    "post-merge",
    "pre-merge-commit",
    "reference-transaction",
    "post-index-change",
];

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_does_with_git_runs_nothing_outside() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("git as the server runs it");
    // The person's own settings name programs in the repository; the Pod writes them.
    let mark = stage.mark.display().to_string();
    for (name, program) in [
        ("filter.x.clean", "./run"),
        ("filter.x.smudge", "./run"),
        ("diff.x.textconv", "./run"),
        ("diff.x.command", "./run"),
        ("merge.x.driver", "./run %A %O %B"),
        ("core.fsmonitor", "./run"),
        ("core.hooksPath", "hooks"),
        ("core.editor", "./run"),
        ("core.pager", "./run"),
        ("gpg.program", "./run"),
        ("commit.gpgSign", "true"),
        ("core.sshCommand", "./run"),
        ("credential.helper", "!./run"),
    ] {
        git(&stage.main, &["config", name, program]);
    }
    let script = format!("#!/bin/sh\ntouch '{mark}'\ntouch \"$HOME/ran\" 2>/dev/null\ncat\n");
    let write = |path: &str| {
        format!(
            "mkdir -p hooks; printf '%s' \"{}\" > {path}; chmod +x {path}",
            script.replace('"', "\\\"").replace('$', "\\$")
        )
    };
    let mut commands =
        vec![write("run"), "echo '* filter=x diff=x merge=x' > .gitattributes".to_owned(), "echo more >> a".to_owned()];
    commands.extend(HOOKS.map(|hook| write(&format!("hooks/{hook}"))));
    let made = stage.bash(&commands.join(" && ")).await;
    assert_eq!(made["is_error"], false, "{made}");
    tally.note("its own commands", stage.ran());
    stage.yoi.get(&pod_path(&stage.pod)).await.expect(200);
    tally.note("opening the Pod", stage.ran());
    let committed = stage.post("changes/commit", json!({ "message": "all" })).await;
    tally.note("committing", stage.ran().or(committed["commit"].is_null().then(|| committed.to_string())));
    fs::write(stage.main.join("a"), "one\nother\n").unwrap();
    let plain = |words: &[&str]| {
        let off = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"];
        git(&stage.main, &[&off[..], words].concat())
    };
    plain(&["commit", "-qam", "other"]);
    let merged = stage.post("worktree", json!({ "do": "merge" })).await;
    tally.note(
        "a merge",
        stage.ran().or(merged["status"]
            .is_number()
            .then(|| merged.to_string())
            .filter(|told| !told.contains("merge_conflict") && !told.contains("not_committed"))),
    );
    let body = json!({ "name": "eve", "provider": "rehearsal", "model": "rehearsal", "cwd": stage.main, "worktree": { "from": "ada" } });
    let eve = stage.yoi.post("/api/v1/pods", &body).await.body;
    tally.note("a work tree from its branch", stage.ran().or(eve["pod"].is_null().then(|| eve.to_string())));
    stage.post("worktree", json!({ "do": "discard" })).await;
    stage.post("worktree", json!({ "do": "discard", "force": true })).await;
    tally.note("throwing it away", stage.ran().or(stage.tree().exists().then(|| "it is still there".to_owned())));
    let mode = fs::metadata(stage.main.join(".git/config")).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0);
    tally.finish(6);
}
