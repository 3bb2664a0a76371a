//! The way to what a command serves on its own loopback: one per call, through a Unix socket on which its keeper
//! listens.

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

/// Requests the list of listening ports instead of a port.
pub(crate) const LIST: u16 = 0;
/// The most bytes of that list: enough for all ports.
const LIST_BYTES_MAX: u64 = 512 * 1024;
/// How long the keeper may take to answer; its own wait for the first process is shorter.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(20);

/// The keeper's first byte.
pub(crate) const CONNECTED: u8 = 1;
pub(crate) const NOBODY: u8 = 0;

/// The place for the socket of one call. Dropping it removes the socket and closes the way in.
#[derive(Debug)]
pub struct WayIn {
    folder: PathBuf,
}

impl WayIn {
    /// # Errors
    /// The folder cannot be created.
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

/// Connects to a loopback port of the command with this socket.
///
/// # Errors
/// `ConnectionRefused`: nobody listens there. Any other: the command has no sandbox, has ended, or does not answer.
pub async fn connect(socket: &Path, port: u16) -> io::Result<UnixStream> {
    if port == LIST {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    ask(socket, port).await
}

/// The ports that the command with this socket listens on, in ascending order.
///
/// # Errors
/// The command has no sandbox, has ended, or does not answer.
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
