//! Files with secrets: for their owner alone, written whole or not at all. The one way in which any of them is written.

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};

/// Writes a file that only its owner reads: whole, or it stays as it was.
///
/// # Errors
/// What the disk says.
pub fn write_private(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    // It may have been there, for more to read.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// A list as JSON.
pub(crate) async fn write(path: PathBuf, items: &impl Serialize) -> std::io::Result<()> {
    let text = serde_json::to_vec_pretty(items).expect("texts always encode");
    tokio::task::spawn_blocking(move || write_private(&path, &text)).await.map_err(std::io::Error::other)?
}

/// The list in a file. One that is not there holds nothing; why another one cannot be read is told without its content.
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
