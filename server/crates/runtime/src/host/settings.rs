//! What a host says of itself: profiles, rules, how a provider answers now. And the ledgers that belong to no Pod: the
//! audit and the logins.

use jiff::Timestamp;
use pod_store::{AuditFilter, PodGroup, SessionRow};
use protocol::{
    ApiError, AuditEntry, AuditRow, Listing, PodLimits, PodRules, ProfileView, ProviderTest, ProviderView, RuntimeId,
    ToolDefault, UnconfiguredProvider, WallItem, seal_cursor,
};

use super::Host;
use crate::{error, view};

/// Rows that are read at once.
const ROWS_AT_ONCE: u32 = 1_000;
/// So many Pods are listed with their rules at most; those that were made first.
const PODS_WITH_RULES_MAX: usize = 500;

impl Host {
    pub async fn providers(&self) -> Vec<ProviderView> {
        self.inner.actors.equipment.providers.views().await
    }

    /// What would make more providers appear.
    pub fn unconfigured(&self) -> Vec<UnconfiguredProvider> {
        self.inner.actors.equipment.providers.unconfigured()
    }

    /// Asks a provider now; takes at most 10 s. `None`: there is no provider of this name.
    pub async fn test_provider(&self, name: &str) -> Option<ProviderTest> {
        self.inner.actors.equipment.providers.test(name).await
    }

    /// What stands around the commands of Pods.
    pub async fn walls(&self) -> Vec<WallItem> {
        self.inner.actors.equipment.walls.items().await
    }

    /// How many Pods there may be.
    pub fn limits(&self) -> PodLimits {
        self.inner.family.limits
    }

    /// The configured profiles, by name.
    pub fn profiles(&self) -> Vec<ProfileView> {
        let view = |(name, profile): (&String, &crate::Profile)| ProfileView {
            name: name.clone(),
            provider: profile.provider.clone(),
            model: profile.model.clone(),
            instructions: profile.instructions.clone(),
            tools: profile.tools.clone(),
            reasoning: profile.reasoning,
            peer_policy: profile.peer_policy,
            wake_on_peer: profile.wake_on_peer,
            network: profile.network,
            permissions: profile.permissions.clone().unwrap_or_default(),
            warnings: pod::rule_warnings(profile.permissions.as_deref().unwrap_or_default()),
        };
        self.inner.family.recipes.profiles.iter().map(view).collect()
    }

    /// Every tool there is, and what happens to a call of it that no rule is about.
    pub fn tool_defaults(&self) -> Vec<ToolDefault> {
        let all = self.inner.actors.equipment.toolbox.offered(None);
        all.map(|tool| ToolDefault { tool: tool.name().to_owned(), decision: tool.default_permission() }).collect()
    }

    /// The Pods that have rules of their own; at most 500.
    pub async fn rules(&self) -> Result<Vec<PodRules>, ApiError> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let rows = self
                .inner
                .store
                .pods_page_of(PodGroup::WithRules, after, ROWS_AT_ONCE)
                .await
                .map_err(error::store_failed)?;
            after = rows.last().map(|row| row.key);
            let with_rules = rows.iter().filter_map(|row| {
                let permissions = view::open(row).ok()?.spec.permissions;
                let (pod, name) = (view::pod_ref(row), row.name.clone());
                let warnings = pod::rule_warnings(&permissions);
                (!permissions.is_empty()).then_some(PodRules { pod, name, permissions, warnings })
            });
            found.extend(with_rules);
            if rows.len() < ROWS_AT_ONCE as usize || found.len() >= PODS_WITH_RULES_MAX {
                found.truncate(PODS_WITH_RULES_MAX);
                return Ok(found);
            }
        }
    }

    pub async fn audit_append(&self, entry: AuditEntry) -> Result<(), ApiError> {
        if let Some(outage) = self.inner.store.outage().borrow().as_ref() {
            // Nobody waits for what is only a note of what was refused.
            return Err(error::store_failed(outage.clone().refusal()));
        }
        self.inner.store.audit_append(entry).await.map_err(error::store_failed)
    }

    /// Newest first; `after` is a `next` of this list.
    pub async fn audit_page(&self, after: Option<i64>, limit: u32) -> Result<Listing<AuditEntry>, ApiError> {
        let Listing { items, next } = self.audit_find(&AuditFilter::default(), after, limit).await?;
        Ok(Listing { items: items.into_iter().map(|row| row.entry).collect(), next })
    }

    /// As [`Host::audit_page`], those alone that the filter lets through.
    pub async fn audit_find(
        &self,
        filter: &AuditFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        let rows = self.inner.store.audit_find(filter, after, limit).await.map_err(error::store_failed)?;
        let cursor = |id: i64| seal_cursor(&id.to_string());
        let next = rows.last().filter(|_| rows.len() == limit as usize).map(|(id, _)| cursor(*id));
        let row = |(id, entry): (i64, _)| AuditRow { entry, runtime_id: RuntimeId::local(), cursor: Some(cursor(id)) };
        Ok(Listing { items: rows.into_iter().map(row).collect(), next })
    }

    /// Begins a login, and forgets those that have expired.
    pub async fn session_put(&self, session: SessionRow) -> Result<(), ApiError> {
        self.inner.store.sessions_purge(session.created_at).await.map_err(error::store_failed)?;
        self.inner.store.session_put(session).await.map_err(error::store_failed)
    }

    /// The login, while it is good.
    pub async fn session_find(&self, hash: &[u8; 32]) -> Result<Option<SessionRow>, ApiError> {
        self.inner.store.session_find(hash, Timestamp::now()).await.map_err(error::store_failed)
    }

    /// The logins that are good, the one that was seen last first.
    pub async fn sessions(&self) -> Result<Vec<SessionRow>, ApiError> {
        self.inner.store.sessions(Timestamp::now()).await.map_err(error::store_failed)
    }

    /// Notes that a login is used now.
    pub async fn session_seen(&self, hash: &[u8; 32]) -> Result<(), ApiError> {
        if self.inner.store.is_out() {
            return Ok(());
        }
        self.inner.store.session_seen(hash, Timestamp::now()).await.map_err(error::store_failed)
    }

    pub async fn session_delete(&self, hash: &[u8; 32]) -> Result<(), ApiError> {
        self.inner.store.session_delete(hash).await.map_err(error::store_failed)
    }

    /// Ends all logins but `kept`.
    pub async fn sessions_delete_others(&self, kept: Option<&[u8; 32]>) -> Result<(), ApiError> {
        self.inner.store.sessions_delete_others(kept).await.map_err(error::store_failed)
    }
}
