//! What an older Pod reports about the Pods that it knows. Nothing about their sockets is kept.

use protocol::{PodName, PodState, Visibility};
use serde_json::Value;

use crate::{scrub::Scrub, translate::state_of, values};

/// The maximum number of Pods read from one list.
const PODS_MAX: usize = 1_000;

/// One of these Pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedPod {
    pub(crate) name: PodName,
    pub(crate) visibility: Visibility,
    pub(crate) state: PodState,
    pub(crate) is_restorable: bool,
    pub(crate) reason: Option<String>,
    pub(crate) children: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Listed(pub(super) Vec<ListedPod>);

impl Listed {
    /// Reads the `data` of `pods_listed`; entries without a valid name are left out.
    pub(crate) fn read(data: &Value, scrub: &Scrub) -> Self {
        Self(values::list(data, "pods").iter().take(PODS_MAX).filter_map(|pod| read_one(pod, scrub)).collect())
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &PodName> {
        self.0.iter().filter(|pod| pod.visibility == Visibility::Peer).map(|pod| &pod.name)
    }

    pub(crate) fn children_of(&self, name: &PodName) -> u32 {
        self.0.iter().find(|pod| pod.name == *name).map_or(0, |pod| pod.children)
    }
}

fn read_one(pod: &Value, scrub: &Scrub) -> Option<ListedPod> {
    let name = PodName::parse(values::text(pod, "pod_name")).ok()?;
    let field = |name| pod.get(name).unwrap_or(&Value::Null);
    let (live, restore, children) = (field("live"), field("restore"), field("spawned_children"));
    let is_live = values::is_true(live, "reachable");
    let is_restorable = !is_live && values::is_true(restore, "possible");
    let state = match (is_live, is_restorable) {
        (true, _) => state_of(values::text(live, "status")),
        (false, true) => PodState::Stopped,
        (false, false) => PodState::Unreachable,
    };
    let reason = Some(scrub.said(values::text(restore, "reason"))).filter(|text| !is_live && !text.is_empty());
    let visibility = match values::text(pod, "visibility") {
        "self_pod" | "self" => Visibility::Itself,
        "peer" => Visibility::Peer,
        _ => Visibility::SpawnedChild,
    };
    let children = u32::try_from(values::number(children, "count")).unwrap_or(u32::MAX);
    Some(ListedPod { name, visibility, state, is_restorable, reason, children })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_read_without_its_sockets() {
        let data = json!({ "pods": [
            { "pod_name": "ada", "visibility": "self_pod", "live": { "reachable": true, "socket_path": "/x/sock",
              "status": "idle" }, "spawned_children": { "count": 2 } },
            { "pod_name": "bob", "visibility": "peer", "live": null,
              "restore": { "possible": true, "reason": "its socket /x/bob/sock is gone" } },
            { "pod_name": "no valid name", "visibility": "peer" },
            "nonsense",
        ]});
        let listed = Listed::read(&data, &Scrub::default());
        let ada = PodName::parse("ada").unwrap();
        assert_eq!(listed.0.len(), 2);
        assert_eq!(listed.children_of(&ada), 2);
        assert_eq!(listed.peers().map(PodName::as_str).collect::<Vec<_>>(), ["bob"]);
        let bob = &listed.0[1];
        assert_eq!((bob.state, bob.is_restorable), (PodState::Stopped, true));
        assert_eq!(bob.reason.as_deref(), Some("its socket (a socket) is gone"));
    }
}
