//! Parents and children, as far as the list of Pods tells.

use protocol::{PodRef, PodState, PodSummary};

/// A tree is drawn to this depth; Pods further down are still in the list of Pods.
pub const DEPTH_MAX: usize = 6;

/// All descendants of this Pod, each after its parent, with their depth: 0 for its own children.
pub fn descendants<'a>(pods: &'a [PodSummary], of: &PodRef) -> Vec<(&'a PodSummary, usize)> {
    let mut found = Vec::new();
    collect(&led(pods.iter()), of, 0, &mut found);
    found
}

/// The Pods in their order, but with each child beneath its parent where both are present, and its depth.
pub fn indented(pods: &[PodSummary]) -> Vec<(PodSummary, usize)> {
    let nested = nested(&pods.iter().collect::<Vec<_>>());
    nested.into_iter().map(|(pod, depth)| (pod.clone(), depth)).collect()
}

/// Like [`indented`], for a list that is borrowed.
pub fn nested<'a>(pods: &[&'a PodSummary]) -> Vec<(&'a PodSummary, usize)> {
    let led = led(pods.iter().copied());
    let is_here = |parent: &PodRef| pods.iter().any(|pod| pod.pod == *parent);
    let mut found = Vec::new();
    for pod in pods.iter().copied() {
        if !pod.relations.parent.as_ref().is_some_and(is_here) {
            found.push((pod, 0));
            collect(&led, &pod.pod, 1, &mut found);
        }
    }
    if found.len() < pods.len() {
        // Too deep, or in a cycle: part of no tree, but shown all the same.
        let is_lost = |pod: &&PodSummary| !found.iter().any(|(known, _)| known.pod == pod.pod);
        let lost: Vec<_> = pods.iter().copied().filter(is_lost).map(|pod| (pod, 0)).collect();
        found.extend(lost);
    }
    found
}

/// The Pods that have a parent: few, even where there are many Pods.
fn led<'a>(pods: impl Iterator<Item = &'a PodSummary>) -> Vec<&'a PodSummary> {
    pods.filter(|pod| pod.relations.parent.is_some()).collect()
}

fn collect<'a>(led: &[&'a PodSummary], of: &PodRef, depth: usize, found: &mut Vec<(&'a PodSummary, usize)>) {
    if depth > DEPTH_MAX {
        return;
    }
    for child in led.iter().filter(|pod| pod.relations.parent.as_ref() == Some(of)) {
        found.push((child, depth));
        collect(led, &child.pod, depth + 1, found);
    }
}

/// Whether it may have an open approval: it is waiting, or it was paused while something needed you.
pub fn may_ask(pod: &PodSummary) -> bool {
    pod.state == PodState::Waiting || (pod.state == PodState::Paused && pod.needs_you)
}

/// The Pods that wait for an answer.
pub fn waiting(pods: &[PodSummary]) -> impl Iterator<Item = &PodSummary> {
    pods.iter().filter(|pod| pod.state == PodState::Waiting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;

    fn child(name: &str, parent: &str) -> PodSummary {
        let mut child = pod(name, PodState::Idle);
        child.relations.parent = Some(pod(parent, PodState::Idle).pod);
        child
    }

    fn shown(pods: Vec<PodSummary>) -> Vec<(String, usize)> {
        indented(&pods).into_iter().map(|(pod, depth)| (pod.name.to_string(), depth)).collect()
    }

    #[test]
    fn children_stand_beneath_their_parent_when_it_is_there() {
        let pods = vec![child("a1", "ada"), pod("ada", PodState::Idle), child("deep", "a1"), child("x", "gone")];
        let expected = [("ada", 0), ("a1", 1), ("deep", 2), ("x", 0)];
        assert_eq!(shown(pods), expected.map(|(name, depth)| (name.to_owned(), depth)));
    }

    #[test]
    fn a_ring_of_parents_ends_and_loses_nobody() {
        let mut names: Vec<String> =
            shown(vec![child("a", "b"), child("b", "a")]).into_iter().map(|row| row.0).collect();
        names.sort();
        assert_eq!(names, ["a", "b"]);
        assert!(descendants(&[child("a", "a")], &pod("a", PodState::Idle).pod).len() <= DEPTH_MAX + 1);
    }

    #[test]
    fn descendants_are_all_that_are_below() {
        let pods = [pod("ada", PodState::Idle), child("a1", "ada"), child("deep", "a1"), pod("eve", PodState::Idle)];
        let found = descendants(&pods, &pods[0].pod);
        let names: Vec<_> = found.iter().map(|(pod, depth)| (pod.name.as_str(), *depth)).collect();
        assert_eq!(names, [("a1", 0), ("deep", 1)]);
    }

    #[test]
    fn a_waiting_pod_may_ask_and_one_paused_by_hand_does_not() {
        assert!(may_ask(&pod("a", PodState::Waiting)) && !may_ask(&pod("a", PodState::Paused)));
        assert!(may_ask(&PodSummary { needs_you: true, ..pod("a", PodState::Paused) }));
        assert!(!may_ask(&PodSummary { needs_you: true, ..pod("a", PodState::Idle) }));
    }
}
