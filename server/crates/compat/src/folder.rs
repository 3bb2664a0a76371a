//! The folder of the sockets, which shows the older Pods that exist. They come and go; a name that has been there
//! once stays known.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use protocol::{ApiError, ErrorCode, PodName, WorkerId};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{lines::LONG_LINES_MAX, names, pod::Pod, scrub::Scrub, task};

/// How often the folder is scanned.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// The maximum number of known names; further ones are ignored.
const PODS_MAX: usize = 256;
/// The maximum number of directory entries scanned.
const ENTRIES_MAX: usize = 4_096;
/// How long startup waits for the existing Pods to identify themselves.
const SETTLE_MAX: Duration = Duration::from_millis(700);

#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    scrub: Arc<Scrub>,
    instance: String,
    long_lines: Arc<Semaphore>,
    /// Changes when something in a list has changed.
    pub(crate) list: Arc<watch::Sender<u64>>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    pods: BTreeMap<PodName, Arc<Pod>>,
    /// Dropping it ends the Pods' tasks.
    tasks: JoinSet<()>,
    /// Names that were reported as ignored.
    skipped: BTreeSet<String>,
    /// Why the folder cannot be read.
    trouble: Option<io::ErrorKind>,
}

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        let random = uuid::Uuid::new_v4().simple().to_string();
        Self {
            path: path.to_owned(),
            scrub: Arc::new(Scrub::new(path)),
            instance: random[..12].to_owned(),
            long_lines: Arc::new(Semaphore::new(LONG_LINES_MAX)),
            list: Arc::new(watch::Sender::new(1)),
            known: Mutex::default(),
        }
    }

    /// Waits a moment until each existing Pod has either been reached or not.
    pub(crate) async fn settled(&self) {
        let pods = self.pods();
        let settled = pods.iter().map(|pod| async {
            // A Pod is never dropped while it is in a list.
            let _ = pod.is_settled.subscribe().wait_for(|is_settled| *is_settled).await;
        });
        let _ = timeout(SETTLE_MAX, join_all(settled)).await;
    }

    /// Scans the folder for ever.
    pub(crate) async fn watch(self: Arc<Self>) {
        loop {
            sleep(LOOK_EVERY).await;
            self.look().await;
        }
    }

    pub(crate) async fn look(&self) {
        let path = self.path.clone();
        match tokio::task::spawn_blocking(move || sockets(&path)).await {
            Ok(Ok(found)) => self.found(found),
            Ok(Err(error)) => self.cannot_look(error.kind()),
            Err(_) => (),
        }
    }

    /// The Pods, sorted by name.
    pub(crate) fn pods(&self) -> Vec<Arc<Pod>> {
        self.known().pods.values().cloned().collect()
    }

    pub(crate) fn named(&self, name: &PodName) -> Option<Arc<Pod>> {
        self.known().pods.get(name).cloned()
    }

    pub(crate) fn pod(&self, worker_id: &WorkerId) -> Result<Arc<Pod>, ApiError> {
        let found = self.known().pods.values().find(|pod| pod.worker_id == *worker_id).cloned();
        found.ok_or_else(|| {
            let sentence = format!("no Pod has the id {worker_id} in the runtime \"{}\"", names::RUNTIME);
            ApiError::new(ErrorCode::PodNotFound, sentence)
        })
    }

    /// Why the folder cannot be read; `None` if it can.
    pub(crate) fn trouble(&self) -> Option<io::ErrorKind> {
        self.known().trouble
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cannot_look(&self, error: io::ErrorKind) {
        let mut known = self.known();
        if known.trouble != Some(error) {
            tracing::warn!(%error, "debug mode: the folder of the older Pods' sockets cannot be read");
        }
        known.trouble = Some(error);
        // Existing connections stay; nothing new is found.
    }

    fn found(&self, found: BTreeMap<String, PathBuf>) {
        let mut known = self.known();
        known.trouble = None;
        let mut there = BTreeSet::new();
        for (text, path) in found {
            let name = match PodName::parse(&text) {
                Ok(name) => name,
                Err(error) => {
                    known.skip(text, &error.to_string());
                    continue;
                }
            };
            let Some(pod) = self.pod_of(&mut known, &name) else {
                known.skip(text, "there are too many older Pods");
                continue;
            };
            there.insert(name);
            pod.socket.send_if_modified(|socket| {
                let is_new = socket.as_ref() != Some(&path);
                *socket = Some(path);
                is_new
            });
        }
        for pod in known.pods.values().filter(|pod| !there.contains(&pod.name)) {
            pod.socket.send_if_modified(|socket| socket.take().is_some());
        }
    }

    fn pod_of(&self, known: &mut Known, name: &PodName) -> Option<Arc<Pod>> {
        if let Some(pod) = known.pods.get(name) {
            return Some(pod.clone());
        }
        if known.pods.len() >= PODS_MAX {
            return None;
        }
        let (instance, scrub, list) = (self.instance.clone(), self.scrub.clone(), self.list.clone());
        let pod = Arc::new(Pod::new(name.clone(), instance, scrub, list));
        known.tasks.spawn(task::keep_connected(pod.clone(), self.long_lines.clone()));
        known.pods.insert(name.clone(), pod.clone());
        pod.tell_changed();
        Some(pod)
    }
}

impl Known {
    fn skip(&mut self, name: String, why: &str) {
        if self.skipped.len() < ENTRIES_MAX && self.skipped.insert(name.clone()) {
            tracing::warn!(name = ?name, why, "debug mode: a socket is left alone");
        }
    }
}

/// `NAME/sock` and `NAME.sock`, by name; if both exist, the first.
fn sockets(folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let is_socket = |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)?.take(ENTRIES_MAX) {
        let path = entry?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let inside = path.join("sock");
        if is_socket(&inside) {
            found.insert(file.to_owned(), inside);
        } else if let Some(name) = file.strip_suffix(".sock")
            && is_socket(&path)
        {
            found.entry(name.to_owned()).or_insert(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_socket_is_named_by_its_folder_or_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["ada", "bob", "empty"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("bob/sock"), "a file").unwrap();
        std::fs::write(at("file.sock"), "a file").unwrap();
        let listeners = [at("ada/sock"), at("eve.sock"), at("ada.sock"), at("bad name.sock")].map(UnixListener::bind);
        let found = sockets(folder.path()).unwrap();
        assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), ["ada", "bad name", "eve"]);
        assert_eq!(found["eve"], at("eve.sock"));
        drop(listeners);
        assert!(sockets(&at("nowhere")).is_err());
    }

    #[tokio::test]
    async fn names_that_are_no_names_of_pods_are_left_alone_and_others_stay_known() {
        let folder = tempfile::tempdir().unwrap();
        let bind = |name: &str| UnixListener::bind(folder.path().join(name)).unwrap();
        let (_bad, ada) = (bind("bad name.sock"), bind("ada.sock"));
        let known = Folder::new(folder.path());
        known.look().await;
        let pods = known.pods();
        assert_eq!(pods.iter().map(|pod| pod.name.as_str()).collect::<Vec<_>>(), ["ada"]);
        assert!(pods[0].socket.borrow().is_some());
        drop(ada);
        std::fs::remove_file(folder.path().join("ada.sock")).unwrap();
        known.look().await;
        assert!(known.pods()[0].socket.borrow().is_none());
        assert_eq!(known.pod(&pods[0].worker_id).unwrap().name.as_str(), "ada");
    }
}
