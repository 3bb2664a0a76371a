//! The files that a Pod may write, as they are now, for whoever compares them with an earlier state: and a single one of
//! them, read, replaced or removed.
//!
//! Git's own folders are left out, and what git ignores in a repository, unless it is known already: whoever changes
//! what is ignored hides nothing that was seen before. The walk only proposes paths; contents are read through
//! [`super::open`] like a tool's.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, PoisonError, atomic::AtomicUsize},
    time::{Duration, Instant, SystemTime},
};

use changes::{Entry, Stamp, Tree, sha256};
use ignore::{DirEntry, WalkBuilder};
use pod::{Scope, ScopeRefusal, covers};
use protocol::{Access, LeftOut};

use super::{
    content,
    failure::Failure,
    open,
    path::{self, beneath, shown},
    target::{Missing, Target},
    work::{Bounds, Work},
};

/// The content of a larger file is neither kept nor compared.
pub const CONTENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The most files of one Pod's folders that are looked at.
const FILES_MAX: usize = 20_000;
const WHOLE_DISK: &str = "the whole file system is not looked at; give the Pod the folders that it works in";
const TOO_LARGE: &str = "its content is not kept: it has more than 4 MiB";
/// How long one look may take.
const LOOK_TIME_MAX: Duration = Duration::from_secs(20);
/// A file that was changed this short a time ago may change again without a trace in its stamp.
const RACE_NS: i64 = 50_000_000;
/// The most entries of the list of what is left out.
const LEFT_OUT_MAX: usize = 100;
/// Folders that programs fill and nobody reviews.
const MADE_FOLDERS: [&str; 3] = ["node_modules", "__pycache__", ".venv"];
/// A file in a folder that a program can make anew at any time.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// Keeps contents.
pub trait Keep {
    /// Returns where the content is kept; `None`: there is no room for it.
    ///
    /// # Errors
    /// It could not be written.
    fn keep(&mut self, hash: &str, content: &[u8]) -> io::Result<Option<u64>>;
}

/// What a look found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Paths are relative to the working directory where they are in it, otherwise absolute.
    pub tree: Tree,
    pub left_out: Vec<LeftOut>,
}

/// The whole content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

/// A path that is not touched, with the code of a tool's failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Refused {
    pub code: &'static str,
    pub detail: String,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code(), detail: failure.to_string() }
    }
}

/// Looks at all files that the scope lets the Pod write, also at those that it has lent. A file whose stamp is the one
/// in `known` is not read again. Blocks.
///
/// # Errors
/// It took too long, or what was new could not be kept.
pub fn look(cwd: &str, scope: &Scope, known: &Tree, keep: &mut dyn Keep) -> Result<Found, String> {
    look_at(cwd, scope, known, keep, now_ns())
}

fn look_at(cwd: &str, scope: &Scope, known: &Tree, keep: &mut dyn Keep, now: i64) -> Result<Found, String> {
    let work = work(cwd, scope, LOOK_TIME_MAX);
    let until = Instant::now() + LOOK_TIME_MAX;
    let mut looking = Looking { work: &work, known, keep, found: Found::default(), now, until };
    for root in roots(scope) {
        match root.as_str() {
            "/" => looking.leave_out("/", WHOLE_DISK),
            root => looking.walk(root)?,
        }
    }
    // What was seen before is seen again, ignored or not.
    let missing = known.keys().filter(|path| !looking.found.tree.contains_key(*path)).cloned().collect::<Vec<_>>();
    for path in missing {
        looking.go_on()?;
        let whole = path::join(&work.cwd, &path);
        if tracks(scope, &whole)
            && let Ok(metadata) = fs::symlink_metadata(&whole)
        {
            looking.meet(&whole, &metadata)?;
        }
    }
    Ok(looking.found)
}

