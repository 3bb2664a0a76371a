//! The calls of the REST API, one method each.

use std::time::Duration;

use protocol::{
    Approval, ApprovalCommand, AuditEntry, CommandId, CompactionPreview, ControlVerb, CreatePod, History, InputCommand,
    Listing, PatchPod, PodDetail, PodRef, PodState, PodSummary, ProviderView, QueuedInput, Receipt, Record,
    RestoreCommand, RewindCommand, RuntimeView, Seq, ToolAnswer, ToolCommand, UnconfiguredProvider, VisiblePod,
};
use reqwest::Method;
use serde::{Deserialize, Serialize};

use crate::{Client, ClientError};

/// A tool keeps its own time limit; beyond this its answer is not coming.
const TOOL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Which Pods a list is about. Empty fields select all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodsFilter {
    pub name: Option<String>,
    pub state: Option<PodState>,
    pub q: Option<String>,
    pub after: Option<String>,
}

/// The providers that were found, and what would make more appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvidersPage {
    pub items: Vec<ProviderView>,
    #[serde(default)]
    pub unconfigured: Vec<UnconfiguredProvider>,
}

impl Client {
    /// Whether a server answers at all; needs no token.
    pub async fn health(&self) -> Result<(), ClientError> {
        self.get("/healthz")?.done().await
    }

    /// The server's version, such as `0.1.0`.
    pub async fn version(&self) -> Result<String, ClientError> {
        let document: serde_json::Value = self.get("/api/v1/openapi.json")?.json().await?;
        match document["info"]["version"].as_str() {
            Some(version) => Ok(version.to_owned()),
            None => Err(self.protocol("its document names no version")),
        }
    }

    pub async fn runtimes(&self) -> Result<Listing<RuntimeView>, ClientError> {
        self.get("/api/v1/runtimes")?.json().await
    }

    pub async fn providers(&self) -> Result<ProvidersPage, ClientError> {
        self.get("/api/v1/providers")?.json().await
    }

    /// One page of the list of Pods.
    pub async fn pods(&self, filter: &PodsFilter) -> Result<Listing<PodSummary>, ClientError> {
        let query = [
            ("name", filter.name.as_deref()),
            ("state", filter.state.map(PodState::as_str)),
            ("q", filter.q.as_deref()),
            ("after", filter.after.as_deref()),
        ];
        self.call(Method::GET, "/api/v1/pods", &query)?.json().await
    }

    /// Finds a Pod by `name`, `name@runtime_id` or `runtime_id/worker_id`.
    pub async fn resolve(&self, target: &str) -> Result<PodRef, ClientError> {
        self.call(Method::GET, "/api/v1/pods/resolve", &[("target", Some(target))])?.json().await
    }

    pub async fn create(&self, id: &CommandId, create: &CreatePod) -> Result<PodSummary, ClientError> {
        self.post("/api/v1/pods")?.key(id).body(create).json().await
    }

    pub async fn pod(&self, pod: &PodRef) -> Result<PodDetail, ClientError> {
        self.get(&pod_path(pod))?.json().await
    }

    pub async fn patch(&self, id: &CommandId, pod: &PodRef, patch: &PatchPod) -> Result<PodDetail, ClientError> {
        self.call(Method::PATCH, &pod_path(pod), &[])?.key(id).body(patch).json().await
    }

    /// Stops and removes a Pod. `confirm` is its name.
    pub async fn delete(&self, id: &CommandId, pod: &PodRef, confirm: &str) -> Result<(), ClientError> {
        self.call(Method::DELETE, &pod_path(pod), &[("confirm", Some(confirm))])?.key(id).done().await
    }

    pub async fn input(&self, id: &CommandId, pod: &PodRef, input: &InputCommand) -> Result<Receipt, ClientError> {
        self.post(&format!("{}/input", pod_path(pod)))?.key(id).body(input).json().await
    }

    /// Takes a queued input back, by the id of the command that sent it.
    pub async fn take_back(
        &self,
        id: &CommandId,
        pod: &PodRef,
        queued: &CommandId,
    ) -> Result<QueuedInput, ClientError> {
        let path = format!("{}/input/{}", pod_path(pod), segment(queued.as_str())?);
        self.call(Method::DELETE, &path, &[])?.key(id).json().await
    }

    /// Pause, resume, cancel, stop, restore, compact.
    pub async fn control(&self, id: &CommandId, pod: &PodRef, verb: ControlVerb) -> Result<Receipt, ClientError> {
        let path = format!("{}/{}", pod_path(pod), verb.as_str());
        self.post(&path)?.key(id).body(&serde_json::json!({})).json().await
    }

    /// Brings a stopped Pod back; with `tree` also the Pods below it.
    pub async fn restore(
        &self,
        id: &CommandId,
        pod: &PodRef,
        command: &RestoreCommand,
    ) -> Result<Receipt, ClientError> {
        self.post(&format!("{}/restore", pod_path(pod)))?.key(id).body(command).json().await
    }

