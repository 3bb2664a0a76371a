//! What the files are compared with: a snapshot, or a commit.

use std::collections::{BTreeMap, BTreeSet};

use ::changes::{Entry, Tree, differing, sha256};
use protocol::{ApiError, Seq, Since, Timestamp};
use tools::files::{Content, Found, is_tracked, named, read_file};

use super::{Archive, Folders, refused, version_of};
use crate::git::{Former, SinceBranch};

/// A file on one side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    Absent,
    File(Content),
    /// A symbolic link, and what it names.
    Link(String),
    /// There is one, and its content is not known, for this reason.
    Unknown(&'static str),
}

pub(super) const TOO_LARGE: &str = "it is too long to be kept";
pub(super) const SAME: &str = "it does not differ from the branch";
const NOT_KEPT: &str = "what it was before was not kept";

/// What the files are compared with.
#[derive(Debug)]
pub(crate) enum Base {
    /// The state at one of the snapshots; `None` if there are none.
    Snapshot(Option<usize>),
    /// A commit, and what the files that differ from it were there.
    Commit {
        id: String,
        files: BTreeMap<String, Option<Former>>,
        is_cut: bool,
        /// Folders that are repositories of their own, of which nothing is compared.
        repositories: Vec<String>,
    },
}

/// One file that differs.
pub(super) struct Differing {
    pub(super) path: String,
    pub(super) old: Side,
    pub(super) new: Side,
    pub(super) version: String,
    pub(super) is_others: bool,
}

impl Base {
    /// The snapshot to compare with. `turn`: where the newest turn begins.
    pub(crate) fn of(archive: &Archive, since: Since, turn: Option<Seq>) -> Self {
        let first = (!archive.chronicle.is_empty()).then_some(0);
        match (since, turn) {
            (Since::Turn, Some(turn)) => Self::Snapshot(archive.chronicle.at_turn(turn)),
            _ => Self::Snapshot(first),
        }
    }

    /// The commit to compare with.
    pub(crate) fn of_branch(cwd: &str, since: SinceBranch) -> Self {
        let SinceBranch { commit, files, is_cut, repositories } = since;
        let files = files.into_iter().filter_map(|(path, former)| Some((named(cwd, &path).ok()?, former))).collect();
        let repositories = repositories.iter().filter_map(|path| named(cwd, path).ok()).collect();
        Self::Commit { id: commit, files, is_cut, repositories }
    }

    pub(super) fn snapshot(&self, archive: &Archive) -> Option<(Seq, Timestamp)> {
        match self {
            Self::Snapshot(Some(at)) => archive.chronicle.get(*at).map(|snapshot| (snapshot.seq, snapshot.at)),
            _ => None,
        }
    }

    /// What a file was. Blocks.
    pub(super) fn old(&self, archive: &Archive, path: &str) -> Side {
        match self {
            Self::Snapshot(None) => Side::Absent,
            Self::Snapshot(Some(at)) => {
                archive.chronicle.tree(*at).get(path).map_or(Side::Absent, |entry| kept(archive, entry))
            }
            // A file that is not listed is as it was; nobody looks for it there.
            Self::Commit { files, .. } => match files.get(path) {
                None => Side::Unknown(SAME),
                Some(former) => of_commit(former.as_ref()),
            },
        }
    }
}

fn of_commit(former: Option<&Former>) -> Side {
    match former {
        None => Side::Absent,
        Some(Former { content: Some(bytes), is_link: true, .. }) => {
            Side::Link(String::from_utf8_lossy(bytes).into_owned())
        }
        Some(Former { content: Some(bytes), is_executable, .. }) => {
            Side::File(Content { bytes: bytes.clone(), is_executable: *is_executable, mode: None })
        }
        Some(Former { content: None, .. }) => Side::Unknown(TOO_LARGE),
    }
}

fn kept(archive: &Archive, entry: &Entry) -> Side {
    match (archive.content(entry), &entry.hash) {
        (Some(content), _) if entry.is_link => Side::Link(String::from_utf8_lossy(&content.bytes).into_owned()),
        (Some(content), _) => Side::File(content),
        (None, None) => Side::Unknown(TOO_LARGE),
        (None, Some(_)) => Side::Unknown(NOT_KEPT),
    }
}

/// Calls `each` with every file that differs, by path, until it says no. Blocks.
pub(super) fn differences(
    base: &Base,
    (archive, folders, now): (&Archive, &Folders, &Found),
    mut each: impl FnMut(Differing) -> bool,
) -> Result<(), ApiError> {
    match base {
        Base::Snapshot(None) => (),
        Base::Snapshot(Some(at)) => {
            let own = archive.chronicle.own(*at, &now.tree);
            let old = archive.chronicle.tree(*at);
            for (path, (before, after)) in differing(&old, &now.tree) {
                let old = before.map_or(Side::Absent, |entry| kept(archive, entry));
                if !each(one(folders, path, old, after, &own)) {
                    break;
                }
            }
        }
        Base::Commit { files, .. } => {
            let own = archive.chronicle.own(0, &now.tree);
            let nobody = archive.chronicle.is_empty();
            for (path, content) in files {
                if !is_tracked(&folders.cwd, &folders.scope, path) {
                    continue;
                }
                let after = now.tree.get(path);
                let old = of_commit(content.as_ref());
                let mut differing = one(folders, path, old, after, &own);
                differing.is_others &= !nobody;
                // What a link names now is known by its hash alone.
                let is_same_link = matches!((&differing.old, after), (Side::Link(old), Some(now))
                    if now.is_link && now.hash.as_ref() == Some(&sha256(old.as_bytes())));
                if differing.old != differing.new && !is_same_link && !each(differing) {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn one(folders: &Folders, path: &str, old: Side, after: Option<&Entry>, own: &BTreeSet<String>) -> Differing {
    let (new, version) = match after {
        None => (Side::Absent, version_of(None)),
        Some(entry) if entry.is_link => (Side::Link(String::new()), entry.version()),
        Some(entry) if entry.hash.is_none() => (Side::Unknown(TOO_LARGE), entry.version()),
        Some(entry) => match read_file(&folders.cwd, &folders.scope, path) {
            Ok(Some(content)) => {
                let version = version_of(Some(&content));
                (Side::File(content), version)
            }
            Ok(None) => (Side::Absent, version_of(None)),
            Err(refused) if refused.code == "invalid_input" => (Side::Unknown(TOO_LARGE), entry.version()),
            Err(_) => (Side::Unknown("it cannot be read"), entry.version()),
        },
    };
    Differing { path: path.to_owned(), old, new, version, is_others: !own.contains(path) }
}

/// The state of the files now, with what the snapshots know of them. Blocks.
pub(super) fn now(archive: &Archive, folders: &Folders) -> Result<Found, ApiError> {
    let known: Tree = archive.chronicle.latest();
    folders.now(&known)
}

/// A file as it is now, for whoever wants to change it. Blocks.
pub(super) fn present_file(folders: &Folders, path: &str) -> Result<Option<Content>, ApiError> {
    read_file(&folders.cwd, &folders.scope, path).map_err(refused)
}
