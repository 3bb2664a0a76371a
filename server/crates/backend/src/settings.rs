//! What the settings and the audit show, and the little that can be changed there.

use futures_util::future::join_all;
use protocol::{
    ApiError, AuditRow, CommandId, ErrorCode, Gathered, PatchPod, PermissionRule, PodDetail, PodLimits, PodRef,
    PodRules, ProfileView, ProviderTest, RuntimeId, ToolDefault, WallItem,
};
use runtime::{AuditFilter, Origin};

use crate::{Backend, Entry, gathered::part};

/// Which rows of the audit are asked for. Empty fields let all through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub action: Option<String>,
    /// `done`, `refused` or `failed`.
    pub result: Option<String>,
    /// As it stands in the rows: of a Pod, its address.
    pub target: Option<String>,
    /// The audit of this runtime's server alone; of all when absent.
    pub runtime: Option<RuntimeId>,
    /// `next` of the page before.
    pub after: Option<String>,
    pub limit: u32,
}

impl Backend {
    /// Asks a provider now; takes at most 10 s. What is wrong with it is an answer, no error.
    pub async fn test_provider(&self, name: &str) -> Result<ProviderTest, ApiError> {
        self.host.test_provider(name).await.ok_or_else(|| {
            let name: String = name.chars().take(64).collect();
            let sentence = format!("no provider is called \"{name}\"; GET /api/v1/providers lists those that are");
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// The configured recipes for new Pods.
    pub fn profiles(&self) -> Vec<ProfileView> {
        self.host.profiles()
    }

    /// What stands around the commands of this server's own Pods.
    pub async fn walls(&self) -> Vec<WallItem> {
        self.host.walls().await
    }

    /// How many Pods this server may have.
    pub fn limits(&self) -> PodLimits {
        self.host.limits()
    }

    /// Every tool, and what happens to a call of it that no rule is about.
    pub fn tool_defaults(&self) -> Vec<ToolDefault> {
        self.host.tool_defaults()
    }

    /// The Pods that have rules of their own: of all runtimes that answer, or of one; ours first.
    pub async fn rules(&self, runtime: Option<&RuntimeId>) -> Result<Gathered<PodRules>, ApiError> {
        let mut rules = Gathered { items: Vec::new(), next: None, absent: Vec::new() };
        if let Some(runtime) = runtime {
            rules.items = self.port(runtime)?.rules().await?;
            return Ok(rules);
        }
        let asked = self.askable().into_iter().map(|(id, entry)| async move {
            let answer = part(&id, async { entry.port.rules().await }).await;
            (id, answer)
        });
        for (id, answer) in join_all(asked).await {
            match answer? {
                Some(items) => rules.items.extend(items),
                None => rules.absent.push(id),
            }
        }
        Ok(rules)
    }

    /// Takes one rule from a Pod. One that it has not is no error: it is gone.
    pub async fn forget_rule(
        &self,
        origin: &Origin,
        id: CommandId,
        pod: &PodRef,
        rule: &PermissionRule,
    ) -> Result<PodDetail, ApiError> {
        let mut permissions = self.pod(pod).await?.permissions;
        if let Some(at) = permissions.iter().position(|known| known == rule) {
            permissions.remove(at);
        }
        self.patch(origin, id, pod, PatchPod { permissions: Some(permissions), ..PatchPod::default() }).await
    }

    /// Who did what, newest first: in all runtimes that answer, or in one. What was done to another runtime's Pod from
    /// here stands in the audit of both servers.
    pub async fn audit(&self, query: AuditQuery) -> Result<Gathered<AuditRow>, ApiError> {
        let AuditQuery { action, result, target, runtime, after, limit } = query;
        if let Some(result) = result.as_deref().filter(|result| !["done", "refused", "failed"].contains(result)) {
            let result: String = result.chars().take(64).collect();
            return Err(ApiError::invalid(format!("a result is done, refused or failed, not \"{result}\"")));
        }
        let filter = AuditFilter { action, result, target };
        let ask = |entry: Entry, after| {
            let filter = filter.clone();
            async move { entry.port.audit(filter, after, limit).await }
        };
        self.gather(runtime.as_ref(), after.as_deref(), limit, ask).await
    }
}