    /// Takes what came after a record out of the model's context.
    pub async fn rewind(&self, id: &CommandId, pod: &PodRef, command: &RewindCommand) -> Result<Receipt, ClientError> {
        self.post(&format!("{}/rewind", pod_path(pod)))?.key(id).body(command).json().await
    }

    /// What compacting the Pod now would do; none when there is nothing to drop.
    pub async fn compaction_preview(&self, pod: &PodRef) -> Result<Option<CompactionPreview>, ClientError> {
        self.get(&format!("{}/compact", pod_path(pod)))?.json_or_none().await
    }

    /// Runs a tool as the Pod would, and waits for its end. The tool's own failure is an answer.
    pub async fn run_tool(
        &self,
        id: &CommandId,
        pod: &PodRef,
        name: &str,
        command: &ToolCommand,
    ) -> Result<ToolAnswer, ClientError> {
        let path = format!("{}/tools/{}", pod_path(pod), segment(name)?);
        self.post(&path)?.key(id).within(TOOL_TIMEOUT).body(command).json().await
    }

    /// What the Pod asks now; with `all` also what was answered or withdrawn.
    pub async fn approvals(&self, pod: &PodRef, all: bool) -> Result<Listing<Approval>, ClientError> {
        let query = [("all", all.then_some("true"))];
        self.call(Method::GET, &format!("{}/approvals", pod_path(pod)), &query)?.json().await
    }

    /// Answers a question.
    pub async fn answer(
        &self,
        id: &CommandId,
        pod: &PodRef,
        approval: &str,
        command: &ApprovalCommand,
    ) -> Result<Approval, ClientError> {
        let path = format!("{}/approvals/{}", pod_path(pod), segment(approval)?);
        self.post(&path)?.key(id).body(command).json().await
    }

    /// The Pods that this one's model is told of.
    pub async fn visible(&self, pod: &PodRef) -> Result<Listing<VisiblePod>, ClientError> {
        self.get(&format!("{}/visible", pod_path(pod)))?.json().await
    }

    /// Files that the Pod may read and whose path fits what was `begun`, the best first.
    pub async fn files(&self, pod: &PodRef, begun: &str) -> Result<Listing<String>, ClientError> {
        self.call(Method::GET, &format!("{}/files", pod_path(pod)), &[("q", Some(begun))])?.json().await
    }

    /// One page of records in seq order: the newest, or those before `before`. Large ones are cut.
    pub async fn transcript(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<Listing<Record>, ClientError> {
        self.records(pod, before, limit, None).await
    }

    /// As [`Client::transcript`], with every record whole.
    pub async fn whole_transcript(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<Listing<Record>, ClientError> {
        self.records(pod, before, limit, Some("true")).await
    }

    async fn records(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
        whole: Option<&str>,
    ) -> Result<Listing<Record>, ClientError> {
        let (before, limit) = (before.map(|seq| seq.to_string()), limit.to_string());
        let query = [("before", before.as_deref()), ("limit", Some(limit.as_str())), ("whole", whole)];
        self.call(Method::GET, &format!("{}/transcript", pod_path(pod)), &query)?.json().await
    }

    /// One record, whole.
    pub async fn record(&self, pod: &PodRef, seq: Seq) -> Result<Record, ClientError> {
        self.get(&format!("{}/records/{seq}", pod_path(pod)))?.json().await
    }

    /// What the Pod's model would be sent now.
    pub async fn history(&self, pod: &PodRef) -> Result<History, ClientError> {
        self.get(&format!("{}/history", pod_path(pod)))?.json().await
    }

    pub async fn audit(&self, after: Option<&str>) -> Result<Listing<AuditEntry>, ClientError> {
        self.call(Method::GET, "/api/v1/audit", &[("after", after)])?.json().await
    }
}

/// Ids are made of URL-safe characters only; nothing is escaped.
pub(crate) fn pod_path(pod: &PodRef) -> String {
    format!("/api/v1/runtimes/{}/workers/{}", pod.runtime_id, pod.worker_id)
}

/// A word that a person wrote, as one segment of a path. What would lead to another path is no such word.
pub(crate) fn segment(word: &str) -> Result<String, ClientError> {
    if matches!(word, "" | "." | "..") {
        return Err(ClientError::Invalid(format!("\"{word}\" names nothing")));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    Ok(word.bytes().map(|byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stays_one_segment_of_the_path() {
        for (word, expected) in [
            ("Read", "Read"),
            ("a-b_c.d~1", "a-b_c.d~1"),
            ("../stop", "..%2Fstop"),
            ("a b?c#d%2f", "a%20b%3Fc%23d%252f"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(segment(word).unwrap(), expected);
        }
        for bad in ["", ".", ".."] {
            assert!(matches!(segment(bad), Err(ClientError::Invalid(_))), "{bad:?}");
        }
    }
}
