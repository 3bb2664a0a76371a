//! The agents of Pods: what they do as their Pod, through yoi's own MCP server.

use protocol::{ApiError, CommandId, PodRef, RuntimeId, ToolAnswer, WorkerId};
use runtime::{Origin, PodToolView, about_call};
use serde_json::Value;

use super::{Backend, commands::fingerprint};

/// Acts for the agents of this server's own Pods.
#[derive(Debug, Clone, Copy)]
pub struct Agents<'a> {
    pub(super) backend: &'a Backend,
}

impl Agents<'_> {
    /// The Pod tools that a Pod has.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn tools(self, worker_id: &WorkerId) -> Result<Vec<PodToolView>, ApiError> {
        self.backend.host.work().pod_tools(worker_id).await
    }

    /// Calls a Pod tool as the Pod's model would, once per key. Waits until the call has ended, including for a
    /// person's approval.
    ///
    /// # Errors
    /// `not_live`, `busy`, `not_found` for an unknown tool. A failure of the tool itself is a result, not an error.
    pub async fn call(
        self,
        origin: &Origin,
        id: CommandId,
        worker_id: &WorkerId,
        name: &str,
        arguments: Value,
    ) -> Result<ToolAnswer, ApiError> {
        let pod = PodRef::new(RuntimeId::local(), worker_id.clone());
        let about = about_call(name, &arguments);
        let key = fingerprint(id, "agent_call", Some(&pod), &format!("{name} {arguments}"));
        let done = self.backend.host.work().agent_call(key, origin, worker_id, name, arguments).await;
        // A call that was carried out is audited with the call itself.
        if done.is_err() {
            self.backend.audit().ended(origin, "tool", pod.to_string(), Some(about), &done).await;
        }
        done
    }
}
