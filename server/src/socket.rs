//! The Unix socket beside the port: mode 0600, in a folder for its owner only, removed when the server ends.
//!
//! Clients that connect here need the token like any others: commands of Pods run under the same account.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, anyhow, bail};
use tokio::net::{UnixListener, UnixStream};

use crate::config::BadConfig;

/// The kernel's limit for the path of a socket.
const PATH_BYTES_MAX: usize = 107;

/// The file of the socket. Dropping this, after its listener, removes the file, unless another server answers there
/// now.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
}

/// Listens on a socket at this path, replacing one that a dead server left.
///
/// # Errors
/// A server answers there (the message contains its pid), something else is there, or others can write to the folder.
pub(crate) async fn listen(path: &Path) -> Result<(UnixListener, SocketFile)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("/"));
    make_private(folder)?;
    let _alone = lock(folder).with_context(|| format!("{} cannot be locked", folder.display()))?;
    make_room(path).await?;
    let listener = bind_in(folder, path).map_err(|error| anyhow!("cannot listen on {}: {error}", path.display()))?;
    Ok((listener, SocketFile { path: path.to_owned() }))
}

/// Keeps two servers that start or end at the same moment from mistaking each other's socket for a dead one.
fn lock(folder: &Path) -> io::Result<File> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Creates the folder for its owner only. An existing one may be readable by others, but not writable: they could
/// replace the socket by their own.
fn make_private(folder: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("the folder {} of the socket cannot be created", folder.display()))?;
    let mode = fs::metadata(folder).with_context(|| format!("{} cannot be read", folder.display()))?.mode();
    if mode & 0o022 != 0 {
        let sentence = format!(
            "other accounts can write to {}; give --socket a path in a folder of your own, such as {0}/yoi/yoi.sock",
            folder.display()
        );
        return Err(BadConfig(sentence).into());
    }
    Ok(())
}

/// Checks what is there: nothing may answer, and only a socket is removed.
async fn make_room(path: &Path) -> Result<()> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        there => there.with_context(|| format!("{} cannot be inspected", path.display()))?,
    };
    if !there.file_type().is_socket() {
        bail!("{} exists and is not a socket; give --socket another path", path.display());
    }
    match UnixStream::connect(path).await {
        Ok(stream) => bail!(
            "{} is in use by the process with pid {}; stop that one, or give --socket another path",
            path.display(),
            holder(&stream)
        ),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).with_context(|| format!("the dead socket {} cannot be removed", path.display()))
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be tried", path.display())),
    }
}

/// The kernel knows who is listening.
fn holder(stream: &UnixStream) -> String {
    match stream.peer_cred().ok().and_then(|holder| holder.pid()) {
        Some(pid) => pid.to_string(),
        None => "unknown".to_owned(),
    }
}

/// Binds in a folder that nobody else can enter, and moves the socket into place once it has its mode, so there is no
/// moment at which others could connect.
fn bind_in(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    // Short, so that of the two paths, this one is never the one that exceeds the limit.
    let apart = folder.join(format!(".{}", std::process::id()));
    let (before, longest) = (apart.join("s"), path.as_os_str().len().max(apart.as_os_str().len() + 2));
    if longest > PATH_BYTES_MAX {
        return Err(io::Error::other(format!("the path is too long; a socket's has at most {PATH_BYTES_MAX} bytes")));
    }
    let _ = fs::remove_dir_all(&apart);
    DirBuilder::new().mode(0o700).create(&apart)?;
    let bound = bind_and_move(&before, path);
    let _ = fs::remove_dir_all(&apart);
    bound
}

fn bind_and_move(before: &Path, path: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(before)?;
    fs::set_permissions(before, Permissions::from_mode(0o600))?;
    fs::rename(before, path)?;
    Ok(listener)
}

impl SocketFile {
    /// In the syntax of the command line: `unix:/run/user/1000/yoi/yoi.sock`.
    pub(crate) fn address(&self) -> OsString {
        let mut address = OsString::from("unix:");
        address.push(&self.path);
        address
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _alone = self.path.parent().map(lock);
        let is_dead = std::os::unix::net::UnixStream::connect(&self.path)
            .is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
        if is_dead && let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "the socket was not there to be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[tokio::test]
    async fn a_socket_is_for_its_owner_only_and_goes_with_its_server() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run/yoi.sock");
        let (listener, file) = listen(&path).await.unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left there");
        UnixStream::connect(&path).await.unwrap();
        drop((listener, file));
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_dead_socket_is_replaced_and_a_living_one_is_refused_with_its_pid() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("run/yoi.sock");
        let (listener, file) = listen(&path).await.unwrap();
        let sentence = listen(&path).await.unwrap_err().to_string();
        assert!(sentence.contains(&format!("in use by the process with pid {}", std::process::id())), "{sentence}");
        drop(listener);
        let (_listener, _newer) = listen(&path).await.unwrap();
        drop(file);
        UnixStream::connect(&path).await.expect("the older one's end must not remove the newer one's socket");
    }

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone_and_so_is_a_folder_of_others() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("notes.txt");
        fs::write(&path, "mine").unwrap();
        assert!(listen(&path).await.unwrap_err().to_string().contains("not a socket"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");

        let open = root.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        let error = listen(&open.join("yoi.sock")).await.unwrap_err();
        assert!(error.is::<BadConfig>() && error.to_string().contains("other accounts can write"), "{error}");

        let long = root.path().join("l".repeat(PATH_BYTES_MAX)).join("yoi.sock");
        assert!(listen(&long).await.unwrap_err().to_string().contains("too long"));
    }
}
