//! The last list of another server's Pods, kept beside the file of runtimes, so that after a restart its Pods are shown
//! as last seen while it does not answer. Purely a convenience: failures to read or write it are ignored.

use std::{fs, io::ErrorKind, path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use protocol::{PodSummary, RuntimeState};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, sleep_until};

use super::known::Known;
use crate::private_file::write_private;

/// The most Pods kept of one runtime; the oldest come first.
const PODS_KEPT_MAX: usize = 2_000;
/// How long changes are gathered …
const GATHER: Duration = Duration::from_secs(1);
/// … and the shortest time between two writes of a list.
const WRITTEN_EVERY: Duration = Duration::from_secs(60);

/// The contents of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    /// A list of another database is of no use.
    store_id: String,
    pub(super) at: Timestamp,
    pub(super) pods: Vec<PodSummary>,
}

/// The list of this store, if there is one.
pub(super) fn read(path: &PathBuf, store_id: &str) -> Option<Seen> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            tracing::warn!(%error, "the last list of a runtime cannot be read");
            return None;
        }
    };
    match serde_json::from_slice::<Seen>(&text) {
        Ok(seen) => Some(seen).filter(|seen| seen.store_id == store_id),
        Err(error) => {
            tracing::warn!(%error, "the last list of a runtime cannot be understood");
            None
        }
    }
}

/// Writes the list to the file as it changes, as long as the runtime is in the registry.
pub(super) async fn keep(known: Arc<Known>, path: PathBuf) {
    let mut changes = known.listen();
    let mut next = Instant::now();
    loop {
        if !changes.again().await {
            return;
        }
        sleep(GATHER).await;
        sleep_until(next).await;
        changes.forget();
        // While the server does not answer, nothing new is known here.
        let Some(store_id) = known.store_id().filter(|_| known.view().state == RuntimeState::Live) else { continue };
        let mut pods = known.as_told();
        pods.truncate(PODS_KEPT_MAX);
        let seen = Seen { store_id, at: Timestamp::now(), pods };
        let text = serde_json::to_vec(&seen).expect("protocol types always encode");
        let path = path.clone();
        match tokio::task::spawn_blocking(move || write_private(&path, &text)).await {
            Ok(Ok(())) => (),
            Ok(Err(error)) => tracing::warn!(%error, "the list of a runtime could not be written down"),
            Err(_) => return,
        }
        next = Instant::now() + WRITTEN_EVERY;
    }
}

/// Deletes the file of a runtime that was removed.
pub(super) fn forget(path: &PathBuf) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(%error, "the last list of a runtime that was taken out could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_by_its_own_store_alone_and_damage_is_no_list() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seen.json");
        assert_eq!(read(&path, "s1"), None);
        let seen = Seen { store_id: "s1".to_owned(), at: Timestamp::UNIX_EPOCH, pods: Vec::new() };
        write_private(&path, &serde_json::to_vec(&seen).unwrap()).unwrap();
        assert_eq!(read(&path, "s1"), Some(seen));
        assert_eq!(read(&path, "s2"), None);
        fs::write(&path, "{").unwrap();
        assert_eq!(read(&path, "s1"), None);
        forget(&path);
        forget(&path);
        assert!(!path.exists());
    }
}
