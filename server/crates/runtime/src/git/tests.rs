use std::{os::unix::fs::PermissionsExt, process};

use super::*;

/// Git as its owner would use it.
fn run(folder: &Path, words: &[&str]) {
    let done = process::Command::new("git")
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("HOME", folder.as_os_str())])
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_AUTHOR_NAME", "ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
        .envs([("GIT_COMMITTER_NAME", "ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
        .arg("-C")
        .arg(folder)
        .args(words)
        .output()
        .expect("git is installed");
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn commit(folder: &Path, name: &str) {
    fs::write(folder.join(name), name).unwrap();
    run(folder, &["add", "."]);
    run(folder, &["commit", "-qm", name]);
}

fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["init", "-q", "-b", "main"]);
    folder
}

async fn words(folder: &Path) -> Option<String> {
    look(folder, None).await.map(|view| view.words())
}

fn is(words: &str) -> Option<String> {
    Some(words.to_owned())
}

#[tokio::test]
async fn the_branch_and_what_is_not_committed_are_told_from_anywhere_inside() {
    let outside = tempfile::tempdir().unwrap();
    assert_eq!(words(outside.path()).await, None);
    let folder = repository();
    let folder = folder.path();
    assert_eq!(words(folder).await, is("main"), "before the first commit");
    fs::write(folder.join("new"), "x").unwrap();
    assert_eq!(words(folder).await, is("main, not committed"));
    fs::write(folder.join(".git/info/exclude"), "new\n").unwrap();
    assert_eq!(words(folder).await, is("main"), "it is not to be committed");
    commit(folder, "a");
    assert_eq!(words(folder).await, is("main"));
    fs::write(folder.join("a"), "changed").unwrap();
    fs::create_dir(folder.join("below")).unwrap();
    assert_eq!(words(&folder.join("below")).await, is("main, not committed"));
    run(folder, &["checkout", "-q", "--", "a"]);
    run(folder, &["checkout", "-q", "--detach"]);
    let view = look(folder, None).await.unwrap();
    assert!(view.branch.len() == SHORT_CHARS && !view.dirty, "{view:?}");
    let tree = tempfile::tempdir().unwrap();
    let other = tree.path().join("tree");
    run(folder, &["worktree", "add", "-q", "-b", "side/one", other.to_str().unwrap()]);
    assert_eq!(words(&other).await, is("side/one"));
}

#[tokio::test]
async fn the_distance_to_the_upstream_is_counted_both_ways() {
    let origin = repository();
    commit(origin.path(), "a");
    let clones = tempfile::tempdir().unwrap();
    let clone = clones.path().join("clone");
    run(clones.path(), &["clone", "-q", origin.path().to_str().unwrap(), "clone"]);
    assert_eq!(words(&clone).await, is("main"));
    commit(origin.path(), "b");
    run(&clone, &["fetch", "-q"]);
    commit(&clone, "c");
    commit(&clone, "d");
    assert_eq!(words(&clone).await, is("main, 2 ahead, 1 behind"));
    run(&clone, &["branch", "-q", "--unset-upstream"]);
    assert_eq!(words(&clone).await, is("main"));
    run(&clone, &["branch", "-q", "old", "HEAD~2"]);
    let from = look(&clone, Some("old")).await.unwrap();
    assert_eq!(from.words(), "main, 2 ahead", "without an upstream, the branch that it came from counts");
    assert_eq!(look(&clone, Some("gone")).await.unwrap().words(), "main");
}

#[tokio::test]
async fn nothing_that_a_repository_names_is_run() {
    let folder = repository();
    let folder = folder.path();
    commit(folder, "a");
    let (mark, trap) = (folder.join(".git/mark"), folder.join(".git/trap"));
    fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let named = trap.to_str().unwrap();
    for setting in
        ["core.fsmonitor", "filter.x.clean", "filter.x.process", "core.sshCommand", "core.pager", "alias.status"]
    {
        run(folder, &["config", setting, named]);
    }
    run(folder, &["config", "pager.status", "true"]);
    fs::write(folder.join(".gitattributes"), "* filter=x\n").unwrap();
    fs::create_dir_all(folder.join(".git/hooks")).unwrap();
    for hook in ["post-index-change", "reference-transaction", "post-checkout"] {
        fs::copy(&trap, folder.join(".git/hooks").join(hook)).unwrap();
    }
    // Of the same length, so that only reading the file tells.
    fs::write(folder.join("a"), "b").unwrap();
    assert_eq!(words(folder).await, is("main, not committed"));
    assert!(!mark.exists(), "something that the repository names was run");
    // The same question without care falls into the trap.
    let careless = process::Command::new("git").arg("-C").arg(folder).arg("status").output().unwrap();
    assert!(mark.exists(), "{careless:?}");
}

#[tokio::test]
async fn an_answer_is_used_again_for_a_moment() {
    let folder = repository();
    let spot = Spot { cwd: folder.path().to_str().unwrap().to_owned(), from: None };
    let first = state_of(&spot).await;
    assert_eq!(first.as_ref().map(GitView::words), is("main"));
    let now = Known { at: Instant::now() + LOOK_MAX, took: Duration::ZERO, is_old: false, view: None };
    remember(spot.clone(), now.clone());
    assert_eq!(state_of(&spot).await, None, "what was known a moment ago");
    remember(spot.clone(), Known { is_old: true, ..now });
    assert_eq!(state_of(&spot).await, first, "something has happened there");
}
