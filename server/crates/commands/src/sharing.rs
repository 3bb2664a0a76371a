//! Pods that work in the same folder, and so in each other's way.

use protocol::{PodState, PodSummary};

/// The Pods that work in the same folder as this one, on the same runtime, by name. Those that are stopped do not count,
/// nor do its parent and children: what is lent is written by one of them alone.
pub fn also_here<'a>(pods: &'a [PodSummary], this: &PodSummary) -> Vec<&'a PodSummary> {
    let is_led = |one: &PodSummary, other: &PodSummary| one.relations.parent.as_ref() == Some(&other.pod);
    let works = |pod: &PodSummary| !matches!(pod.state, PodState::Stopped | PodState::Broken);
    let is_here = |pod: &&PodSummary| {
        pod.pod != this.pod
            && pod.pod.runtime_id == this.pod.runtime_id
            && pod.cwd == this.cwd
            && works(pod)
            && !is_led(pod, this)
            && !is_led(this, pod)
    };
    if this.cwd.is_empty() || !works(this) {
        return Vec::new();
    }
    let mut here: Vec<&PodSummary> = pods.iter().filter(is_here).collect();
    here.sort_by(|one, other| one.name.cmp(&other.name));
    here
}

/// `ada and eve work in this folder, too`; `None` if nobody does.
pub fn also_here_words(pods: &[PodSummary], this: &PodSummary) -> Option<String> {
    let here = also_here(pods, this);
    let names: Vec<&str> = here.iter().map(|pod| pod.name.as_str()).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("{one} works in this folder, too")),
        [first, second] => Some(format!("{first} and {second} work in this folder, too")),
        [first, others @ ..] => Some(format!("{first} and {} more work in this folder, too", others.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;

    fn at(name: &str, cwd: &str, state: PodState) -> PodSummary {
        PodSummary { cwd: cwd.to_owned(), ..pod(name, state) }
    }

    #[test]
    fn pods_in_one_folder_say_so_on_both() {
        let mut pods = vec![
            at("ada", "/w", PodState::Idle),
            at("eve", "/w", PodState::Running),
            at("old", "/w", PodState::Stopped),
            at("far", "/w/x", PodState::Idle),
        ];
        assert_eq!(also_here_words(&pods, &pods[0]).as_deref(), Some("eve works in this folder, too"));
        assert_eq!(also_here_words(&pods, &pods[1]).as_deref(), Some("ada works in this folder, too"));
        assert_eq!(also_here_words(&pods, &pods[2]), None, "it does not work");
        assert_eq!(also_here_words(&pods, &pods[3]), None);
        pods[1].relations.parent = Some(pods[0].pod.clone());
        assert_eq!((also_here(&pods, &pods[0]).len(), also_here(&pods, &pods[1]).len()), (0, 0), "a loan");
        pods.extend(["a", "b", "c"].map(|name| at(name, "/w", PodState::Idle)));
        assert_eq!(also_here_words(&pods, &pods[0]).as_deref(), Some("a and 2 more work in this folder, too"));
    }
}
