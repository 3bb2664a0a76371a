//! The selection of several Pods, and what can be done to all of them. Pure.

use commands::allowed::refusal_of;
use protocol::{ControlVerb, PodRef, PodSummary};

use crate::format::counted;

/// The selected Pods, in the order in which they were selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pods: Vec<PodRef>,
    /// Where a range begins: the Pod that was last selected on its own.
    anchor: Option<PodRef>,
}

impl Selection {
    pub(crate) fn has(&self, pod: &PodRef) -> bool {
        self.pods.contains(pod)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pods.is_empty()
    }

    pub(crate) fn toggle(&mut self, pod: &PodRef) {
        match self.has(pod) {
            true => self.pods.retain(|other| other != pod),
            false => self.pods.push(pod.clone()),
        }
        self.anchor = Some(pod.clone());
    }

    /// Selects everything from the anchor to this Pod, in the order shown. Without an anchor, or if it is not shown,
    /// selects only this Pod.
    pub(crate) fn extend(&mut self, shown: &[PodRef], from: Option<&PodRef>, to: &PodRef) {
        let place = |pod: &PodRef| shown.iter().position(|other| other == pod);
        let anchor = self.anchor.as_ref().filter(|_| !self.is_empty()).or(from);
        let begin = anchor.and_then(place).or_else(|| place(to));
        let (Some(begin), Some(end)) = (begin, place(to)) else { return };
        self.anchor = Some(shown[begin].clone());
        for pod in &shown[begin.min(end)..=begin.max(end)] {
            if !self.has(pod) {
                self.pods.push(pod.clone());
            }
        }
    }

    /// Selects all that are shown; if they all are selected already, deselects them.
    pub(crate) fn toggle_all(&mut self, shown: &[PodRef]) {
        match shown.iter().all(|pod| self.has(pod)) {
            true => self.pods.retain(|pod| !shown.contains(pod)),
            false => {
                let missing: Vec<PodRef> = shown.iter().filter(|pod| !self.has(pod)).cloned().collect();
                self.pods.extend(missing);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The selected Pods as they are in the list now. One that is gone is left out.
    pub(crate) fn of<'a>(&self, pods: &'a [PodSummary]) -> Vec<&'a PodSummary> {
        self.pods.iter().filter_map(|selected| pods.iter().find(|pod| pod.pod == *selected)).collect()
    }
}

/// `3 selected`, `3 selected, 1 not shown`; `None` when nothing is selected.
pub(crate) fn selected_words(selected: &[&PodSummary], filter: &str) -> Option<String> {
    let hidden = selected.iter().filter(|pod| !commands::matches(pod, filter)).count();
    match (selected.len(), hidden) {
        (0, _) => None,
        (count, 0) => Some(format!("{count} selected")),
        (count, hidden) => Some(format!("{count} selected, {hidden} not shown")),
    }
}

/// What a verb would do to the selection: which Pods it applies to, and why not to the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plan {
    pub(crate) pods: Vec<PodSummary>,
    /// `ada: it is stopped already`.
    refused: Vec<String>,
}

impl Plan {
    pub(crate) fn new(verb: ControlVerb, selected: &[&PodSummary]) -> Self {
        let mut plan = Self::default();
        for pod in selected {
            match refusal_of(verb, pod) {
                None => plan.pods.push((*pod).clone()),
                Some(reason) => plan.refused.push(format!("{}: {reason}", pod.name)),
            }
        }
        plan
    }

    /// `2 of 3 Pods; not ada: it is already stopped`.
    pub(crate) fn words(&self) -> String {
        let all = self.pods.len() + self.refused.len();
        match self.refused.as_slice() {
            [] => counted(all as u64, "Pod"),
            refused => format!("{} of {}; not {}", self.pods.len(), counted(all as u64, "Pod"), refused.join("; ")),
        }
    }
}

