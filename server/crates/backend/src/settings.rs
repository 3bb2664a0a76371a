//! What the settings and the audit show, and the little that can be changed there.

use protocol::{
    ApiError, AuditEntry, CommandId, ErrorCode, Listing, PatchPod, PermissionRule, PodDetail, PodRef, PodRules,
    ProfileView, ProviderTest, ToolDefault,
};
use runtime::{AuditFilter, Origin};

use crate::Backend;

/// Which rows of the audit are asked for. Empty fields let all through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub action: Option<String>,
    /// `done`, `refused` or `failed`.
    pub result: Option<String>,
    /// As it stands in the rows: of a Pod, its address.
    pub target: Option<String>,
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

    /// Every tool, and what happens to a call of it that no rule is about.
    pub fn tool_defaults(&self) -> Vec<ToolDefault> {
        self.host.tool_defaults()
    }

    /// The Pods that have rules of their own.
    pub async fn rules(&self) -> Result<Vec<PodRules>, ApiError> {
        self.host.rules().await
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

    /// Who did what, newest first.
    pub async fn audit(&self, query: AuditQuery) -> Result<Listing<AuditEntry>, ApiError> {
        let AuditQuery { action, result, target, after, limit } = query;
        let after = match after {
            None => None,
            // Rows are numbered from 1.
            Some(text) => Some(text.parse().ok().filter(|row: &i64| *row > 0).ok_or_else(|| {
                ApiError::new(ErrorCode::CursorInvalid, "the cursor is not one of this list; begin without `after`")
            })?),
        };
        if let Some(result) = result.as_deref().filter(|result| !["done", "refused", "failed"].contains(result)) {
            let result: String = result.chars().take(64).collect();
            return Err(ApiError::invalid(format!("a result is done, refused or failed, not \"{result}\"")));
        }
        self.host.audit_find(&AuditFilter { action, result, target }, after, limit).await
    }
}
