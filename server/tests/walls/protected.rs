//! Files that run something later, outside of every scope: start files, hooks, settings and yoi's own configuration. A
//! Pod that may write everything around them tries each of them in each way, whether the file exists or not.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use testkit::{
    repository::git,
    yoi::{Launch, YoiProcess, pod_path},
};

use crate::{Tally, YOI};

const EVIL: &str = "touch /tmp/owned # evil";
/// In the home folder: those of the first half exist, the others do not.
const IN_HOME: [&str; 16] = [
    ".bashrc",
    ".profile",
    ".ssh/authorized_keys",
    ".gitconfig",
    ".config/systemd/user/a.service",
    ".cargo/config.toml",
    ".vimrc",
    ".local/bin/ls",
    ".bash_profile",
    ".zshenv",
    ".config/fish/config.fish",
    ".config/git/config",
    ".config/autostart/a.desktop",
    ".config/nvim/init.lua",
    ".npmrc",
    ".gnupg/gpg.conf",
];
/// In a repository.
const IN_REPOSITORY: [&str; 8] = [
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/hooks/post-checkout",
    ".git/commondir",
    ".git/config.worktree",
    ".git/modules/lib/hooks/post-checkout",
    ".git/modules/lib/config",
    ".envrc",
];

/// A Pod whose scope is a whole home folder and a whole repository, and that may make any call.
struct Stage {
    yoi: YoiProcess,
    pod: Value,
    home: PathBuf,
    repository: PathBuf,
    settings: PathBuf,
}

