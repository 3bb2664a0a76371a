//! The list of Pods as the stream keeps it up to date.

use protocol::{PodRef, PodSummary, Seq};

/// All Pods, newest summary of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PodBook {
    pods: Vec<PodSummary>,
}

impl PodBook {
    pub(crate) fn new(pods: Vec<PodSummary>) -> Self {
        Self { pods }
    }

    pub(crate) fn pods(&self) -> &[PodSummary] {
        &self.pods
    }

    pub(crate) fn get(&self, pod: &PodRef) -> Option<&PodSummary> {
        self.pods.iter().find(|known| known.pod == *pod)
    }

    #[cfg(test)]
    pub(crate) fn named(&self, name: &str) -> Option<&PodSummary> {
        self.pods.iter().find(|known| known.name.as_str() == name)
    }

    /// Applies a change to the list. A summary older than the one already held is ignored.
    pub(crate) fn apply(&mut self, snapshot: bool, upserts: Vec<PodSummary>, removed: &[PodRef]) {
        if snapshot {
            self.pods = upserts;
            return;
        }
        self.pods.retain(|known| !removed.contains(&known.pod));
        for upsert in upserts {
            match self.pods.iter_mut().find(|known| known.pod == upsert.pod) {
                Some(known) if known.head_seq <= upsert.head_seq => *known = upsert,
                Some(_) => (),
                None => self.pods.push(upsert),
            }
        }
    }

    /// How many records were committed between an earlier list and this one, over all Pods.
    pub(crate) fn events_since(&self, earlier: &Self) -> u64 {
        let before = |pod: &PodRef| earlier.get(pod).map_or(Seq(0), |known| known.head_seq);
        self.pods.iter().map(|pod| u64::try_from(pod.head_seq.0 - before(&pod.pod).0).unwrap_or(0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use protocol::PodState;

    use super::*;
    use commands::samples::pod;

    #[test]
    fn changes_replace_add_and_remove() {
        let mut book = PodBook::new(vec![pod("ada", PodState::Idle), pod("bob", PodState::Idle)]);
        let gone = book.named("bob").unwrap().pod.clone();
        book.apply(false, vec![pod("ada", PodState::Running), pod("eve", PodState::Idle)], &[gone]);
        let seen: Vec<_> = book.pods().iter().map(|pod| (pod.name.as_str(), pod.state)).collect();
        assert_eq!(seen, [("ada", PodState::Running), ("eve", PodState::Idle)]);
        book.apply(true, vec![], &[]);
        assert!(book.pods().is_empty());
    }

    #[test]
    fn a_late_summary_does_not_take_the_pod_back() {
        let newer = PodSummary { head_seq: Seq(9), ..pod("ada", PodState::Running) };
        let mut book = PodBook::new(vec![newer]);
        book.apply(false, vec![pod("ada", PodState::Idle)], &[]);
        assert_eq!(book.named("ada").unwrap().state, PodState::Running);
    }

    #[test]
    fn events_are_counted_over_all_pods() {
        let before = PodBook::new(vec![pod("ada", PodState::Idle)]);
        let after = PodBook::new(vec![
            PodSummary { head_seq: Seq(31), ..pod("ada", PodState::Idle) },
            PodSummary { head_seq: Seq(4), ..pod("bob", PodState::Idle) },
        ]);
        assert_eq!(after.events_since(&before), 34);
        assert_eq!(before.events_since(&after), 0);
    }
}
