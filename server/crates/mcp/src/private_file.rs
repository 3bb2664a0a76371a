//! Files that only their owner can read: what was accepted of servers, and logins to them.

use std::{
    fs::{self, File, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

/// Writes the file, a few kilobytes, completely or not at all.
pub(crate) fn write(file: &Path, content: &impl Serialize) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut new = File::options().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    // The temporary file may have existed already, with wider permissions.
    new.set_permissions(Permissions::from_mode(0o600))?;
    new.write_all(&serde_json::to_vec(content)?)?;
    new.sync_data()?;
    fs::rename(beside, file)
}

/// Reads the file; `None` if it does not exist or is damaged. A warning about a damaged one does not reveal its content.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    let bytes = fs::read(file).ok()?;
    serde_json::from_slice(&bytes)
        .inspect_err(|error| {
            let (line, column) = (error.line(), error.column());
            tracing::warn!(file = %file.display(), line, column, "this file is damaged and counts as empty");
        })
        .ok()
}
