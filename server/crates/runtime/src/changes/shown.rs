//! Which version of each file the newest answer told, so that a revert of a whole file is refused if it is another one
//! by now. In memory: after a restart nothing was told yet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard},
};

use protocol::{Changes, WorkerId};

/// How many Pods' answers are remembered.
const PODS_MAX: usize = 256;

/// Versions by path, for each Pod.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<HashMap<WorkerId, BTreeMap<String, String>>>);

impl Shown {
    fn all(&self) -> MutexGuard<'_, HashMap<WorkerId, BTreeMap<String, String>>> {
        self.0.lock().expect("no holder of what was shown panics")
    }

    pub(crate) fn told(&self, pod: &WorkerId, changes: &Changes) {
        let mut all = self.all();
        if all.len() >= PODS_MAX && !all.contains_key(pod) {
            all.clear();
        }
        let versions = changes.files.iter().map(|file| (file.path.clone(), file.version.clone()));
        all.insert(pod.clone(), versions.collect());
    }

    pub(crate) fn version(&self, pod: &WorkerId, path: &str) -> Option<String> {
        self.all().get(pod)?.get(path).cloned()
    }

    /// Notes what a revert made of a file, which is no news to whoever reverted it.
    pub(crate) fn became(&self, pod: &WorkerId, path: &str, version: &str) {
        if let Some(shown) = self.all().get_mut(pod).and_then(|files| files.get_mut(path)) {
            version.clone_into(shown);
        }
    }

    pub(crate) fn forget(&self, pod: &WorkerId) {
        self.all().remove(pod);
    }
}
