//! Which Pods can become a Pod's peers, and the words for it. Pure.

use commands::{
    lower,
    peering::{cannot_be_peer, telling_name},
};
use protocol::{ErrorCode, PeerView, PodRef, PodSummary};

use crate::{components::state_mark::Sign, format::short_path};

/// A Pod in the list to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) pod: PodRef,
    /// With its runtime where that is not this server, or where another Pod has the same name.
    pub(crate) name: String,
    pub(crate) sign: Sign,
    /// `idle · local · …/src/store`.
    pub(crate) what: String,
    /// Why it cannot be chosen; `None` if it can.
    pub(crate) refusal: Option<&'static str>,
}

/// All Pods as seen from `source`: first those that can be chosen, then the others with their reason.
pub(crate) fn choices(pods: &[PodSummary], source: &PodRef, known: &[PeerView]) -> Vec<Choice> {
    let mut choices: Vec<Choice> = pods
        .iter()
        .map(|pod| Choice {
            pod: pod.pod.clone(),
            name: telling_name(pods, pod),
            sign: Sign::of(pod),
            what: format!("{} · {} · {}", Sign::of(pod).word(), pod.pod.runtime_id, short_path(&pod.cwd)),
            refusal: cannot_be_peer(pod, source, known),
        })
        .collect();
    choices.sort_by_cached_key(|choice| (choice.refusal.is_some(), lower(&choice.name)));
    choices
}

/// The name without the runtime that `telling_name` may have appended.
pub(crate) fn bare(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// The Pods that match what has been typed: the exact name first, then names with this prefix, then all that contain
/// every word.
pub(crate) fn fitting(choices: &[Choice], typed: &str) -> Vec<Choice> {
    let typed = lower(typed.trim());
    let mut fitting: Vec<(usize, Choice)> =
        choices.iter().filter_map(|choice| Some((rank(choice, &typed)?, choice.clone()))).collect();
    fitting.sort_by_key(|(rank, choice)| (choice.refusal.is_some() && *rank > 0, *rank));
    fitting.into_iter().map(|(_, choice)| choice).collect()
}

fn rank(choice: &Choice, typed: &str) -> Option<usize> {
    let name = lower(&choice.name);
    let text = format!("{name} {} {}", lower(&choice.what), choice.pod);
    match () {
        () if name == typed || bare(&name) == typed => Some(0),
        () if name.starts_with(typed) => Some(1),
        () if typed.split_whitespace().all(|word| text.contains(word)) => Some(2),
        () => None,
    }
}

/// The Pod that this name or address unambiguously means.
pub(crate) fn meant(choices: &[Choice], text: &str) -> Option<Choice> {
    let is_meant =
        |choice: &&Choice| choice.name == text || bare(&choice.name) == text || choice.pod.to_string() == text;
    let mut found = choices.iter().filter(is_meant);
    found.next().filter(|_| found.next().is_none()).cloned()
}

/// What came of a failed attempt to add a peer, by its error code.
pub(crate) fn failure_words(code: ErrorCode, peer: &str) -> String {
    match code {
        ErrorCode::PeerRefused => format!("Refused by the peer policy of {peer}; nothing was changed."),
        code if code.status() >= 500 => {
            "No answer came, so it may or may not have been done. Trying again is safe: it is done only once."
                .to_owned()
        }
        _ => "Failed; nothing was changed.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use commands::samples::pod;
    use protocol::{PeerLink, PodState};

    use super::*;

    fn view(name: &str, link: PeerLink, is_asked: bool) -> PeerView {
        let pod = pod(name, PodState::Idle);
        let since = protocol::Timestamp::UNIX_EPOCH;
        let (request_id, note, by) = (None, None, "kim".to_owned());
        PeerView { pod: pod.pod, name: pod.name, state: pod.state, link, request_id, is_asked, note, since, by }
    }

    fn all() -> Vec<Choice> {
        let pods = [
            pod("bobbin", PodState::Stopped),
            pod("ada", PodState::Idle),
            pod("bob", PodState::Running),
            pod("cut", PodState::Unreachable),
            pod("dan", PodState::Idle),
            pod("eve", PodState::Idle),
            pod("fay", PodState::Idle),
        ];
        let known = [
            view("dan", PeerLink::Linked, false),
            view("eve", PeerLink::Pending, false),
            view("fay", PeerLink::Pending, true),
        ];
        choices(&pods, &pods[1].pod.clone(), &known)
    }

    fn names(choices: &[Choice]) -> Vec<&str> {
        choices.iter().map(|choice| choice.name.as_str()).collect()
    }

    #[test]
    fn those_that_cannot_be_chosen_come_last_with_their_reason() {
        let all = all();
        assert_eq!(names(&all), ["bob", "bobbin", "fay", "ada", "cut", "dan", "eve"]);
        let reasons: Vec<_> = all.iter().filter_map(|choice| choice.refusal).collect();
        assert_eq!(
            reasons,
            ["is this Pod itself", "its runtime does not answer", "is a peer already", "has a pending request"]
        );
        assert_eq!(all[0].what, "running · local · /srv/work");
    }

    #[test]
    fn what_is_typed_finds_the_name_itself_first() {
        let all = all();
        assert_eq!(names(&fitting(&all, "bob")), ["bob", "bobbin"]);
        assert_eq!(names(&fitting(&all, " STOPPED ")), ["bobbin"]);
        assert_eq!(names(&fitting(&all, "da")), ["dan", "ada"]);
        assert_eq!(names(&fitting(&all, "local eve")), ["eve"]);
        assert!(fitting(&all, "nobody").is_empty());
    }

    #[test]
    fn a_name_that_two_have_is_told_with_its_runtime_and_means_neither() {
        let mut other = pod("bob", PodState::Idle);
        other.pod.runtime_id = protocol::RuntimeId::parse("gpu-box").unwrap();
        let pods = [pod("ada", PodState::Idle), pod("bob", PodState::Idle), other];
        let all = choices(&pods, &pods[0].pod, &[]);
        assert_eq!(names(&all), ["bob@gpu-box", "bob@local", "ada"]);
        assert_eq!(meant(&all, "bob"), None);
        assert_eq!(meant(&all, "bob@local").map(|choice| choice.pod), Some(pods[1].pod.clone()));
        assert_eq!(meant(&all, "gpu-box/bob").map(|choice| choice.pod), Some(pods[2].pod.clone()));
    }

    #[test]
    fn a_failure_says_whether_anything_was_written() {
        assert!(failure_words(ErrorCode::PeerRefused, "bob").contains("policy of bob"));
        assert!(failure_words(ErrorCode::PodNotFound, "bob").contains("nothing was changed"));
        assert!(failure_words(ErrorCode::RuntimeUnavailable, "bob").contains("may or may not"));
    }
}
