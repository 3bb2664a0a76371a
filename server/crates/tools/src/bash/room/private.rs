//! What one command has of its own on the disk: a temporary folder, and what is mounted over things that are closed to
//! it.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// A folder that no other account on this machine can enter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Private {
    folder: PathBuf,
}

impl Private {
    pub(in super::super) fn make() -> io::Result<Self> {
        let base = env::temp_dir().canonicalize()?;
        let folder = base.join(format!("yoi-shell-{}-{:016x}", std::process::id(), random()?));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let private = Self { folder };
        private.fill().inspect_err(|_| private.remove())?;
        Ok(private)
    }

    fn fill(&self) -> io::Result<()> {
        for (folder, mode) in [(self.temp(), 0o700), (self.root(), 0o755), (self.closed(true), 0o000)] {
            DirBuilder::new().mode(mode).create(folder)?;
        }
        OpenOptions::new().write(true).create_new(true).mode(0o000).open(self.closed(false)).map(drop)
    }

    /// The command's temporary folder.
    pub(in super::super) fn temp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Where the sandbox is assembled.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("room")
    }

    /// An empty folder or file that nobody may read.
    pub(super) fn closed(&self, is_folder: bool) -> PathBuf {
        self.folder.join(if is_folder { "closed" } else { "closed-file" })
    }

    /// Removes all of it, including folders whose permissions the command has removed. Nobody else is left who could
    /// change it.
    pub(in super::super) fn remove(&self) {
        if fs::remove_dir_all(&self.folder).is_ok() {
            return;
        }
        let mut closed = vec![self.folder.clone()];
        while let Some(folder) = closed.pop() {
            let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
            closed.extend(folders_in(&folder));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
