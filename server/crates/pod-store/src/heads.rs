//! Where each journal ends, so that a record that does not follow can be refused without asking the database.
//!
//! This is safe because a fenced writer commits nothing: as long as this one may commit, nobody else moves the head of
//! a Pod that it owns. If several hosts serve a database, only the heads of Pods owned by this one are cached.

use std::collections::HashMap;

use protocol::Seq;

use crate::PodKey;

/// The most journals to remember; beyond that, all are forgotten and read again when needed.
const KNOWN_PODS_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub(crate) struct Heads {
    committed: HashMap<PodKey, Seq>,
    /// New heads in the open transaction. `None`: deleted.
    staged: HashMap<PodKey, Option<Seq>>,
    /// Read in the open transaction, which may have claimed these Pods.
    learned: HashMap<PodKey, Seq>,
}

impl Heads {
    /// `None`: not known, which after [`Heads::learn`] means that there is no such Pod.
    pub(crate) fn get(&self, pod: PodKey) -> Option<Seq> {
        let before = || self.learned.get(&pod).or_else(|| self.committed.get(&pod)).copied();
        self.staged.get(&pod).copied().unwrap_or_else(before)
    }

    /// Forgets everything if the cache is too large. Call this between transactions only.
    pub(crate) fn bound(&mut self) {
        if self.committed.len() > KNOWN_PODS_MAX {
            self.forget();
        }
    }

    pub(crate) fn learn(&mut self, heads: Vec<(PodKey, Seq)>) {
        self.learned.extend(heads);
    }

    pub(crate) fn stage(&mut self, pod: PodKey, head: Seq) {
        self.staged.insert(pod, Some(head));
    }

    pub(crate) fn stage_deleted(&mut self, pod: PodKey) {
        self.staged.insert(pod, None);
    }

    pub(crate) fn commit(&mut self) {
        self.committed.extend(self.learned.drain());
        for (pod, head) in self.staged.drain() {
            match head {
                Some(head) => drop(self.committed.insert(pod, head)),
                None => drop(self.committed.remove(&pod)),
            }
        }
    }

    pub(crate) fn roll_back(&mut self) {
        self.staged.clear();
        self.learned.clear();
    }

    /// For when the contents of the database are uncertain.
    pub(crate) fn forget(&mut self) {
        self.staged.clear();
        self.learned.clear();
        self.committed.clear();
    }
}
