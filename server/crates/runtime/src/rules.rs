//! The rules that stand, as people see them: those of Pods, and those of folders and of the whole server.

use pod_store::RuleRow;
use protocol::{PermissionRule, PodName, PodRef, RuleItem, RuleScope, WorkerId};
use sha2::{Digest, Sha256};

use crate::ground::Ground;

/// The most rules of folders and of the whole server together.
pub(crate) const SHARED_RULES_MAX: usize = 1_000;

/// Whose rules those of folders and of the whole server are, in an id.
const SHARED: &str = "shared";
/// How many bytes of a rule's hash are in its id.
const HASH_BYTES: usize = 10;

/// Whose rule an id names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Pod(WorkerId),
    Shared,
}

/// Whose rule this id names; `None` if it is no rule's id.
pub(crate) fn owner_of(id: &str) -> Option<Owner> {
    match id.rsplit_once('.')?.0 {
        SHARED => Some(Owner::Shared),
        owner => WorkerId::parse(owner).ok().map(Owner::Pod),
    }
}

/// The id of a Pod's rule. It says what the rule is, so it stays the same wherever the rule stands in its list.
pub(crate) fn id_in_pod(worker_id: &WorkerId, rule: &PermissionRule) -> String {
    id(worker_id.as_str(), rule)
}

/// The id of a rule of a folder or of the whole server.
pub(crate) fn shared_id(rule: &PermissionRule) -> String {
    id(SHARED, rule)
}

fn id(owner: &str, rule: &PermissionRule) -> String {
    let text = serde_json::to_string(rule).expect("a rule always encodes");
    let hash: String = Sha256::digest(text).iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
    format!("{owner}.{hash}")
}

/// The rules of folders and of the whole server, newest first. One that cannot be read is left out.
pub(crate) async fn shared(ground: &Ground) -> Result<Vec<(String, PermissionRule)>, pod_store::StoreError> {
    let rows = ground.store.rules().list().await?;
    let read = |RuleRow { id, rule, .. }: RuleRow| match serde_json::from_str(&rule) {
        Ok(rule) => Some((id, rule)),
        Err(error) => {
            tracing::error!(%error, id, "a rule cannot be read, so it does not count");
            None
        }
    };
    Ok(rows.into_iter().filter_map(read).collect())
}

/// A Pod's rule, as it is listed.
pub(crate) fn of_pod(pod: &PodRef, name: &PodName, rule: &PermissionRule) -> RuleItem {
    let id = id_in_pod(&pod.worker_id, rule);
    RuleItem { pod: Some(pod.clone()), name: Some(name.clone()), ..item(id, rule, RuleScope::Pod) }
}

/// A rule of a folder or of the whole server, as it is listed.
pub(crate) fn of_server(id: String, rule: &PermissionRule) -> RuleItem {
    let scope = if rule.folder.is_some() { RuleScope::Folder } else { RuleScope::Everywhere };
    item(id, rule, scope)
}

fn item(id: String, rule: &PermissionRule, scope: RuleScope) -> RuleItem {
    RuleItem {
        id,
        tool: rule.tool.clone(),
        pattern: rule.pattern.clone().unwrap_or_else(|| "*".to_owned()),
        decision: rule.decision,
        scope,
        pod: None,
        name: None,
        folder: rule.folder.clone(),
        warning: pod::rule_warnings(std::slice::from_ref(rule)).pop(),
    }
}

#[cfg(test)]
mod tests {
    use protocol::PermissionDecision;

    use super::*;

    #[test]
    fn an_id_names_its_owner_and_says_what_the_rule_is() {
        let rule = |pattern: &str| PermissionRule {
            tool: "Bash".to_owned(),
            pattern: Some(pattern.to_owned()),
            folder: None,
            pod: None,
            decision: PermissionDecision::Allow,
        };
        let pod = WorkerId::parse("01234567-89ab-cdef-0123-456789abcdef").unwrap();
        let one = id_in_pod(&pod, &rule("ls *"));
        assert_eq!(owner_of(&one), Some(Owner::Pod(pod.clone())));
        assert_eq!(one, id_in_pod(&pod, &rule("ls *")));
        assert_ne!(one, id_in_pod(&pod, &rule("ls")));
        assert_eq!(owner_of(&shared_id(&rule("ls"))), Some(Owner::Shared));
        assert_eq!(owner_of("nothing"), None);
    }
}