impl Stage {
    async fn set() -> Self {
        let launch = Launch::new(YOI);
        let work = launch.work_dir().canonicalize().unwrap();
        let root = work.parent().unwrap().to_owned();
        let (home, settings) = (root.join("home"), root.join("config"));
        let repository = work.join("repository");
        for path in &IN_HOME[..IN_HOME.len() / 2] {
            put(&home.join(path), "mine");
        }
        for folder in [".config", "plain"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        git(&work, &["init", "-q", "repository"]);
        put(&repository.join(".git/modules/lib/config"), "[core]");
        put(&repository.join(".git/modules/lib/HEAD"), "ref: refs/heads/main");
        let yoi = launch.start().await;
        let scope: Vec<_> = [&home, &settings, &work]
            .iter()
            .map(|path| json!({ "path": path, "access": "write", "recursive": true }))
            .collect();
        let made = json!({
            "name": "ada", "provider": "rehearsal", "model": "rehearsal", "cwd": work, "scope": scope,
        });
        let pod = yoi.post("/api/v1/pods", &made).await.expect(201);
        Self { yoi, pod, home, repository, settings }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let path = format!("{}/tools/{tool}", pod_path(&self.pod));
        self.yoi.post(&path, &json!({ "arguments": arguments })).await.body
    }

    async fn bash(&self, command: &str) -> Value {
        self.call("Bash", json!({ "command": command })).await
    }

    /// Every place, by the name that attacks use for it.
    fn places(&self) -> Vec<(String, PathBuf)> {
        let home = IN_HOME.iter().map(|path| (format!("~/{path}"), self.home.join(path)));
        let repository = IN_REPOSITORY.iter().map(|path| ((*path).to_owned(), self.repository.join(path)));
        let own = ["yoi/config.toml", "systemd/user/yoi.service"];
        let own = own.iter().map(|path| (format!("settings/{path}"), self.settings.join(path)));
        home.chain(repository).chain(own).collect()
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What the place contains now, if it contains the evil text.
fn owned(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok().filter(|text| text.contains("evil"));
    text.map(|text| format!("{} says {text:?}", path.display()))
}

/// A command for each way of writing to the place.
fn ways(place: &Path) -> Vec<(&'static str, String)> {
    let (at, folder) = (place.display(), place.parent().unwrap().display());
    let draft = "\"$TMPDIR\"/draft";
    let name = place.file_name().unwrap().to_str().unwrap();
    vec![
        ("a redirect", format!("mkdir -p {folder}; echo '{EVIL}' > {at}")),
        ("an appended line", format!("echo '{EVIL}' >> {at}")),
        ("a move over it", format!("echo '{EVIL}' > {draft}; mkdir -p {folder}; mv -f {draft} {at}")),
        ("a copy over it", format!("echo '{EVIL}' > {draft}; cp -f {draft} {at}; install -D {draft} {at}")),
        (
            "a link in its place",
            format!("echo '{EVIL}' > {folder}/evil; rm -f {at}; ln -sfn {folder}/evil {at}; ln -f {folder}/evil {at}"),
        ),
        ("its folder moved away", format!("mv {folder} {folder}.away; mkdir -p {folder}; echo '{EVIL}' > {at}")),
        (
            "a folder that is ready in its folder's place",
            format!(
                "mkdir -p \"$TMPDIR\"/ready; echo '{EVIL}' > \"$TMPDIR\"/ready/{name}; rm -rf {folder}; mv -T \"$TMPDIR\"/ready {folder}"
            ),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn file_tools_write_nothing_that_runs_later() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("what runs later, by file tools");
    for (name, place) in stage.places() {
        let written = stage.call("Write", json!({ "path": place, "content": EVIL })).await;
        tally.note(
            &format!("Write {name}"),
            owned(&place).or((written["is_error"] == false).then(|| written.to_string())),
        );
        stage.call("Read", json!({ "path": place })).await;
        stage.call("Edit", json!({ "path": place, "old": "mine", "new": EVIL })).await;
        tally.note(&format!("Edit {name}"), owned(&place));
    }
    // Through other names of the same places.
    std::os::unix::fs::symlink(stage.home.join(".ssh"), stage.repository.join("keys")).unwrap();
    std::os::unix::fs::symlink(".git/hooks", stage.repository.join("samples")).unwrap();
    std::os::unix::fs::symlink("../../home/.bashrc", stage.repository.join("notes")).unwrap();
    for (way, place, at) in [
        (
            "a link to its folder",
            stage.repository.join("keys/authorized_keys"),
            stage.home.join(".ssh/authorized_keys"),
        ),
        ("a link to hooks", stage.repository.join("samples/pre-push"), stage.repository.join(".git/hooks/pre-push")),
        ("a link to a start file", stage.repository.join("notes"), stage.home.join(".bashrc")),
        ("dots", stage.repository.join("src/../.git/./config"), stage.repository.join(".git/config")),
    ] {
        stage.call("Read", json!({ "path": place })).await;
        stage.call("Write", json!({ "path": place, "content": EVIL })).await;
        tally.note(&format!("Write through {way}"), owned(&at));
    }
    let refused = stage.call("Write", json!({ "path": stage.home.join(".zshrc"), "content": EVIL })).await;
    assert!(refused.to_string().contains("change it yourself"), "the way out is named: {refused}");
    tally.finish(55);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_write_nothing_that_runs_later() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("what runs later, by commands");
    // Work continues beside all of it.
    let (home, repository) = (stage.home.display(), stage.repository.display());
    let worked = stage.bash(&format!("echo fine > {home}/plain/a && echo fine > {repository}/b")).await;
    assert_eq!(worked["is_error"], false, "{worked}");
    let worked = stage
        .bash(&format!(
            "cd {repository} && export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && git add b && \
             git commit -qm b && git branch other && git checkout -q other && git log --oneline | wc -l && git status --short"
        ))
        .await;
    assert_eq!(worked["is_error"], false, "git itself works: {worked}");
    for (name, place) in stage.places().into_iter().filter(|(name, _)| name != ".envrc") {
        for (way, command) in ways(&place) {
            stage.bash(&format!("({command}) 2>&1")).await;
            tally.note(&format!("{name} by {way}"), owned(&place));
        }
    }
    stage.try_git(&mut tally).await;
    tally.finish(180);
}

/// In repositories that the Pod creates while it works.
const IN_MADE: [&str; 8] = [
    "made/.git/config",
    "made/.git/hooks/pre-commit",
    "made/.git/config.worktree",
    "made/.envrc",
    "deep/down/made/.git/hooks/post-checkout",
    "deep/down/made/.git/config",
    "bare.git/hooks/update",
    "bare.git/config",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_a_pod_makes_is_held_from_then_on() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("what runs later, in repositories that a Pod makes");
    let made = stage.bash("git init -q made && git init -q deep/down/made && git init -q --bare bare.git").await;
    assert_eq!(made["is_error"], false, "{made}");
    assert!(!made["summary"].as_str().unwrap().contains("runs something"), "git's own samples run nothing: {made}");
    for path in IN_MADE {
        let place = stage.repository.parent().unwrap().join(path);
        stage.call("Write", json!({ "path": place, "content": EVIL })).await;
        tally.note(&format!("Write {path}"), owned(&place));
        stage.call("Read", json!({ "path": place })).await;
        stage.call("Edit", json!({ "path": place, "old": "[core]", "new": EVIL })).await;
        tally.note(&format!("Edit {path}"), owned(&place));
        if path.ends_with(".envrc") {
            continue;
        }
        for (way, command) in ways(&place) {
            stage.bash(&format!("({command}) 2>&1")).await;
            tally.note(&format!("{path} by {way}"), owned(&place));
        }
    }
    tally.finish(65);
}

/// Until a command ends, a repository that it creates and fills cannot be protected: whoever reads the result is told.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_puts_into_its_own_repository_is_told() {
    let stage = Stage::set().await;
    let mut tally = Tally::of("what runs later, untold");
    for (attack, command, named) in [
        ("a hook", "git init -q a; echo evil > a/.git/hooks/pre-commit", "a/.git/hooks/pre-commit"),
        (
            "a hook without git",
            "mkdir -p b/.git/hooks b/.git/objects; echo x > b/.git/HEAD; echo evil > b/.git/hooks/post-merge",
            "b/.git/hooks/post-merge",
        ),
        ("hooks by a link", "git init -q c; rm -r c/.git/hooks; ln -s ../evil c/.git/hooks", "c/.git/hooks"),
        ("a program in the settings", "git init -q d; git -C d config core.fsmonitor evil", "d/.git/config"),
        ("an alias", "git init -q e; git -C e config alias.st '!evil'", "e/.git/config"),
        ("hooks elsewhere", "git init -q f; git -C f config core.hooksPath ../evil", "f/.git/config"),
        ("settings on one line", "git init -q g; echo '[core] pager = evil' >> g/.git/config", "g/.git/config"),
        (
            "settings that include others",
            "git init -q h; printf '[include]\n path = ../evil\n' >> h/.git/config",
            "h/.git/config",
        ),
        ("a remote that is a program", "git init -q i; git -C i remote add evil ext::evil", "i/.git/config"),
        ("a bare repository", "git init -q --bare j; echo evil > j/hooks/update", "j/hooks/update"),
        ("a start file", "mkdir k; echo evil > k/.envrc", "k/.envrc"),
        ("a file that leads away", "mkdir l; echo 'gitdir: /nowhere/evil' > l/.git", "l/.git"),
        ("a link that leads away", "mkdir m; ln -s /nowhere/evil m/.git", "m/.git"),
        ("deeper down", "git init -q n/o/p; echo evil > n/o/p/.git/hooks/pre-push", "n/o/p/.git/hooks/pre-push"),
        (
            "in a command that fails",
            "git init -q q; echo evil > q/.git/hooks/pre-push; exit 3",
            "q/.git/hooks/pre-push",
        ),
        (
            "by a process that is left running",
            "git init -q r; (echo evil > r/.git/hooks/pre-push; sleep 60) & until [ -s r/.git/hooks/pre-push ]; do :; done",
            "r/.git/hooks/pre-push",
        ),
    ] {
        let answer = stage.bash(command).await;
        let summary = answer["summary"].as_str().unwrap_or_default();
        let is_told = summary.contains("runs something once someone works there: ") && summary.contains(named);
        tally.note(attack, (!is_told).then(|| answer.to_string()));
    }
    let plain = "git init -q s && cd s && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm a && git clone -q . ../t";
    let plain = stage.bash(plain).await;
    assert_eq!(plain["is_error"], false, "{plain}");
    assert!(!plain["summary"].as_str().unwrap().contains("runs something"), "{plain}");
    tally.finish(16);
}

impl Stage {
    /// In git's own ways.
    async fn try_git(&self, tally: &mut Tally) {
        let (at, git) = (self.repository.display(), self.repository.join(".git"));
        put(&self.repository.join(".envrc"), "mine");
        let before = fs::read_to_string(git.join("config")).unwrap();
        for (way, command) in [
            ("git config", format!("cd {at}; git config core.fsmonitor 'evil'")),
            ("git config of hooks", format!("cd {at}; git config core.hooksPath /tmp/evil")),
            ("git config of an alias", format!("cd {at}; git config alias.st '!evil'")),
            ("git config --worktree", format!("cd {at}; git config --worktree core.fsmonitor evil")),
            ("git remote", format!("cd {at}; git remote add evil ext::evil")),
            ("git config by its file", format!("git config --file {at}/.git/config core.pager evil")),
            (
                "git init with a template",
                format!(
                    "mkdir -p $TMPDIR/t/hooks; echo evil > $TMPDIR/t/hooks/post-commit; cd {at}; git init --template $TMPDIR/t"
                ),
            ),
            (
                "git init elsewhere, moved here",
                format!(
                    "cd $TMPDIR; git init -q e; git -C e config core.fsmonitor evil; rm -rf {at}/.git; mv -T e/.git {at}/.git"
                ),
            ),
            (
                "the repository moved away",
                format!(
                    "cd {at}/..; mv {at} {at}.away; mkdir {at}; cd {at}; git init -q; git config core.fsmonitor evil"
                ),
            ),
            ("a file in git's place", format!("cd {at}; mv .git .git.away; echo 'gitdir: /tmp/evil' > .git")),
            ("a link in git's place", format!("cd {at}; rm -rf .git; ln -s $TMPDIR/evil .git")),
            ("hooks by another link", format!("cd {at}; ln -s .git/hooks h; echo evil > h/pre-push")),
            ("hooks by a hard link", format!("cd {at}; echo evil > x; ln -f x .git/hooks/pre-push; rm x")),
            (
                "mounted over",
                format!("cd {at}; mount -t tmpfs none .git/hooks; umount .git/hooks; echo evil > .git/hooks/pre-push"),
            ),
            (
                "in a namespace of its own",
                format!("cd {at}; unshare -rm sh -c 'umount .git/hooks; echo evil > .git/hooks/pre-push'"),
            ),
            (
                "made executable",
                format!(
                    "cd {at}; chmod +x .git/hooks/*; chmod 777 .git/hooks; touch .git/hooks/pre-push && echo evil >> .git/hooks/pre-push"
                ),
            ),
            (".envrc that is there", format!("cd {at}; echo evil > .envrc; mv x .envrc; sed -i s/mine/evil/ .envrc")),
        ] {
            self.bash(&format!("({command}) 2>&1")).await;
            let is_changed = fs::read_to_string(git.join("config")).ok().as_ref() != Some(&before);
            let hooks = fs::read_dir(git.join("hooks")).into_iter().flatten().flatten();
            let hook = hooks.map(|hook| hook.path()).find_map(|hook| owned(&hook));
            let second = owned(&git.join("config.worktree")).or_else(|| owned(&self.repository.join(".envrc")));
            tally.note(way, is_changed.then(|| "git's settings changed".to_owned()).or(hook).or(second));
        }
    }
}