/// The content of a file; `None` if there is none. Blocks.
///
/// # Errors
/// The scope does not let the Pod write it, it is too large, or a symbolic link leads to it.
pub fn read_file(cwd: &str, scope: &Scope, path: &str) -> Result<Option<Content>, Refused> {
    let work = work(cwd, scope, LOOK_TIME_MAX);
    let whole = work.absolute(path)?;
    check(scope, &whole, path)?;
    match open::open(&work, &whole) {
        Err(Failure::NotFound(_)) => match fs::symlink_metadata(&whole) {
            Ok(metadata) if metadata.is_symlink() => Err(is_link(path)),
            _ => Ok(None),
        },
        Err(failure) => Err(failure.into()),
        Ok(opened) if opened.path != whole => Err(is_link(path)),
        Ok(opened) if opened.kind().is_file() && opened.size() > CONTENT_BYTES_MAX => Err(Refused {
            code: "invalid_input",
            detail: format!("{path} has {} bytes; of so large a file nothing is kept", opened.size()),
        }),
        Ok(opened) => {
            let is_executable = opened.stat.st_mode & 0o100 != 0;
            Ok(Some(Content { bytes: content::bytes(&opened, path)?, is_executable }))
        }
    }
}

/// Makes a file what `new` says; `None` removes it. It must be what `old` says before that. Blocks.
///
/// # Errors
/// As [`read_file`]; with the code `read_first` if it is not what `old` says.
pub fn replace_file(
    cwd: &str,
    scope: &Scope,
    path: &str,
    (old, new): (Option<&Content>, Option<&Content>),
) -> Result<(), Refused> {
    let work = work(cwd, scope, LOOK_TIME_MAX);
    let whole = work.absolute(path)?;
    scope.may_write(&whole).map_err(|refusal| Failure::Scope { path: path.to_owned(), refusal })?;
    let missing = if new.is_some() { Missing::Made } else { Missing::Refused };
    let target = Target::find(&work, &whole, missing)?;
    if target.path != whole {
        return Err(is_link(path));
    }
    let present = target.present()?;
    let is_as_seen = match (&present, old) {
        (None, None) => true,
        (Some(present), Some(old)) => content::bytes(present, path)? == old.bytes,
        _ => false,
    };
    if !is_as_seen {
        return Err(Failure::ReadFirst { path: path.to_owned(), why: "has changed since" }.into());
    }
    match (new, &present) {
        (Some(new), _) => target.replace_bytes(&new.bytes, present.as_ref(), Some(new.is_executable))?,
        (None, Some(present)) => target.remove(present)?,
        (None, None) => (),
    }
    Ok(())
}

/// The path as answers name it, whatever way it was written.
///
/// # Errors
/// No file can have it.
pub fn named(cwd: &str, path: &str) -> Result<String, Refused> {
    let cwd = path::join("/", cwd);
    Ok(shown(&cwd, &path::absolute(&cwd, path)?))
}

fn work(cwd: &str, scope: &Scope, time: Duration) -> Work {
    let bounds = Bounds { until: Instant::now() + time, steps: AtomicUsize::new(usize::MAX) };
    Work::looking(cwd, scope.clone(), bounds)
}

fn check(scope: &Scope, whole: &str, path: &str) -> Result<(), Failure> {
    match scope.may_write(whole) {
        Ok(()) | Err(ScopeRefusal::Lent | ScopeRefusal::Protected) => Ok(()),
        Err(refusal) => Err(Failure::Scope { path: path.to_owned(), refusal }),
    }
}

fn is_link(path: &str) -> Refused {
    let detail = format!("{path} is a symbolic link or is reached through one; change it in the folder itself");
    Refused { code: "invalid_input", detail }
}

/// The folders and files that the rules give for writing, none inside of another.
fn roots(scope: &Scope) -> Vec<String> {
    let mut roots: Vec<&protocol::ScopeRule> =
        scope.rules().iter().filter(|rule| rule.access == Access::Write && !has_git_folder(&rule.path)).collect();
    roots.sort_by(|one, other| one.path.cmp(&other.path));
    let mut outer: Vec<&protocol::ScopeRule> = Vec::new();
    for rule in roots {
        if !outer.iter().any(|outer| outer.recursive && covers(outer, &rule.path)) {
            outer.push(rule);
        }
    }
    outer.into_iter().map(|rule| rule.path.clone()).collect()
}

/// Whether changes of a file are looked for, as far as the scope is concerned: it is given for writing, to the Pod itself
/// or to whom it has lent it.
pub fn is_tracked(cwd: &str, scope: &Scope, path: &str) -> bool {
    path::absolute(&path::join("/", cwd), path).is_ok_and(|whole| tracks(scope, &whole))
}

fn tracks(scope: &Scope, whole: &str) -> bool {
    !has_git_folder(whole)
        && matches!(scope.may_write(whole), Ok(()) | Err(ScopeRefusal::Lent | ScopeRefusal::Protected))
}