/// Why there is no relation to end among these Pods: at least two of them must have peers.
pub(crate) fn unpeer_refusal(selected: &[&PodSummary]) -> Option<&'static str> {
    let knowing = selected.iter().filter(|pod| pod.relations.peers > 0).count();
    (knowing < 2).then_some("select two Pods that are peers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use commands::samples::pod;
    use protocol::PodState;

    fn refs(names: &[&str]) -> Vec<PodRef> {
        names.iter().map(|name| pod(name, PodState::Idle).pod).collect()
    }

    fn names(selection: &Selection) -> Vec<&str> {
        selection.pods.iter().map(|pod| pod.worker_id.as_str()).collect()
    }

    #[test]
    fn a_range_goes_from_the_last_single_choice_in_either_direction() {
        let shown = refs(&["a", "b", "c", "d"]);
        let mut selection = Selection::default();
        selection.toggle(&shown[2]);
        selection.extend(&shown, None, &shown[0]);
        assert_eq!(names(&selection), ["c", "a", "b"]);
        selection.extend(&shown, None, &shown[3]);
        assert_eq!(names(&selection), ["c", "a", "b", "d"]);
    }

    #[test]
    fn a_range_without_a_beginning_begins_where_the_focus_was_or_with_itself() {
        let shown = refs(&["a", "b", "c"]);
        let mut selection = Selection::default();
        selection.extend(&shown, Some(&shown[0]), &shown[1]);
        assert_eq!(names(&selection), ["a", "b"]);
        let mut alone = Selection::default();
        alone.extend(&shown, None, &shown[1]);
        assert_eq!(names(&alone), ["b"]);
    }

    #[test]
    fn all_that_are_shown_join_what_is_hidden_and_leave_again() {
        let shown = refs(&["a", "b"]);
        let mut selection = Selection::default();
        selection.toggle(&refs(&["hidden"])[0]);
        selection.toggle_all(&shown);
        assert_eq!(names(&selection), ["hidden", "a", "b"]);
        selection.toggle_all(&shown);
        assert_eq!(names(&selection), ["hidden"]);
    }

    #[test]
    fn what_the_filter_hides_stays_selected_and_is_told_and_what_is_gone_is_not_counted() {
        let pods = [pod("ada", PodState::Idle), pod("bob", PodState::Running)];
        let mut selection = Selection::default();
        for name in ["ada", "bob", "gone"] {
            selection.toggle(&refs(&[name])[0]);
        }
        let selected = selection.of(&pods);
        assert_eq!(selected_words(&selected, ""), Some("2 selected".to_owned()));
        assert_eq!(selected_words(&selected, "running"), Some("2 selected, 1 not shown".to_owned()));
        assert_eq!(selected_words(&[], ""), None);
    }

    #[test]
    fn a_verb_is_done_where_it_is_allowed_and_says_why_not_elsewhere() {
        let pods = [pod("ada", PodState::Stopped), pod("bob", PodState::Running)];
        let selected: Vec<&PodSummary> = pods.iter().collect();
        let plan = Plan::new(ControlVerb::Stop, &selected);
        assert_eq!(plan.pods, [pods[1].clone()]);
        assert_eq!(plan.words(), "1 of 2 Pods; not ada: it is already stopped");
        assert_eq!(Plan::new(ControlVerb::Pause, &selected[1..]).words(), "1 Pod");
        assert!(Plan::new(ControlVerb::Resume, &selected).pods.is_empty());
    }

    #[test]
    fn only_pods_with_peers_can_be_unlinked() {
        let mut pods = [pod("ada", PodState::Idle), pod("bob", PodState::Idle)];
        assert!(unpeer_refusal(&pods.iter().collect::<Vec<_>>()).is_some());
        pods.iter_mut().for_each(|pod| pod.relations.peers = 1);
        assert_eq!(unpeer_refusal(&pods.iter().collect::<Vec<_>>()), None);
        assert!(unpeer_refusal(&pods.iter().take(1).collect::<Vec<_>>()).is_some());
    }
}
