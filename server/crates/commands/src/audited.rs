//! Which Pods a row of the audit is about.

use protocol::{AuditEntry, PodRef, PodSummary};

use crate::peering::called;

/// The row of a creation may be at most this much later than its Pod's creation time.
const CREATION_MS_MAX: u64 = 2_000;

/// Splits a target into the Pod and, after it, the other party or thing. Text that a person typed may contain spaces
/// and is not split.
pub fn parts(target: &str) -> Vec<&str> {
    match target.split_once(' ') {
        Some((pod, other)) if pod.parse::<PodRef>().is_ok() => vec![pod, other],
        _ => vec![target],
    }
}

/// What stands between two parts: a message has its sender and receiver, a relation two peers.
pub fn joint(entry: &AuditEntry) -> &'static str {
    if entry.action == "message" { " → " } else { " · " }
}

/// The Pod that a part of a row's target means. A row of its creation names it as it was called then.
pub fn pod_of<'a>(pods: &'a [PodSummary], entry: &AuditEntry, part: &str) -> Option<&'a PodSummary> {
    let address = part.parse::<PodRef>().ok();
    let is_it = |pod: &&PodSummary| match &address {
        Some(address) => pod.pod == *address,
        None => entry.action == "pod_create" && is_of_then(pod, entry) && pod.name.as_str() == part,
    };
    pods.iter().find(is_it)
}

/// What the second part means if it is no Pod: what was decided has an id, and no page.
pub fn decided(entry: &AuditEntry) -> Option<&'static str> {
    match entry.action.as_str() {
        "peer_decide" => Some("a request"),
        action if action.ends_with("_decide") => Some("a message"),
        _ => None,
    }
}

/// The target in words: each Pod by its name, `ada` or `ada@box`, as long as it exists; anything else as it is.
pub fn target_words(pods: &[PodSummary], entry: &AuditEntry) -> String {
    let named = |part: &str| match pod_of(pods, entry, part) {
        Some(pod) => called(&pod.name, &pod.pod.runtime_id),
        None => part.to_owned(),
    };
    parts(entry.target.as_deref().unwrap_or_default()).into_iter().map(named).collect::<Vec<_>>().join(joint(entry))
}

/// Whether the Pod was created when the row was written, or just before.
fn is_of_then(pod: &PodSummary, entry: &AuditEntry) -> bool {
    pod.created_at.as_millisecond().abs_diff(entry.at.as_millisecond()) < CREATION_MS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::pod;
    use protocol::{PodState, RuntimeId, Timestamp};

    #[test]
    fn two_pods_are_two_parts_and_a_name_with_a_space_is_one() {
        assert_eq!(parts("local/p-1 local/p-2"), ["local/p-1", "local/p-2"]);
        assert_eq!(parts("local/p-1 who is it"), ["local/p-1", "who is it"]);
        assert_eq!((parts("ada"), parts("no such Pod")), (vec!["ada"], vec!["no such Pod"]));
    }

    #[test]
    fn a_pod_that_exists_is_named_and_anything_else_stays_as_it_is() {
        let mut far = pod("bob", PodState::Idle);
        far.pod.runtime_id = RuntimeId::parse("box").unwrap();
        let pods = [pod("ada", PodState::Idle), far];
        let said = |action: &str, target: &str, second: i64| {
            let at = Timestamp::from_second(second).unwrap();
            let entry = AuditEntry {
                at,
                by: "operator".into(),
                client: "cli".into(),
                action: action.into(),
                target: Some(target.into()),
                result: "done".into(),
                code: None,
                about: None,
            };
            target_words(&pods, &entry)
        };
        assert_eq!(said("message", "local/ada box/bob", 9), "ada → bob@box");
        assert_eq!(said("peer", "local/ada local/gone", 9), "ada · local/gone");
        assert_eq!(said("peer_decide", "local/ada r-1", 9), "ada · r-1", "an id that a verb takes");
        assert_eq!(said("stop", "no such Pod", 9), "no such Pod");
        assert_eq!((said("pod_create", "bob", 1), said("pod_create", "bob", 9)), ("bob@box".into(), "bob".into()));
    }
}
