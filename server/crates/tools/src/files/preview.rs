//! What a Write or an Edit would do to a file as it is now, for the person who is asked to approve it. It reads like
//! the call itself would, with the same checks, and changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::AtomicUsize},
    time::{Duration, Instant},
};

use pod::Scope;
use protocol::tool::{self, Changes};
use serde_json::Value;

use super::{
    diff::Diff,
    edit,
    failure::Failure,
    page::noun,
    work::{Bounds, Work},
    write,
};

/// The most calls that are looked at; further ones say that they were not.
const LOOKED_MAX: usize = 16;
/// The time limit for all of them together.
const LOOK_TIME_MAX: Duration = Duration::from_secs(2);
/// How long to wait for a disk that does not answer.
const WAIT_MAX: Duration = Duration::from_secs(4);

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Unified, like the call's own diff; `None` if nothing would change.
    pub diff: Option<String>,
    /// `+3 −11`, or why it would fail.
    pub effect: String,
    /// Lines that would be added and removed; `None` if that is not known.
    pub lines: Option<(usize, usize)>,
    /// The file does not exist yet.
    pub is_new: bool,
    /// Why the call would fail, or why nothing is known.
    pub note: Option<String>,
}

impl Preview {
    pub(super) fn new_file(diff: Diff, content: &str) -> Self {
        let lines = content.lines().count();
        let effect = format!("new file, {lines} {}", noun(lines));
        Self { diff: diff.text, effect, lines: Some((diff.added, diff.removed)), is_new: true, note: None }
    }

    /// `refusal` is why the call would fail all the same.
    pub(super) fn change(diff: Diff, places: usize, refusal: Option<Failure>) -> Self {
        let places = if places > 1 { format!(" in {places} places") } else { String::new() };
        let effect = match &diff.text {
            None => "it would change nothing".to_owned(),
            Some(_) => format!("+{} −{}{places}", diff.added, diff.removed),
        };
        let note = refusal.map(|refusal| format!("it would fail: {refusal}"));
        let effect = note.as_ref().map_or(effect.clone(), |note| format!("{effect}; {note}"));
        Self { diff: diff.text, effect, lines: Some((diff.added, diff.removed)), is_new: false, note }
    }

    fn unknown(why: &str) -> Self {
        Self { diff: None, effect: why.to_owned(), lines: None, is_new: false, note: Some(why.to_owned()) }
    }
}

/// Returns what each of these calls (tool and arguments) would do; `None` for tools other than Write and Edit. A caller
/// without `seen` reads files by itself.
pub async fn previews(
    cwd: &str,
    scope: Scope,
    seen: Option<BTreeMap<String, BTreeSet<String>>>,
    calls: Vec<(String, Value)>,
) -> Vec<Option<Preview>> {
    let late: Vec<_> = calls.iter().map(|(tool, _)| is_change(tool).then(not_looked_at)).collect();
    if late.iter().all(Option::is_none) {
        return late;
    }
    let cwd = cwd.to_owned();
    let look = tokio::task::spawn_blocking(move || {
        let until = Instant::now() + LOOK_TIME_MAX;
        let bounds = Bounds { until, steps: AtomicUsize::new(usize::MAX) };
        let mut work = Work::looking(&cwd, scope, bounds);
        (work.reads_itself, work.seen) = (seen.is_none(), Arc::new(seen.unwrap_or_default()));
        calls
            .into_iter()
            .enumerate()
            .map(|(number, (tool, arguments))| preview(&work, number, &tool, arguments))
            .collect()
    });
    match tokio::time::timeout(WAIT_MAX, look).await {
        Ok(Ok(previews)) => previews,
        Ok(Err(error)) => {
            tracing::error!(%error, "a look at what a call would change did not end by itself");
            late
        }
        Err(_) => late,
    }
}

/// Whether this tool changes files.
pub fn is_change(tool: &str) -> bool {
    tool::facts(tool).changes == Changes::Files
}

fn not_looked_at() -> Preview {
    Preview::unknown("the file was not read in time, so what would change is not known")
}

