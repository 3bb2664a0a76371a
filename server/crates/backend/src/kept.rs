//! The file of added runtimes: addresses and tokens, readable only by its owner, written atomically.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use protocol::{AddRuntime, ApiError, RuntimeId};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, MutexGuard};

use crate::private_file;

/// The most bytes of a token, which is a line of text and not a file.
const TOKEN_BYTES_MAX: usize = 4_096;
const URL_BYTES_MAX: usize = 2_048;

/// One other server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptRuntime {
    pub(crate) runtime_id: RuntimeId,
    pub(crate) url: String,
    pub(crate) token: String,
    /// The store, once known: another database at the same address is another runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) store_id: Option<String>,
}

// Implemented by hand to leave out the address and the token.
impl fmt::Debug for KeptRuntime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptRuntime").field("runtime_id", &self.runtime_id).finish_non_exhaustive()
    }
}

impl KeptRuntime {
    /// Validates what a person wants to add, as far as that is possible without asking anybody.
    pub(crate) fn new(add: AddRuntime) -> Result<Self, ApiError> {
        let AddRuntime { runtime_id, url, token } = add;
        let (url, token) = (url.trim().to_owned(), token.trim().to_owned());
        if url.len() > URL_BYTES_MAX {
            return Err(ApiError::invalid(format!("an address has at most {URL_BYTES_MAX} bytes")));
        }
        let is_token =
            (1..=TOKEN_BYTES_MAX).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_token {
            let sentence = "the token is what `yoi token` prints on that machine: visible ASCII characters, no spaces";
            return Err(ApiError::invalid(sentence));
        }
        Ok(Self { runtime_id, url, token, store_id: None })
    }
}

/// The contents of the file, and the lock for changing it.
#[derive(Debug)]
pub(crate) struct Kept {
    path: Option<PathBuf>,
    runtimes: Mutex<Vec<KeptRuntime>>,
    /// Commands about runtimes are carried out one after the other, so that a repeat finds the outcome of the first.
    turn: Mutex<()>,
}

/// The file, locked: changes come one after the other.
pub(crate) struct Held<'a> {
    path: Option<&'a Path>,
    runtimes: MutexGuard<'a, Vec<KeptRuntime>>,
}

impl Kept {
    /// Writes nothing to disk.
    pub(crate) fn nowhere() -> Self {
        Self { path: None, runtimes: Mutex::default(), turn: Mutex::default() }
    }

    /// Reads the file. A missing file is empty; an error about an unreadable one does not reveal its content.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<(Self, Vec<KeptRuntime>), String> {
        let runtimes = match &path {
            None => Vec::new(),
            Some(path) => private_file::read(path)?,
        };
        Ok((Self { path, runtimes: Mutex::new(runtimes.clone()), turn: Mutex::default() }, runtimes))
    }

    /// Waits for earlier commands. One that adds a runtime takes at most as long as the other server may take to
    /// answer.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Where the last list of a runtime is kept, beside this file.
    pub(crate) fn list_path(&self, runtime_id: &RuntimeId) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_file_name(format!("runtime-{runtime_id}.seen.json")))
    }

    pub(crate) async fn hold(&self) -> Held<'_> {
        Held { path: self.path.as_deref(), runtimes: self.runtimes.lock().await }
    }
}

impl Held<'_> {
    /// True if there is a runtime with this name, address and token.
    pub(crate) fn has(&self, runtime: &KeptRuntime) -> bool {
        let sign = |it: &KeptRuntime| (it.runtime_id.clone(), it.url.clone(), it.token.clone());
        self.runtimes.iter().any(|known| sign(known) == sign(runtime))
    }

    pub(crate) async fn put(&mut self, runtime: KeptRuntime) -> std::io::Result<()> {
        let mut runtimes = self.runtimes.clone();
        runtimes.retain(|known| known.runtime_id != runtime.runtime_id);
        runtimes.push(runtime);
        self.write(runtimes).await
    }

    pub(crate) async fn remove(&mut self, runtime_id: &RuntimeId) -> std::io::Result<()> {
        let mut runtimes = self.runtimes.clone();
        runtimes.retain(|known| known.runtime_id != *runtime_id);
        self.write(runtimes).await
    }

    /// Records which store answers at a runtime's address. Does nothing for a runtime that was removed.
    pub(crate) async fn set_store(&mut self, runtime_id: &RuntimeId, store_id: &str) -> std::io::Result<()> {
        let mut runtimes = self.runtimes.clone();
        let Some(known) = runtimes.iter_mut().find(|known| known.runtime_id == *runtime_id) else { return Ok(()) };
        if known.store_id.as_deref() == Some(store_id) {
            return Ok(());
        }
        known.store_id = Some(store_id.to_owned());
        self.write(runtimes).await
    }

    async fn write(&mut self, runtimes: Vec<KeptRuntime>) -> std::io::Result<()> {
        if let Some(path) = self.path.map(Path::to_owned) {
            private_file::write(path, &runtimes).await?;
        }
        *self.runtimes = runtimes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn runtime(id: &str) -> KeptRuntime {
        let (url, token) = ("http://box:1".to_owned(), "hush".to_owned());
        KeptRuntime { runtime_id: id.parse().unwrap(), url, token, store_id: None }
    }

    #[tokio::test]
    async fn what_was_added_is_there_again_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runtimes.json");
        let (kept, none) = Kept::open(Some(path.clone())).unwrap();
        assert_eq!(none, []);
        kept.hold().await.put(runtime("one")).await.unwrap();
        kept.hold().await.put(runtime("two")).await.unwrap();
        kept.hold().await.set_store(&"two".parse().unwrap(), "s2").await.unwrap();
        kept.hold().await.set_store(&"gone".parse().unwrap(), "s3").await.unwrap();
        kept.hold().await.remove(&"one".parse().unwrap()).await.unwrap();
        let two = KeptRuntime { store_id: Some("s2".to_owned()), ..runtime("two") };
        assert_eq!(Kept::open(Some(path.clone())).unwrap().1, std::slice::from_ref(&two));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(!format!("{two:?} {kept:?}").contains("hush"), "{kept:?}");
    }

    #[test]
    fn a_damaged_file_is_told_by_its_place_and_never_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runtimes.json");
        fs::write(&path, "[{\"runtime_id\":\"box\",\"url\":\"http://secret\",\"token\":7}]").unwrap();
        let sentence = Kept::open(Some(path)).unwrap_err();
        assert!(sentence.contains("damaged at line 1") && !sentence.contains("secret"), "{sentence}");
    }
}
