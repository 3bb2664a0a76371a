//! ListPods: the Pods that this Pod sees, and what each is doing.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{Access, ApiError, PodState, RuntimeId, ScopeRule, Visibility, VisiblePod};

use super::{Caller, PodTool, arguments::Nothing, sight};
use crate::peers::far;

#[derive(Debug)]
pub(super) struct ListPods;

#[async_trait]
impl PodTool for ListPods {
    const NAME: &'static str = "ListPods";
    const DESCRIPTION: &'static str = "Lists the Pods that you see: yourself, the children that you spawned, and your peers. Gives for each the \
         reason why you see it, its state, what is lent to it, and how many children it has.";
    const DOING: &'static str = "listing the Pods";
    type Arguments = Nothing;

    async fn act(&self, caller: &Caller<'_>, Nothing {}: Nothing) -> Result<ToolOutcome, ApiError> {
        let pods = sight::visible(&caller.kin, caller.worker_id()).await?;
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
    // A Pod in another runtime is shown with its address, to tell it from one of the same name.
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

/// A scope as text; `(none)` if it is empty.
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
