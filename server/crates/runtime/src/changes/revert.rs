//! Taking a change back: a hunk, or a whole file; and undoing that.

use ::changes::{Entry, is_text, reverted};
use protocol::{ApiError, ErrorCode, RevertCommand, Reverted, UndoCommand};
use tools::files::{Content, named, replace_file};

use super::{
    ABSENT, Archive, Base, Folders,
    base::{SAME, Side, present_file},
    changed, refused, version_of,
};

/// What the Pod's own work left of a file, as its version: what somebody means who reverts it and has not looked at the
/// changes, or was told of them by a server that has been restarted since. `None` if the Pod did not change it. Blocks.
pub(crate) fn left_by_pod(folders: &Folders, path: &str) -> Result<Option<String>, ApiError> {
    let archive = Archive::read(&folders.snapshots)?;
    let left = archive.chronicle.left_by_pod(path);
    Ok(left.map(|entry| entry.map_or_else(|| ABSENT.to_owned(), Entry::version)))
}

/// Reverts a hunk or a file. `seen`: the version of the file that whoever asks knows. Blocks.
///
/// # Errors
/// `changed`; `scope_not_held` outside of what the Pod may write; `invalid_input` for what is no text file;
/// `not_found`, also if the Pod's folder is gone.
pub(crate) fn revert(
    folders: &Folders,
    archive: &Archive,
    base: &Base,
    command: &RevertCommand,
    seen: Option<&str>,
) -> Result<Reverted, ApiError> {
    folders.check_there()?;
    let path = named(&folders.cwd, &command.path).map_err(refused)?;
    let present = present_file(folders, &path)?;
    let version = version_of(present.as_ref());
    let old = match base.old(archive, &path) {
        Side::Absent => None,
        Side::File(content) => Some(content),
        Side::Link(_) => {
            return Err(ApiError::invalid(format!("{path} was a symbolic link; create it again in the folder itself")));
        }
        Side::Unknown(SAME) => return Err(changed(format!("{path} is as in the branch; look at the changes again"))),
        Side::Unknown(why) => return Err(ApiError::invalid(format!("{path} cannot be reverted: {why}"))),
    };
    if old.is_none() && present.is_none() {
        let sentence = format!("{path} is not there, and was not before; GET the changes to see which files there are");
        return Err(ApiError::new(ErrorCode::NotFound, sentence));
    }
    let new = match &command.hunk {
        Some(hunk) => without_hunk(&path, old.as_ref(), present.as_ref(), hunk)?,
        None if seen != Some(version.as_str()) => {
            return Err(changed(format!("{path} has changed since you looked at it; look at the changes again")));
        }
        None if old == present => {
            return Err(changed(format!(
                "{path} is as it was, so there is nothing to revert; look at the changes again"
            )));
        }
        None => old,
    };
    replace(folders, &path, present.as_ref(), new.as_ref())?;
    Ok(Reverted { path, before: version, after: version_of(new.as_ref()) })
}

/// Makes a file again what it was before a revert. Blocks.
///
/// # Errors
/// As [`revert`]; `not_found` if that version is not kept.
pub(crate) fn undo(folders: &Folders, archive: &Archive, command: &UndoCommand) -> Result<Reverted, ApiError> {
    folders.check_there()?;
    let path = named(&folders.cwd, &command.path).map_err(refused)?;
    let present = present_file(folders, &path)?;
    let version = version_of(present.as_ref());
    if version != command.after {
        return Err(changed(format!("{path} has changed since it was reverted; look at the changes again")));
    }
    let new = match command.before.as_str() {
        ABSENT => None,
        before => Some(archive.find(&path, before).ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, format!("the former version of {path} is not kept; write it again"))
        })?),
    };
    replace(folders, &path, present.as_ref(), new.as_ref())?;
    Ok(Reverted { path, before: version, after: version_of(new.as_ref()) })
}

fn replace(folders: &Folders, path: &str, old: Option<&Content>, new: Option<&Content>) -> Result<(), ApiError> {
    replace_file(&folders.cwd, &folders.scope, path, (old, new)).map_err(refused)
}

/// The file without one hunk; `None` if nothing is left of it and it was not there before.
fn without_hunk(
    path: &str,
    old: Option<&Content>,
    present: Option<&Content>,
    hunk: &str,
) -> Result<Option<Content>, ApiError> {
    let text = |content: Option<&Content>| match content {
        None => Ok(String::new()),
        Some(content) => match is_text(&content.bytes) {
            Some(text) => Ok(text.to_owned()),
            None => Err(ApiError::invalid(format!("{path} is not text and has no hunks; revert the whole file"))),
        },
    };
    let reverted = reverted(&text(old)?, &text(present)?, hunk)
        .ok_or_else(|| changed(format!("{path} has no such hunk any more; look at the changes again")))?;
    let (is_executable, mode) = present.or(old).map_or((false, None), |content| (content.is_executable, content.mode));
    let is_gone = reverted.is_empty() && old.is_none();
    Ok((!is_gone).then(|| Content { bytes: reverted.into_bytes(), is_executable, mode }))
}
