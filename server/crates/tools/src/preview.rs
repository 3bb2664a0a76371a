//! The way to what a command serves on its own loopback: one for each call, on a Unix socket that its keeper listens on.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};

use crate::proxy::new_folder;

/// Asked for in place of a port: which ports are listened on.
pub(crate) const LIST: u16 = 0;
/// Of that list, in bytes: room for all ports.
const LIST_BYTES_MAX: u64 = 512 * 1024;
/// For the keeper to answer; it waits for the first process of the room for less.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(20);

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
/// `ConnectionRefused`: nobody listens there. All others: the command has no room, has ended, or does not answer.
pub async fn connect(socket: &Path, port: u16) -> io::Result<UnixStream> {
    if port == LIST {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    ask(socket, port).await
}

/// The ports that the command whose socket this is listens on, the lowest first.
///
/// # Errors
/// The command has no room, has ended, or does not answer.
pub async fn listening(socket: &Path) -> io::Result<Vec<u16>> {
    let mut list = String::new();
    let stream = ask(socket, LIST).await?;
    timeout(ANSWER_WAIT_MAX, stream.take(LIST_BYTES_MAX).read_to_string(&mut list)).await??;
    let ports: BTreeSet<u16> = list.lines().filter_map(|line| line.parse().ok()).collect();
    Ok(ports.into_iter().collect())
}

async fn ask(socket: &Path, port: u16) -> io::Result<UnixStream> {
    let asking = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.write_all(&port.to_be_bytes()).await?;
        match stream.read_u8().await? {
            CONNECTED => Ok(stream),
            _ => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    };
    timeout(ANSWER_WAIT_MAX, asking).await?
}