fn has_git_folder(whole: &str) -> bool {
    whole.split('/').any(|name| name == ".git")
}

/// Whether something in the folder may be tracked.
fn reaches(scope: &Scope, folder: &str) -> bool {
    let is_denied =
        scope.rules().iter().any(|rule| rule.access == Access::Deny && rule.recursive && covers(rule, folder));
    let leads_on = |rule: &protocol::ScopeRule| {
        covers(rule, folder) && (rule.recursive || rule.path == folder) || beneath(folder, &rule.path).is_some()
    };
    !is_denied && scope.rules().iter().any(|rule| rule.access == Access::Write && leads_on(rule))
}

fn is_in_repository(root: &str) -> bool {
    Path::new(root).ancestors().any(|folder| fs::symlink_metadata(folder.join(".git")).is_ok())
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(i64::MAX)
}

/// A look that is going on.
struct Looking<'a> {
    work: &'a Work,
    known: &'a Tree,
    keep: &'a mut dyn Keep,
    found: Found,
    now: i64,
    until: Instant,
}

impl Looking<'_> {
    fn go_on(&self) -> Result<(), String> {
        match Instant::now() < self.until {
            true => Ok(()),
            false => Err(format!("looking at the files took longer than {} s", LOOK_TIME_MAX.as_secs())),
        }
    }

    fn walk(&mut self, root: &str) -> Result<(), String> {
        let scope = self.work.scope.clone();
        let skipped: std::sync::Arc<Mutex<BTreeMap<String, &'static str>>> = std::sync::Arc::default();
        let noted = skipped.clone();
        let base = root.to_owned();
        let is_repository = is_in_repository(root);
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .git_ignore(is_repository)
            .git_exclude(is_repository)
            .parents(is_repository)
            .require_git(false)
            .follow_links(false)
            .sort_by_file_name(OsStr::cmp)
            .filter_entry(move |entry| match enters(entry, &scope, &base) {
                Ok(enters) => enters,
                Err((path, why)) => {
                    noted.lock().unwrap_or_else(PoisonError::into_inner).insert(path, why);
                    false
                }
            })
            .build();
        for entry in walk {
            self.go_on()?;
            // What cannot be listed, or has gone away, contributes nothing.
            let Ok(entry) = entry else { continue };
            let Some(path) = entry.path().to_str() else { continue };
            if entry.file_type().is_none_or(|kind| kind.is_dir()) || !tracks(&self.work.scope, path) {
                continue;
            }
            if self.found.tree.len() >= FILES_MAX {
                let why =
                    format!("there are more than {FILES_MAX} files; this one and those after it are not looked at");
                self.leave_out(path, &why);
                break;
            }
            if let Ok(metadata) = entry.metadata() {
                self.meet(path, &metadata)?;
            }
        }
        let skipped = std::mem::take(&mut *skipped.lock().unwrap_or_else(PoisonError::into_inner));
        skipped.iter().for_each(|(path, why)| self.leave_out(path, why));
        Ok(())
    }

    fn leave_out(&mut self, whole: &str, why: &str) {
        if self.found.left_out.len() < LEFT_OUT_MAX {
            let path = shown(&self.work.cwd, whole);
            self.found.left_out.push(LeftOut { path, why: why.to_owned() });
        }
    }

    /// Takes a file in, reading it only if it may have changed.
    fn meet(&mut self, whole: &str, metadata: &Metadata) -> Result<(), String> {
        let path = shown(&self.work.cwd, whole);
        let (is_link, is_file) = (metadata.is_symlink(), metadata.is_file());
        if !is_link && !is_file {
            return Ok(());
        }
        let changed = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
        let is_racy = self.now - changed < RACE_NS;
        let stamp = Stamp {
            inode: metadata.ino(),
            modified: metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec(),
            changed: if is_racy { 0 } else { changed },
        };
        let size = metadata.size();
        let before = self.known.get(&path);
        let is_known =
            |entry: &&Entry| entry.stamp == stamp && entry.size == size && (!is_racy || entry.hash.is_none());
        if let Some(known) = before.filter(is_known) {
            if known.hash.is_none() && !is_link {
                self.leave_out(whole, TOO_LARGE);
            }
            self.found.tree.insert(path, known.clone());
            return Ok(());
        }
        let bare =
            Entry { hash: None, kept_at: None, size, is_link, is_executable: metadata.mode() & 0o100 != 0, stamp };
        let content = match (is_link, size > CONTENT_BYTES_MAX) {
            (true, _) => {
                fs::read_link(whole).ok().and_then(|to| to.into_os_string().into_string().ok()).map(String::into_bytes)
            }
            (false, true) => {
                self.leave_out(whole, TOO_LARGE);
                None
            }
            (false, false) => self.content(whole),
        };
        let entry = match content {
            None => bare,
            Some(bytes) => {
                let hash = sha256(&bytes);
                let kept = before.filter(|known| known.hash.as_ref() == Some(&hash)).and_then(|known| known.kept_at);
                let kept_at = match kept {
                    Some(at) => Some(at),
                    None => self.keep.keep(&hash, &bytes).map_err(|error| format!("{path} was not kept: {error}"))?,
                };
                Entry { hash: Some(hash), kept_at, size: bytes.len() as u64, ..bare }
            }
        };
        self.found.tree.insert(path, entry);
        Ok(())
    }

    /// The bytes of exactly this file, not of one that a link leads to.
    fn content(&self, whole: &str) -> Option<Vec<u8>> {
        let opened = open::open(self.work, whole).ok().filter(|opened| opened.path == whole)?;
        content::bytes(&opened, whole).ok()
    }
}

