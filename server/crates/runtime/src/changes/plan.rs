//! What a rewind brings back on the disk: what the Pod's calls after a record changed, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use ::changes::{Entry, Undoing};
use protocol::{ApiError, ErrorCode, FileStatus, RewoundFile, Seq};
use tools::files::{Content, check_writable, has_room, read_file, replace_file};

use super::{ABSENT, Archive, Folders, base::now, refused, version_of};

const GONE: &str = "the folder is gone; create it again to bring its files back";
const BLOCKED: &str = "something else is in its place, or where its folder was; move that away first";

/// What is to be done to which file.
#[derive(Debug)]
pub(crate) struct Plan {
    files: BTreeMap<String, Undoing>,
    /// Files that cannot be brought back, and why.
    left: Vec<(String, &'static str)>,
}

impl Plan {
    /// Blocks.
    ///
    /// # Errors
    /// The files cannot be read in time.
    pub(crate) fn of(folders: &Folders, archive: &Archive, to_seq: Seq) -> Result<Self, ApiError> {
        if folders.gone().is_some() {
            return Ok(Self { files: BTreeMap::new(), left: vec![(folders.cwd.clone(), GONE)] });
        }
        let now = now(archive, folders)?;
        let (mut files, mut left) = (BTreeMap::new(), Vec::new());
        for (path, undoing) in archive.chronicle.undoing(to_seq, &now.tree) {
            match obstacle(&undoing) {
                Some(why) => left.push((path, why)),
                None => drop(files.insert(path, undoing)),
            }
        }
        // Where a folder has become a file, or a file a folder, what the Pod put there goes first.
        let going: BTreeSet<String> = removed(&files).cloned().collect();
        let is_going = |path: &str| going.contains(path);
        files.retain(|path, undoing| {
            let has_room = undoing.target.is_none() || has_room(&folders.cwd, path, &is_going);
            if !has_room {
                left.push((path.clone(), BLOCKED));
            }
            has_room
        });
        Ok(Self { files, left })
    }

    /// Those that somebody else has changed.
    pub(crate) fn others(&self) -> Vec<String> {
        self.files.iter().filter(|(_, undoing)| undoing.is_others).map(|(path, _)| path.clone()).collect()
    }

    pub(crate) fn listed(&self) -> Vec<RewoundFile> {
        let status = |undoing: &Undoing| match (&undoing.present, &undoing.target) {
            (None, _) => FileStatus::Added,
            (_, None) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        };
        let file = |(path, undoing): (&String, &Undoing)| RewoundFile {
            path: path.clone(),
            status: status(undoing),
            others: undoing.is_others,
        };
        self.files.iter().map(file).collect()
    }

    /// Sentences about what stays as it is.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.left.iter().map(|(path, why)| format!("{path} stays as it is: {why}")).collect()
    }
}

/// The files that go away.
fn removed(files: &BTreeMap<String, Undoing>) -> impl Iterator<Item = &String> {
    files.iter().filter(|(_, undoing)| undoing.target.is_none()).map(|(path, _)| path)
}

/// Why a file cannot be brought back.
fn obstacle(undoing: &Undoing) -> Option<&'static str> {
    let sides = [&undoing.target, &undoing.present];
    let any = |is_so: fn(&Entry) -> bool| sides.iter().any(|side| side.as_ref().is_some_and(is_so));
    match () {
        () if any(|entry| entry.is_link) => Some("it is or was a symbolic link"),
        () if any(|entry| entry.hash.is_none()) => Some("it is or was too long to be kept"),
        () if undoing.target.as_ref().is_some_and(|entry| entry.kept_at.is_none()) => Some("its content was not kept"),
        () => None,
    }
}

/// Brings the files back: first those go that the Pod made, so that their places are free. What can be known to fail
/// does so before anything is changed. If the disk fails in between, what is done stays done, and to repeat it does the
/// rest. Blocks.
///
/// # Errors
/// `files_changed`: one has changed while this went on; or what keeps a file from being written.
pub(crate) fn restore(folders: &Folders, archive: &Archive, plan: &Plan) -> Result<(), ApiError> {
    for (path, undoing) in &plan.files {
        check_writable(&folders.cwd, &folders.scope, path).map_err(refused)?;
        sides(folders, archive, (path, undoing))?;
    }
    let (going, coming): (Vec<_>, Vec<_>) = plan.files.iter().partition(|(_, undoing)| undoing.target.is_none());
    for (path, undoing) in going.into_iter().chain(coming) {
        let (present, target) = sides(folders, archive, (path, undoing))?;
        replace_file(&folders.cwd, &folders.scope, path, (present.as_ref(), target.as_ref())).map_err(refused)?;
    }
    Ok(())
}

/// What a file is now, as the plan says, and what it becomes.
fn sides(
    folders: &Folders,
    archive: &Archive,
    (path, undoing): (&String, &Undoing),
) -> Result<(Option<Content>, Option<Content>), ApiError> {
    let present = read_file(&folders.cwd, &folders.scope, path).map_err(refused)?;
    let expected = undoing.present.as_ref().map_or_else(|| ABSENT.to_owned(), Entry::version);
    if version_of(present.as_ref()) != expected {
        let sentence = format!("{path} has just been changed; try again");
        return Err(ApiError::new(ErrorCode::FilesChanged, sentence).with_paths(vec![path.clone()]));
    }
    let Some(entry) = &undoing.target else { return Ok((present, None)) };
    let target = archive.content(entry).ok_or_else(|| {
        let sentence = format!("what {path} was before cannot be read any more; rewind without files");
        ApiError::new(ErrorCode::Internal, sentence)
    })?;
    Ok((present, Some(target)))
}
