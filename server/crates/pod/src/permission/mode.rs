//! What a mode decides about a call that no rule covers.

use protocol::{
    Mode,
    PermissionDecision::{self, Allow, Ask},
    tool::{self, Work},
};

use crate::{PodSpec, Sight};

/// The decision for a call that no rule covers; `default` is the tool's own. A mode only ever allows what would be
/// asked for, and only what something holds: the scope, a sandbox, or for an agent's own work its sandbox.
pub(super) fn usual(
    mode: Mode,
    spec: &PodSpec,
    tool: &str,
    sight: &Sight,
    default: PermissionDecision,
) -> PermissionDecision {
    let (work, is_agents) = (tool::work(tool), tool::is_agents(tool));
    let is_allowed = match (mode, work) {
        (Mode::Ask | Mode::Plan, _) | (_, Work::Other) => false,
        // Our own tools never write outside the scope, nor to what is protected.
        (_, Work::Edits) => !is_agents || sight.is_in_scope || (mode == Mode::Free && spec.agent_is_confined),
        (Mode::AcceptEdits, _) => false,
        (Mode::Free, Work::Runs) if !is_agents => !spec.shell_is_unconfined,
        (Mode::Free, Work::Reads) => sight.is_in_scope || spec.agent_is_confined,
        (Mode::Free, Work::Runs | Work::Removes) => spec.agent_is_confined,
    };
    if default == Ask && is_allowed { Allow } else { default }
}
