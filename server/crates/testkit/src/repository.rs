//! Git repositories to work in.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Runs git in a folder, and returns what it printed.
///
/// # Panics
/// If git is absent or fails.
pub fn git(folder: &Path, words: &[&str]) -> String {
    let done = Command::new("git").current_dir(folder).args(words).output().expect("git is installed");
    assert!(done.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("git prints text")
}

/// Makes the repository `name` below `work`, with one commit on `main` that has these files (path and text). Its author
/// is Ada. Returns its folder.
///
/// # Panics
/// If git or the disk refuses.
pub fn repository(work: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = work.join(name);
    git(work, &["init", "-q", "-b", "main", name]);
    for (setting, value) in [("user.name", "Ada"), ("user.email", "ada@example.com")] {
        git(&folder, &["config", setting, value]);
    }
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().expect("a file of a repository is in a folder");
        fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)).expect("a file can be written");
    }
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-qm", "begin"]);
    folder
}
