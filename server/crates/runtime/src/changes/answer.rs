//! The answer to `GET P/changes`: files and hunks, within bounds.

use std::time::{Duration, Instant};

use ::changes::{compare, is_text};
use protocol::{ApiError, Changes, FileChange, FileStatus, Hunk, LeftOut, Since};

use tools::files::Found;

use super::{
    Archive, Base, Folders,
    base::{Differing, Side, differences, now},
};

/// The most bytes of the answer, a little less than what it may have: names and signs come on top.
const ANSWER_BYTES_MAX: usize = 900_000;
/// About how many bytes a file takes besides its hunks.
const FILE_BYTES: usize = 400;
const OWN_REPOSITORY: &str =
    "it is a repository of its own and not compared with the branch; `since` start has what changed in it";
/// Files that are compared after this time come without hunks.
const TIME_MAX: Duration = Duration::from_secs(8);

/// Everything that differs from `base`. Blocks.
///
/// # Errors
/// The files or the snapshots cannot be read in time.
pub(crate) fn changes(folders: &Folders, archive: &Archive, since: Since, base: &Base) -> Result<Changes, ApiError> {
    if let Some(gone) = folders.gone() {
        return Ok(Changes { since, notes: vec![gone], ..Changes::default() });
    }
    let now = match base {
        // There is nothing to compare with, so no file is read.
        Base::Snapshot(None) => Found::default(),
        _ => now(archive, folders)?,
    };
    let mut answer =
        Answer { changes: Changes { since, ..Changes::default() }, room: ANSWER_BYTES_MAX, more: 0, cut: 0 };
    let until = Instant::now() + TIME_MAX;
    differences(base, (archive, folders, &now), |differing| {
        answer.put(differing, until);
        true
    })?;
    let Answer { mut changes, room, more, cut } = answer;
    if let Some((seq, at)) = base.snapshot(archive) {
        (changes.from_seq, changes.from) = (Some(seq), Some(at));
    }
    changes.left_out = bounded(now.left_out, room);
    let mut notes = Vec::new();
    match base {
        Base::Snapshot(None) => notes.push("no call of this Pod has been able to change a file yet".to_owned()),
        Base::Snapshot(_) => (),
        Base::Commit { id, is_cut, repositories, .. } => {
            changes.commit = Some(id.clone());
            let path = |path: &String| LeftOut { path: path.clone(), why: OWN_REPOSITORY.to_owned() };
            changes.left_out.extend(repositories.iter().map(path));
            if *is_cut {
                notes.push("so many files differ from the branch that not all of them are listed".to_owned());
            }
        }
    }
    if cut > 0 {
        notes.push(format!("{cut} files come without all of their hunks, because the answer has at most 1 MB"));
    }
    if more > 0 {
        notes.push(format!("{more} more files have changed, which do not fit into the answer"));
    }
    changes.notes = notes;
    Ok(changes)
}

fn bounded(left_out: Vec<LeftOut>, mut room: usize) -> Vec<LeftOut> {
    let fits = |one: &LeftOut| {
        let size = one.path.len() * 2 + one.why.len() + 40;
        let fits = size <= room;
        room -= if fits { size } else { 0 };
        fits
    };
    left_out.into_iter().filter(fits).collect()
}

/// The answer so far.
struct Answer {
    changes: Changes,
    room: usize,
    /// Files that did not fit, and files that were cut.
    more: usize,
    cut: usize,
}

impl Answer {
    fn put(&mut self, differing: Differing, until: Instant) {
        let size = FILE_BYTES + differing.path.len() * 2;
        if size > self.room {
            self.more += 1;
            return;
        }
        self.room -= size;
        let mut file = file(differing, until);
        let whole = std::mem::take(&mut file.hunks);
        let count = whole.len();
        file.hunks = whole.into_iter().map_while(|hunk| self.fits(&hunk).then_some(hunk)).collect();
        if file.hunks.len() < count {
            file.note = Some("not all of its hunks fit into the answer".to_owned());
            self.cut += 1;
        }
        self.changes.added += file.added;
        self.changes.removed += file.removed;
        self.changes.files.push(file);
    }

    fn fits(&mut self, hunk: &Hunk) -> bool {
        let size = serde_json::to_vec(hunk).map_or(usize::MAX, |json| json.len() + 1);
        let fits = size <= self.room;
        self.room -= if fits { size } else { 0 };
        fits
    }
}

/// A changed file with all its hunks.
fn file(differing: Differing, until: Instant) -> FileChange {
    let Differing { path, old, new, version, is_others } = differing;
    let status = match (&old, &new) {
        (Side::Absent, _) => FileStatus::Added,
        (_, Side::Absent) => FileStatus::Deleted,
        _ => FileStatus::Modified,
    };
    let mut change = FileChange {
        path,
        status,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        version,
        binary: false,
        too_large: false,
        others: is_others,
        note: None,
    };
    let sides = [text_of(&old), text_of(&new)];
    let note = match sides {
        [Ok(_), Ok(_)] if Instant::now() > until => Some("there was no time to compare it".to_owned()),
        [Ok(old_text), Ok(new_text)] => {
            let compared = compare(old_text, new_text);
            (change.added, change.removed, change.hunks) = (compared.added, compared.removed, compared.hunks);
            change.hunks.is_empty().then(|| mode_note(&old, &new)).flatten()
        }
        [Err(why), _] | [_, Err(why)] => {
            change.binary = why == BINARY;
            change.too_large = why == super::base::TOO_LARGE;
            Some(why.to_owned())
        }
    };
    change.note = note;
    change
}

const BINARY: &str = "it is not text";

fn text_of(side: &Side) -> Result<&str, &'static str> {
    match side {
        Side::Absent => Ok(""),
        Side::File(content) => is_text(&content.bytes).ok_or(BINARY),
        Side::Link(_) => Err("it is a symbolic link"),
        Side::Unknown(why) => Err(why),
    }
}

/// Why a file without changed lines has changed.
fn mode_note(old: &Side, new: &Side) -> Option<String> {
    match (old, new) {
        (Side::File(old), Side::File(new)) if old.is_executable != new.is_executable => {
            let verb = if new.is_executable { "can" } else { "cannot" };
            Some(format!("it {verb} be run now"))
        }
        (Side::Absent, _) | (_, Side::Absent) => Some("it is empty".to_owned()),
        _ => None,
    }
}
