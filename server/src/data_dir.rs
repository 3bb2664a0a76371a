//! The folder with everything that belongs to one server: database, token, lock. Folders have mode 0700, files 0600.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

const LOCK: &str = "lock";
const ADDRESS: &str = "address";
const HOST: &str = "host";
/// Long outputs of tools, in one folder per Pod.
pub(crate) const OUTPUTS: &str = "outputs";
/// The accepted tool definitions of MCP servers.
pub(crate) const MCP: &str = "mcp.json";
/// The logins to MCP servers.
pub(crate) const MCP_LOGINS: &str = "mcp-logins.json";

/// The folder, locked: no other server can use it until this is dropped or the process has ended in any way.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Locked as long as it is open; the kernel releases the lock, even after a kill -9.
    _lock: File,
}

impl DataDir {
    /// Creates the folder if it is missing, and locks it.
    ///
    /// # Errors
    /// Another yoi holds it; the message contains its pid.
    pub(crate) fn hold(path: &Path) -> Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("the data folder {} cannot be created", path.display()))?;
        let lock = hold_lock(path)?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the server's address to a file, for the other verbs.
    pub(crate) fn write_address(&self, url: &str) -> Result<()> {
        write_private(&self.path.join(ADDRESS), &format!("{url}\n"))
    }

    /// Removes the file with the address.
    pub(crate) fn remove_address(&self) {
        if let Err(error) = fs::remove_file(self.path.join(ADDRESS)) {
            tracing::debug!(%error, "the file with the address was not there to be removed");
        }
    }
}

/// The identity of this folder's server among others on one database, for as long as the folder exists.
pub(crate) fn host_uid(path: &Path) -> Result<String> {
    let file = path.join(HOST);
    match fs::read_to_string(&file) {
        Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        _ => {
            let mut random = [0; 16];
            getrandom::fill(&mut random).context("the machine gives no random number")?;
            let uid: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
            write_private(&file, &format!("{uid}\n"))?;
            Ok(uid)
        }
    }
}

/// Files in this folder that exist only if there were Pods, so that it is noticed if their database is gone.
pub(crate) fn traces_of_pods(path: &Path) -> Vec<PathBuf> {
    // A server that shares a PostgreSQL database keeps no database here.
    if path.join(HOST).exists() {
        return Vec::new();
    }
    let outputs = path.join(OUTPUTS);
    let has_some = fs::read_dir(&outputs).is_ok_and(|mut pods| pods.next().is_some());
    if has_some { vec![outputs] } else { Vec::new() }
}

/// The current or last address of this folder's server.
pub(crate) fn address(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path.join(ADDRESS)).ok()?;
    Some(text.trim().to_owned()).filter(|url| !url.is_empty())
}

/// The pid of the server that holds a folder now, if there is one.
pub(crate) fn holder(path: &Path) -> Option<String> {
    let mut lock = File::open(path.join(LOCK)).ok()?;
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Some(pid_in(&mut lock)),
        _ => None,
    }
}

/// Writes a file that only its owner can read, atomically.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    backend::write_private(path, text.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

fn hold_lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    let mut file = private()
        .truncate(false)
        .open(&path)
        .with_context(|| format!("the lock {} cannot be opened", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => bail!(
            "{} is in use by yoi with pid {}; stop it, or choose another folder with --data DIR",
            folder.display(),
            pid_in(&mut file)
        ),
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("the lock {} cannot be taken", path.display()));
        }
    }
    let pid = format!("{}\n", std::process::id());
    let note = |file: &mut File| -> std::io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(pid.as_bytes())
    };
    note(&mut file).with_context(|| format!("the lock {} cannot be written", path.display()))?;
    Ok(file)
}

/// The holder may have taken the lock just now and not written its pid yet.
fn pid_in(file: &mut File) -> String {
    let mut text = String::new();
    match file.rewind().and_then(|()| file.read_to_string(&mut text)) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_fresh_folder_is_for_its_owner_only_and_so_is_all_that_is_written_there() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/data");
        let data = DataDir::hold(&path).unwrap();
        data.write_address("http://127.0.0.1:1").unwrap();
        assert_eq!((mode(&root.path().join("deep")), mode(&path)), (0o700, 0o700));
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap().path();
            assert_eq!(mode(&entry), 0o600, "{}", entry.display());
        }
        assert_eq!(address(&path).as_deref(), Some("http://127.0.0.1:1"));
        data.remove_address();
        assert_eq!(address(&path), None);
    }

    #[test]
    fn a_folder_that_is_held_is_refused_with_the_pid_and_is_free_when_it_is_let_go() {
        let root = tempfile::tempdir().unwrap();
        let held = DataDir::hold(root.path()).unwrap();
        let sentence = DataDir::hold(root.path()).unwrap_err().to_string();
        assert!(sentence.contains(&format!("in use by yoi with pid {}", std::process::id())), "{sentence}");
        assert_eq!(holder(root.path()), Some(std::process::id().to_string()));
        drop(held);
        assert_eq!(holder(root.path()), None);
        DataDir::hold(root.path()).unwrap();
    }

    #[test]
    fn outputs_of_pods_are_traces_of_them_unless_their_database_is_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let outputs = root.path().join(OUTPUTS);
        fs::create_dir(&outputs).unwrap();
        assert!(traces_of_pods(root.path()).is_empty());
        fs::create_dir(outputs.join("a Pod")).unwrap();
        assert_eq!(traces_of_pods(root.path()), [outputs]);
        host_uid(root.path()).unwrap();
        assert!(traces_of_pods(root.path()).is_empty());
    }

    #[test]
    fn a_longer_pid_of_a_dead_holder_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(LOCK), "123456789012345\n").unwrap();
        let _held = DataDir::hold(root.path()).unwrap();
        assert_eq!(fs::read_to_string(root.path().join(LOCK)).unwrap(), format!("{}\n", std::process::id()));
    }
}
