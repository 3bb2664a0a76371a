//! A Pod's name as seen from this server, and the completions for a name after a command.

use protocol::{PeerLink, PeerView, PodName, PodRef, PodState, PodSummary, RuntimeId};

use crate::{Named, lower};

/// At most this many names are offered; typing more narrows the list.
pub const NAMED_MAX: usize = 20;

/// `ada`, or `ada@box` if it lives in a runtime other than this server.
pub fn called(name: &PodName, runtime_id: &RuntimeId) -> String {
    if *runtime_id == RuntimeId::local() { name.to_string() } else { format!("{name}@{runtime_id}") }
}

/// Like [`called`], but with its runtime also if two of these Pods share its name.
pub fn telling_name(pods: &[PodSummary], pod: &PodSummary) -> String {
    match pods.iter().filter(|other| other.name == pod.name).count() {
        0 | 1 => called(&pod.name, &pod.pod.runtime_id),
        _ => format!("{}@{}", pod.name, pod.pod.runtime_id),
    }
}

/// Why `source`, which has these peers, cannot make this Pod a peer.
pub fn cannot_be_peer(pod: &PodSummary, source: &PodRef, known: &[PeerView]) -> Option<&'static str> {
    if pod.pod == *source {
        return Some("is this Pod itself");
    }
    match (known.iter().find(|view| view.pod == pod.pod), pod.state) {
        (Some(view), _) if view.link == PeerLink::Linked => Some("is a peer already"),
        (Some(view), _) if view.link == PeerLink::Pending && !view.is_asked => Some("has a pending request"),
        (_, PodState::Unreachable) => Some("its runtime does not answer"),
        (_, PodState::Broken) => Some("its records cannot be read"),
        _ => None,
    }
}

/// The peers and peer requests whose name has this prefix.
pub fn known(peers: &[PeerView], begun: &str) -> Vec<Named> {
    let begun = lower(begun);
    let fits = |view: &&PeerView| lower(view.name.as_str()).starts_with(&begun);
    let named = |view: &PeerView| {
        let link = if view.link == PeerLink::Pending { "request pending" } else { "peer" };
        Named { name: view.name.to_string(), what: format!("{link} · {}", view.state.as_str()), refusal: None }
    };
    peers.iter().filter(fits).take(NAMED_MAX).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;

    #[test]
    fn a_pod_is_called_with_its_runtime_where_its_name_alone_does_not_tell() {
        let on = |name: &str, runtime: &str| {
            let mut pod = pod(name, PodState::Idle);
            pod.pod.runtime_id = RuntimeId::parse(runtime).unwrap();
            pod
        };
        let pods = [on("ada", "local"), on("bob", "local"), on("bob", "box"), on("eve", "box")];
        let told: Vec<String> = pods.iter().map(|pod| telling_name(&pods, pod)).collect();
        assert_eq!(told, ["ada", "bob@local", "bob@box", "eve@box"]);
        let called: Vec<String> = pods.iter().map(|pod| called(&pod.name, &pod.pod.runtime_id)).collect();
        assert_eq!(called, ["ada", "bob", "bob@box", "eve@box"]);
    }
}
