//! The files that a Pod may write, as they are now, for whoever compares them with an earlier state: and a single one of
//! them, read, replaced or removed.
//!
//! Git's own folders are left out, and what git ignores in a repository, unless it is known already: whoever changes
//! what is ignored hides nothing that was seen before. What is ignored is named, and the files that say so are looked at
//! in any case. The walk only proposes paths; contents are read through [`super::open`] like a tool's.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicUsize},
    time::{Duration, Instant, SystemTime},
};

use changes::{Entry, Stamp, Tree, sha256};
use ignore::{DirEntry, Walk, WalkBuilder};
use pod::{Scope, ScopeRefusal, covers};
use protocol::{Access, LeftOut};

use super::{
    content,
    failure::Failure,
    open,
    path::{self, beneath, shown},
    target::{Missing, Rights, Target},
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
/// The most of them that git ignores.
const IGNORED_MAX: usize = 50;
const IGNORED: &str = "git ignores it";
const NOT_TEXT: &str = "its name is not UTF-8";
/// Files that say what git ignores.
const IGNORE_FILE: &str = ".gitignore";
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
#[derive(Debug, Clone, Eq)]
pub struct Content {
    pub bytes: Vec<u8>,
    pub is_executable: bool,
    /// The lowest nine bits of its mode, if they are known. They count where a file that is gone is made anew.
    pub mode: Option<u32>,
}

impl PartialEq for Content {
    /// Whether a review shows no difference: the mode is none.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.is_executable == other.is_executable
    }
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
/// in `known` is not read again. Those in `also` are looked at even if git ignores them. Blocks.
///
/// # Errors
/// It took too long, or what was new could not be kept.
pub fn look(cwd: &str, scope: &Scope, (known, also): (&Tree, &[String]), keep: &mut dyn Keep) -> Result<Found, String> {
    look_at(cwd, scope, (known, also), keep, now_ns())
}

fn look_at(
    cwd: &str,
    scope: &Scope,
    (known, also): (&Tree, &[String]),
    keep: &mut dyn Keep,
    now: i64,
) -> Result<Found, String> {
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
    let also = also.iter().filter_map(|path| Some(shown(&work.cwd, &work.absolute(path).ok()?)));
    let wanted: BTreeSet<String> = known.keys().cloned().chain(also).collect();
    looking.found.left_out.retain(|one| one.why != IGNORED || !wanted.contains(&one.path));
    for path in wanted.into_iter().filter(|path| !looking.found.tree.contains_key(path)).collect::<Vec<_>>() {
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

/// The content of a file; `None` if there is none, perhaps a folder. Blocks.
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
        Ok(opened) if opened.kind().is_dir() => Ok(None),
        Ok(opened) if opened.kind().is_file() && opened.size() > CONTENT_BYTES_MAX => Err(Refused {
            code: "invalid_input",
            detail: format!("{path} has {} bytes; of so large a file nothing is kept", opened.size()),
        }),
        Ok(opened) => {
            let mode = opened.stat.st_mode & 0o777;
            let bytes = content::bytes(&opened, path)?;
            Ok(Some(Content { bytes, is_executable: mode & 0o100 != 0, mode: Some(mode) }))
        }
    }
}

/// Makes a file what `new` says; `None` removes it. It must be what `old` says before that. A folder in its place is
/// removed if no file is in it. Blocks.
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
    let target = Target::find(&work, &whole, missing).map_err(|failure| match failure {
        Failure::NotFound(_) if new.is_some() => {
            Failure::InvalidInput(format!("{path} is in what is a file now; take that back or move it first"))
        }
        failure => failure,
    })?;
    if target.path != whole {
        return Err(is_link(path));
    }
    if old.is_none() && new.is_some() && target.is_folder() {
        target.remove_folder()?;
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
        (Some(new), _) => {
            let rights = Rights { is_executable: new.is_executable, mode: new.mode };
            target.replace_bytes(&new.bytes, present.as_ref(), Some(rights))?;
        }
        (None, Some(present)) => target.remove(present)?,
        (None, None) => (),
    }
    Ok(())
}

/// Whether a file can be at this path once the files are gone of which `is_going` says so, by the name that answers give
/// them: nothing else is in its place, or in that of a folder that it is in. Blocks.
pub fn has_room(cwd: &str, path: &str, is_going: &dyn Fn(&str) -> bool) -> bool {
    let cwd = path::join("/", cwd);
    let Ok(whole) = path::absolute(&cwd, path) else { return false };
    let above: Vec<&Path> = Path::new(&whole).ancestors().skip(1).collect();
    for folder in above.into_iter().rev() {
        match fs::symlink_metadata(folder) {
            Ok(there) if there.is_dir() => (),
            Ok(_) => return folder.to_str().is_some_and(|folder| is_going(&shown(&cwd, folder))),
            Err(_) => return true,
        }
    }
    let mut folders = match fs::symlink_metadata(&whole) {
        Ok(there) if there.is_dir() => vec![Path::new(&whole).to_owned()],
        _ => Vec::new(),
    };
    let mut left = FILES_MAX;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { return false };
        for entry in entries {
            let Ok(entry) = entry else { return false };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ if entry.path().to_str().is_some_and(|file| is_going(&shown(&cwd, file))) => (),
                _ => return false,
            }
            left -= 1;
            if left == 0 {
                return false;
            }
        }
    }
    true
}

