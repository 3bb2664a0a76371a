//! Files with secrets: readable only by their owner, written atomically. All such files are written here.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

/// Writes a file that only its owner can read, atomically: it is complete or stays as it was.
///
/// # Errors
/// Any I/O error.
pub fn write_private(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    // The temporary file may have existed already, with wider permissions.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    // Without this, a power loss may bring the previous file back.
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Writes a list as JSON.
pub(crate) async fn write(path: PathBuf, items: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_vec_pretty(items).expect("texts always encode");
    tokio::task::spawn_blocking(move || write_private(&path, &text)).await.map_err(std::io::Error::other)?
}

/// Reads the list in a file. A missing file is an empty list; an error about an unreadable one does not reveal its
/// content.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
    };
    serde_json::from_slice(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("{} is damaged at line {line}, column {column}; repair it, or move it away", path.display())
    })
}
