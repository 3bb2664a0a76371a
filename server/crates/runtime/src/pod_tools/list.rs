//! ListPods: whom this Pod sees, and what each is doing.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{Access, ApiError, PodState, RuntimeId, ScopeRule, Visibility, VisiblePod};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, outcome, sight};
use crate::{hold::bounded, peers::far};

#[derive(Debug)]
pub(super) struct ListPods(pub(super) Reach);

#[async_trait]
impl Tool for ListPods {
    fn name(&self) -> &'static str {
        "ListPods"
    }

    fn description(&self) -> &'static str {
        "Lists the Pods that you see: yourself, the children that you spawned, and your peers. Says of each why you see \
         it, its state, what is lent to it, and how many children it has."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Nothing>()
    }

    fn only_reads(&self) -> bool {
        true
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("listing the Pods", self.list(place, arguments)).await)
    }
}

impl ListPods {
    async fn list(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Nothing {} = arguments::read(arguments)?;
        let pods = sight::visible(&*self.0.kin()?, &place.worker_id).await?;
        let lines: Vec<String> = pods.iter().map(line).collect();
        let others = pods.len() - 1;
        let summary = match others {
            0 => "you see no other Pod".to_owned(),
            1 => "you see 1 other Pod".to_owned(),
            _ => format!("you see {others} other Pods"),
        };
        Ok(ToolOutcome::done(summary).with_content(lines.join("\n")))
    }
}

fn line(pod: &VisiblePod) -> String {
    let reasons: Vec<&str> = pod.visibility.iter().map(|reason| word(*reason)).collect();
    let state = match (pod.state, pod.restorable) {
        (PodState::Stopped, true) => "stopped, restorable".to_owned(),
        (PodState::Broken, _) => "not restorable".to_owned(),
        (state, _) => state.as_str().to_owned(),
    };
    let why = pod.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let children = match pod.children {
        0 => "no children".to_owned(),
        1 => "1 child".to_owned(),
        count => format!("{count} children"),
    };
    // In another runtime: so that two of one name are told apart.
    let name = match pod.pod.runtime_id == RuntimeId::local() {
        true => pod.name.to_string(),
        false => far::address(&pod.name, &pod.pod.runtime_id),
    };
    format!("{name} [{}] {state}{why}; scope {}; {children}", reasons.join(", "), scope_words(&pod.scope))
}

fn word(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Itself => "self",
        Visibility::SpawnedChild => "spawned_child",
        Visibility::Peer => "peer",
    }
}

/// A scope in words; nothing is said as `(none)`.
pub(super) fn scope_words(scope: &[ScopeRule]) -> String {
    let rule = |rule: &ScopeRule| {
        let access = match rule.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Deny => "deny",
        };
        let reach = if rule.recursive { "" } else { " [non-recursive]" };
        format!("{access} {}{reach}", rule.path)
    };
    match scope {
        [] => "(none)".to_owned(),
        rules => rules.iter().map(rule).collect::<Vec<_>>().join(", "),
    }
}
