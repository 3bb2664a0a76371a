//! Tools that a person runs, questions that Pods put to people, and whom a Pod sees.

use protocol::{
    ApiError, Approval, ApprovalCommand, AuditAbout, CommandId, Listing, PodRef, ToolAnswer, ToolCommand, VisiblePod,
};
use runtime::{Origin, about_answer, about_call};

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
        let about = about_call(name, &command.arguments);
        let work =
            async { self.port(&pod.runtime_id)?.run_tool(key.clone(), origin, &pod.worker_id, name, command).await };
        let target = (&pod.runtime_id, pod.to_string());
        self.carry_out_about(origin, "tool", &key, target, work, async |_| Some(about)).await
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
        let given =
            AuditAbout { decision: Some(command.decision), remembered: command.remember, ..AuditAbout::default() };
        let work =
            async { self.port(&pod.runtime_id)?.answer(key.clone(), origin, &pod.worker_id, approval, command).await };
        let about = async |done: &Result<Approval, ApiError>| match done {
            Ok(answered) => Some(about_answer(answered, given.remembered)),
            // Nobody is asked again who has just not answered.
            Err(error) if error.code.status() >= 500 => Some(given),
            Err(_) => Some(self.about_refused(pod, approval, given).await),
        };
        self.carry_out_about(origin, "approve", &key, (&pod.runtime_id, pod.to_string()), work, about).await
    }

    /// An answer that did not count: with the question it was given to, where there is one.
    async fn about_refused(&self, pod: &PodRef, approval: &str, given: AuditAbout) -> AuditAbout {
        let asked = self.approvals(pod, true).await.map(|listed| listed.items).unwrap_or_default();
        match asked.into_iter().find(|asked| asked.id == approval) {
            Some(asked) => {
                let AuditAbout { tool, subject, .. } = about_call(&asked.tool, &asked.arguments);
                AuditAbout { tool, subject, ..given }
            }
            None => given,
        }
    }

    /// The Pods that this one's model is told of.
    pub async fn visible(&self, pod: &PodRef) -> Result<Listing<VisiblePod>, ApiError> {
        let items = self.port(&pod.runtime_id)?.visible(&pod.worker_id).await?;
        Ok(Listing { items, next: None })
    }
}