fn preview(work: &Work, number: usize, tool: &str, arguments: Value) -> Option<Preview> {
    if !is_change(tool) {
        return None;
    }
    if number >= LOOKED_MAX || work.go_on().is_err() {
        return Some(not_looked_at());
    }
    let found = match tool {
        "Write" => write::preview(work, arguments),
        _ => edit::preview(work, arguments),
    };
    Some(found.unwrap_or_else(|failure| Preview::unknown(&format!("it would fail: {failure}"))))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use protocol::{Access, ScopeRule};
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use serde_json::json;

    use super::*;

    async fn previewed(folder: &Path, tool: &str, arguments: Value) -> Preview {
        let path = folder.to_str().unwrap();
        let rule = ScopeRule { path: path.to_owned(), access: Access::Write, recursive: true };
        let scope = Scope::new([rule], []);
        let calls = vec![(tool.to_owned(), arguments)];
        previews(path, scope, Some(BTreeMap::new()), calls).await.remove(0).unwrap()
    }

    fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
        let kept = tempfile::tempdir().unwrap();
        let real = kept.path().canonicalize().unwrap();
        (kept, real)
    }

    #[tokio::test]
    async fn a_write_shows_what_it_takes_away_and_a_new_file_that_it_is_new() {
        let (_kept, at) = folder();
        fs::write(at.join("a"), "1\n2\n3\n").unwrap();
        let write = previewed(&at, "Write", json!({ "path": "a", "content": "2\nx\n" })).await;
        assert_eq!(write.diff.unwrap(), "--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n-1\n 2\n-3\n+x\n");
        assert!(
            write.effect.starts_with("+1 −2; it would fail: a has content that you have not read"),
            "{}",
            write.effect
        );
        for path in ["new", "deep/down/new"] {
            let new = previewed(&at, "Write", json!({ "path": path, "content": "x\n" })).await;
            assert_eq!(new.effect, "new file, 1 line");
            assert!(new.diff.unwrap().starts_with("--- /dev/null\n"));
        }
        assert!(!at.join("deep").exists() && fs::read(at.join("a")).unwrap() == b"1\n2\n3\n", "nothing is changed");
    }

    #[tokio::test]
    async fn an_edit_shows_the_lines_around_it_and_how_often_it_is_done() {
        let (_kept, at) = folder();
        fs::write(at.join("a"), "0\n1\n2\nx\n4\n5\n6\n7\n8\n9\nx\n").unwrap();
        let edit = json!({ "path": "a", "old": "x", "new": "y", "replace_all": true });
        let all = previewed(&at, "Edit", edit).await;
        assert!(all.effect.starts_with("+2 −2 in 2 places"), "{}", all.effect);
        let diff = all.diff.unwrap();
        assert!(diff.contains("@@ -1,11 +1,11 @@\n 0\n 1\n 2\n-x\n+y\n 4\n"), "{diff}");
        let one = previewed(&at, "Edit", json!({ "path": "a", "old": "x", "new": "y" })).await;
        assert!(one.diff.is_none() && one.effect.contains("it would fail: a contains `old` 2 times"), "{}", one.effect);
    }

    #[tokio::test]
    async fn a_hostile_path_gives_a_sentence_and_no_content_and_never_waits() {
        let (_kept, at) = folder();
        let (_other, outside) = folder();
        fs::write(outside.join("secret"), "hunter2\n").unwrap();
        symlink(outside.join("secret"), at.join("link")).unwrap();
        symlink("/dev/zero", at.join("device")).unwrap();
        mknodat(CWD, at.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        fs::create_dir(at.join("folder")).unwrap();
        fs::write(at.join("binary"), b"\x7fELF\0").unwrap();
        fs::File::create(at.join("huge")).unwrap().set_len(1 << 40).unwrap();
        let secret = outside.join("secret");
        let paths = [
            secret.to_str().unwrap(),
            "../x",
            "link",
            "device",
            "/dev/zero",
            "pipe",
            "folder",
            "binary",
            "huge",
            "",
            "a\0b",
        ];
        for path in paths {
            let shown = previewed(&at, "Write", json!({ "path": path, "content": "x" })).await;
            assert!(shown.diff.is_none() && shown.effect.starts_with("it would fail: "), "{path}: {shown:?}");
            assert!(!shown.effect.contains("hunter2"), "{path}: {shown:?}");
        }
        let odd = previewed(&at, "Write", json!({ "path": 1 })).await;
        assert!(odd.effect.starts_with("it would fail: "), "{odd:?}");
    }
}