/// Fails if the scope does not let the Pod write this file now.
///
/// # Errors
/// The scope's refusal, or no file can have this path.
pub fn check_writable(cwd: &str, scope: &Scope, path: &str) -> Result<(), Refused> {
    let whole = path::absolute(&path::join("/", cwd), path)?;
    scope.may_write(&whole).map_err(|refusal| Failure::Scope { path: path.to_owned(), refusal }.into())
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
        let skipped = Arc::<Skipped>::default();
        let is_repository = is_in_repository(root);
        let mut walked = Walked::default();
        let mut is_whole = true;
        for entry in walk_of(root, &self.work.scope, is_repository, &skipped) {
            self.go_on()?;
            // What cannot be listed, or has gone away, contributes nothing.
            let Ok(entry) = entry else { continue };
            let Some(path) = entry.path().to_str() else { continue };
            if is_repository {
                walked.note(path, &entry);
            }
            if entry.file_type().is_none_or(|kind| kind.is_dir()) || !tracks(&self.work.scope, path) {
                continue;
            }
            if self.found.tree.len() >= FILES_MAX {
                let why =
                    format!("there are more than {FILES_MAX} files; this one and those after it are not looked at");
                self.leave_out(path, &why);
                is_whole = false;
                break;
            }
            if let Ok(metadata) = entry.metadata() {
                self.meet(path, &metadata)?;
            }
        }
        let skipped = std::mem::take(&mut *skipped.lock().unwrap_or_else(PoisonError::into_inner));
        skipped.iter().for_each(|(path, why)| self.leave_out(path, why));
        if is_whole { self.ignored(&walked, &skipped) } else { Ok(()) }
    }

    /// Names what the walk did not meet in the folders that it was in: git ignores it. The files that say so are taken in.
    fn ignored(&mut self, walked: &Walked, skipped: &BTreeMap<String, &'static str>) -> Result<(), String> {
        let mut ignored = Vec::new();
        for folder in &walked.folders {
            self.go_on()?;
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path().to_string_lossy().into_owned();
                let (name, is_folder) = (entry.file_name(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
                if walked.met.contains(&path) || skipped.contains_key(&path) || name == ".git" {
                    continue;
                }
                let scope = &self.work.scope;
                let counts = if is_folder { reaches(scope, &path) } else { tracks(scope, &path) };
                match entry.metadata() {
                    Ok(metadata) if counts && name == IGNORE_FILE => self.meet(&path, &metadata)?,
                    _ if counts => ignored.push(path),
                    _ => (),
                }
            }
        }
        ignored.retain(|path| !self.known.contains_key(&shown(&self.work.cwd, path)));
        ignored.sort_unstable();
        let more = ignored.len().saturating_sub(IGNORED_MAX);
        ignored.truncate(IGNORED_MAX);
        let last = if more > 0 { ignored.pop() } else { None };
        ignored.iter().for_each(|path| self.leave_out(path, IGNORED));
        if let Some(last) = last {
            self.leave_out(&last, &format!("{IGNORED}, and {more} more that are not named here"));
        }
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
        let mode = metadata.mode() & 0o777;
        let is_executable = mode & 0o100 != 0;
        let bare = Entry { hash: None, kept_at: None, size, is_link, is_executable, mode: Some(mode), stamp };
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

/// What a walk was in, and what it met.
#[derive(Default)]
struct Walked {
    folders: Vec<String>,
    met: HashSet<String>,
}

impl Walked {
    fn note(&mut self, path: &str, entry: &DirEntry) {
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            self.folders.push(path.to_owned());
        }
        self.met.insert(path.to_owned());
    }
}

/// What a walk did not enter though git does not ignore it, and why.
type Skipped = Mutex<BTreeMap<String, &'static str>>;

fn walk_of(root: &str, scope: &Scope, is_repository: bool, skipped: &Arc<Skipped>) -> Walk {
    let (base, scope, noted) = (root.to_owned(), scope.clone(), skipped.clone());
    WalkBuilder::new(root)
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
        .build()
}

/// Whether the walk goes on at an entry; the error names a folder that is left out though git does not ignore it.
fn enters(entry: &DirEntry, scope: &Scope, root: &str) -> Result<bool, (String, &'static str)> {
    let Some(path) = entry.path().to_str() else {
        return Err((entry.path().to_string_lossy().into_owned(), NOT_TEXT));
    };
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
mod tests;