/// Whether the walk goes on at an entry; the error names a folder that is left out though git does not ignore it.
fn enters(entry: &DirEntry, scope: &Scope, root: &str) -> Result<bool, (String, &'static str)> {
    let Some(path) = entry.path().to_str() else { return Ok(false) };
    if path == root {
        return Ok(true);
    }
    let name = entry.file_name().to_str().unwrap_or_default();
    if name == ".git" {
        return Ok(false);
    }
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return Ok(true);
    }
    if !reaches(scope, path) {
        return Ok(false);
    }
    if MADE_FOLDERS.contains(&name) {
        return Err((path.to_owned(), "such a folder is filled by a program"));
    }
    match fs::symlink_metadata(entry.path().join(CACHE_MARK)) {
        Ok(_) => Err((path.to_owned(), "it is marked as a cache")),
        Err(_) => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use protocol::ScopeRule;

    use super::*;

    /// Counts what it is given.
    #[derive(Default)]
    struct Counting(usize);

    impl Keep for Counting {
        fn keep(&mut self, _: &str, _: &[u8]) -> io::Result<Option<u64>> {
            self.0 += 1;
            Ok(Some(self.0 as u64))
        }
    }

    fn scope_of(folder: &Path) -> Scope {
        let path = folder.to_str().unwrap().to_owned();
        Scope::new([ScopeRule { path, access: Access::Write, recursive: true }], [])
    }

    fn folder() -> (tempfile::TempDir, String, Scope) {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let (cwd, scope) = (at.to_str().unwrap().to_owned(), scope_of(&at));
        (folder, cwd, scope)
    }

    fn put(cwd: &str, path: &str, content: &str) {
        let path = Path::new(cwd).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn paths(found: &Found) -> Vec<&str> {
        found.tree.keys().map(String::as_str).collect()
    }

    #[test]
    fn without_git_everything_is_looked_at_and_in_a_repository_what_git_ignores_is_not() {
        let (_kept, cwd, scope) = folder();
        for path in ["a.txt", ".env", "src/b.rs", "dist/made.js", "node_modules/x/index.js", ".gitignore"] {
            put(&cwd, path, if path == ".gitignore" { "dist/\n" } else { path });
        }
        let found = look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap();
        assert_eq!(paths(&found), [".env", ".gitignore", "a.txt", "dist/made.js", "src/b.rs"]);
        assert_eq!(found.left_out[0].path, "node_modules");
        put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
        let found = look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap();
        assert_eq!(paths(&found), [".env", ".gitignore", "a.txt", "src/b.rs"]);
    }

    #[test]
    fn what_was_seen_is_seen_again_even_if_it_is_ignored_now() {
        let (_kept, cwd, scope) = folder();
        put(&cwd, ".git/HEAD", "ref: refs/heads/main\n");
        put(&cwd, "a.txt", "1");
        let before = look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap();
        put(&cwd, ".gitignore", "a.txt\nnew.txt\n");
        put(&cwd, "a.txt", "changed");
        put(&cwd, "new.txt", "x");
        let after = look(&cwd, &scope, &before.tree, &mut Counting::default()).unwrap();
        assert_eq!(paths(&after), [".gitignore", "a.txt"]);
        assert!(!after.tree["a.txt"].is_same(&before.tree["a.txt"]));
    }

    #[test]
    fn a_file_whose_stamp_is_the_same_is_not_read_again_and_one_just_written_is() {
        let (_kept, cwd, scope) = folder();
        put(&cwd, "a.txt", "1");
        let first = look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap();
        assert_eq!(first.tree["a.txt"].stamp.changed, 0, "it was written a moment ago");
        put(&cwd, "a.txt", "2");
        let mut keep = Counting::default();
        let second = look(&cwd, &scope, &first.tree, &mut keep).unwrap();
        assert_eq!((keep.0, second.tree["a.txt"].is_same(&first.tree["a.txt"])), (1, false));
        // As if it were a second later.
        let later = now_ns() + 1_000_000_000;
        let mut settled = look_at(&cwd, &scope, &second.tree, &mut keep, later).unwrap().tree;
        assert_eq!(keep.0, 1, "its content is known");
        // A lie that only reading would find out.
        settled.get_mut("a.txt").unwrap().hash = Some("0".repeat(64));
        let third = look_at(&cwd, &scope, &settled, &mut keep, later).unwrap();
        assert_eq!((keep.0, third.tree), (1, settled));
    }

    #[test]
    fn links_are_told_and_never_followed() {
        let (_other, elsewhere, _) = folder();
        put(&elsewhere, "secret", "hunter2");
        let (_kept, cwd, scope) = folder();
        symlink(Path::new(&elsewhere).join("secret"), Path::new(&cwd).join("link")).unwrap();
        symlink(&elsewhere, Path::new(&cwd).join("folder")).unwrap();
        let found = look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap();
        assert!(found.tree.len() == 2 && found.tree.values().all(|entry| entry.is_link), "{found:?}");
        for path in ["link", "folder/secret", "../x", "/etc/passwd", "a\0b", ""] {
            assert!(read_file(&cwd, &scope, path).is_err(), "{path:?}");
            let new = Content { bytes: b"x".to_vec(), is_executable: false };
            assert!(replace_file(&cwd, &scope, path, (None, Some(&new))).is_err(), "{path:?}");
        }
        assert_eq!(fs::read_to_string(Path::new(&elsewhere).join("secret")).unwrap(), "hunter2");
    }

    #[test]
    fn a_file_is_replaced_only_if_it_is_what_was_seen() {
        let (_kept, cwd, scope) = folder();
        let content = |text: &str, is_executable| Content { bytes: text.as_bytes().to_vec(), is_executable };
        let (old, new) = (content("old", false), content("new", true));
        replace_file(&cwd, &scope, "deep/er/run", (None, Some(&new))).unwrap();
        assert_eq!(read_file(&cwd, &scope, "deep/er/run").unwrap(), Some(new.clone()));
        let mode = fs::metadata(Path::new(&cwd).join("deep/er/run")).unwrap().permissions().mode();
        assert_ne!(mode & 0o100, 0);
        let refused = replace_file(&cwd, &scope, "deep/er/run", (Some(&old), None)).unwrap_err();
        assert_eq!(refused.code, "read_first");
        assert_eq!(replace_file(&cwd, &scope, "deep/er/run", (None, Some(&old))).unwrap_err().code, "read_first");
        replace_file(&cwd, &scope, "deep/er/run", (Some(&new), None)).unwrap();
        assert_eq!(read_file(&cwd, &scope, "deep/er/run").unwrap(), None);
    }

    #[test]
    fn what_is_denied_is_not_looked_at_and_what_is_only_read_is_neither() {
        let (_kept, cwd, _) = folder();
        for path in ["a", "no/b", "read/c"] {
            put(&cwd, path, path);
        }
        let rule = |path: &str, access| ScopeRule { path: path.to_owned(), access, recursive: true };
        let scope = Scope::new([rule(&cwd, Access::Write), rule(&format!("{cwd}/no"), Access::Deny)], []);
        assert_eq!(paths(&look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap()), ["a", "read/c"]);
        let scope = Scope::new([rule(&cwd, Access::Read), rule(&format!("{cwd}/no"), Access::Write)], []);
        assert_eq!(paths(&look(&cwd, &scope, &Tree::new(), &mut Counting::default()).unwrap()), ["no/b"]);
    }
}
