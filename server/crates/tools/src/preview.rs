//! The way to what a command serves on its own loopback: one for each call, on a Unix socket that its keeper listens on.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};

use crate::proxy::new_folder;

/// What the keeper answers first.
pub(crate) const CONNECTED: u8 = 1;
pub(crate) const NOBODY: u8 = 0;

/// A place for the socket of one call. Dropping it removes the socket, and leads nobody in any more.
#[derive(Debug)]
pub struct WayIn {
    folder: PathBuf,
}

impl WayIn {
    /// # Errors
    /// There is no room for a folder.
    pub fn open() -> io::Result<Self> {
        new_folder().map(|folder| Self { folder })
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.join("in")
    }
}

impl Drop for WayIn {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            tracing::warn!(%error, folder = %self.folder.display(), "the socket of a call that ended stays behind");
        }
    }
}

/// Connects to a port of the loopback of the command whose socket this is.
///
/// # Errors
/// `ConnectionRefused`: nobody listens there. All others: the command has no room, or has ended.
pub async fn connect(socket: &Path, port: u16) -> io::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(&port.to_be_bytes()).await?;
    match stream.read_u8().await? {
        CONNECTED => Ok(stream),
        _ => Err(io::ErrorKind::ConnectionRefused.into()),
    }
}
