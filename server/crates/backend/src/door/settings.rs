//! What the settings and the audit show, and the little that can be changed there.

use protocol::{
    ApiError, CommandId, ErrorCode, PatchPod, PermissionRule, PodDetail, PodLimits, PodRef, ProfileView, ProviderTest,
    ToolDefault, WallItem, operations::Patch,
};
use runtime::Origin;

use super::Backend;

impl Backend {
    /// Asks a provider now; takes at most 10 s. What is wrong with it is an answer, no error.
    pub async fn test_provider(&self, name: &str) -> Result<ProviderTest, ApiError> {
        self.host.settings().test_provider(name).await.ok_or_else(|| {
            let name: String = name.chars().take(64).collect();
            let sentence = format!("no provider is called \"{name}\"; GET /api/v1/providers lists those that are");
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// The configured recipes for new Pods.
    pub fn profiles(&self) -> Vec<ProfileView> {
        self.host.settings().profiles()
    }

    /// What stands around the commands of this server's own Pods.
    pub async fn walls(&self) -> Vec<WallItem> {
        self.host.settings().walls().await
    }

    /// How many Pods this server may have.
    pub fn limits(&self) -> PodLimits {
        self.host.settings().limits()
    }

    /// Every tool, and what happens to a call of it that no rule is about.
    pub fn tool_defaults(&self) -> Vec<ToolDefault> {
        self.host.settings().tool_defaults()
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
        let body = PatchPod { permissions: Some(permissions), ..PatchPod::default() };
        self.carry_out(origin, id, Patch { pod: pod.clone(), body }).await
    }
}
