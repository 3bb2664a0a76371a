//! Tools that a person runs, questions that Pods put to people, and whom a Pod sees.

use protocol::{ApiError, Approval, ApprovalCommand, CommandId, Listing, PodRef, ToolAnswer, ToolCommand, VisiblePod};
use runtime::Origin;

use crate::{Backend, command_key};

impl Backend {
    /// Runs one tool as the Pod would, under its scope and its deny rules. The tool's own failure is an answer, no error.
    pub async fn run_tool(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        name: &str,
        command: ToolCommand,
    ) -> Result<ToolAnswer, ApiError> {
        let key = command_key(id, "tool", Some(pod), &(name, &command));
        let work =
            async { self.port(&pod.runtime_id)?.run_tool(key.clone(), origin, &pod.worker_id, name, command).await };
        self.carry_out(origin, "tool", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// What the Pod asks now, oldest first; with `all` also what was answered or withdrawn.
    pub async fn approvals(&self, pod: &PodRef, all: bool) -> Result<Listing<Approval>, ApiError> {
        let items = self.port(&pod.runtime_id)?.approvals(&pod.worker_id, all).await?;
        Ok(Listing { items, next: None })
    }

    /// Answers a question; of two answers the first counts and the other is `already_answered`.
    pub async fn answer(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        approval: &str,
        command: ApprovalCommand,
    ) -> Result<Approval, ApiError> {
        let key = command_key(id, "approve", Some(pod), &(approval, &command));
        let work =
            async { self.port(&pod.runtime_id)?.answer(key.clone(), origin, &pod.worker_id, approval, command).await };
        self.carry_out(origin, "approve", &key, (&pod.runtime_id, pod.to_string()), work).await
    }

    /// The Pods that this one's model is told of.
    pub async fn visible(&self, pod: &PodRef) -> Result<Listing<VisiblePod>, ApiError> {
        let items = self.port(&pod.runtime_id)?.visible(&pod.worker_id).await?;
        Ok(Listing { items, next: None })
    }
}
