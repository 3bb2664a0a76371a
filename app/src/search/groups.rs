//! Search results grouped by Pod, and their descriptions. Pure.

use protocol::{PodName, PodRef, SearchHit};

use crate::console::pod_href;

/// The results in one Pod's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfPod {
    pub(crate) pod: PodRef,
    pub(crate) name: PodName,
    pub(crate) hits: Vec<SearchHit>,
}

/// Groups results by Pod. Results keep their order, and Pods are ordered by their first result.
pub(crate) fn by_pod(hits: &[SearchHit]) -> Vec<OfPod> {
    let mut groups: Vec<OfPod> = Vec::new();
    for hit in hits {
        match groups.iter_mut().find(|group| group.pod == hit.pod) {
            Some(group) => group.hits.push(hit.clone()),
            None => groups.push(OfPod { pod: hit.pod.clone(), name: hit.name.clone(), hits: vec![hit.clone()] }),
        }
    }
    groups
}

/// The result in its transcript: the page around the record, scrolled to it.
pub(crate) fn hit_href(hit: &SearchHit) -> String {
    format!("{}?at={seq}#seq-{seq}", pod_href(&hit.pod), seq = hit.seq)
}

/// Who wrote the record.
pub(crate) fn kind_words(kind: &str) -> String {
    match kind {
        "user_message" => "you wrote".to_owned(),
        "peer_message" => "a peer wrote".to_owned(),
        "message_finished" => "answer".to_owned(),
        "tool_finished" => "tool result".to_owned(),
        "compacted" => "summary".to_owned(),
        "reasoning_finished" => "reasoning".to_owned(),
        "tool_called" => "tool call".to_owned(),
        other => other.replace('_', " "),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use commands::samples;
    use protocol::{PodState, Seq};

    use super::*;

    pub(crate) fn hit(pod: &str, seq: i64) -> SearchHit {
        let pod = samples::pod(pod, PodState::Idle);
        let json = serde_json::json!({
            "pod": pod.pod, "name": pod.name, "seq": seq, "kind": "message_finished", "snippet": "…",
            "at": "2026-11-21T22:00:00Z",
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn hits_stand_with_their_pod_in_the_order_they_came() {
        let groups = by_pod(&[hit("bob", 9), hit("ada", 7), hit("bob", 3)]);
        let seen: Vec<_> = groups.iter().map(|group| (group.name.as_str(), group.hits.len())).collect();
        assert_eq!(seen, [("bob", 2), ("ada", 1)]);
        assert_eq!(groups[0].hits[1].seq, Seq(3));
        assert!(by_pod(&[]).is_empty());
    }

    #[test]
    fn a_hit_leads_to_its_record_on_the_page_around_it() {
        assert_eq!(hit_href(&hit("ada", 12)), "/pods/local/ada?at=12#seq-12");
    }

    #[test]
    fn every_kind_has_words() {
        assert_eq!((kind_words("tool_finished"), kind_words("some_new")), ("tool result".into(), "some new".into()));
    }
}
