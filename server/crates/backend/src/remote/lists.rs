//! Lists over the whole of another server: what its own runtime says, with every address in our terms. What that one
//! reaches itself is not its own, and may be us.

use futures_util::{StreamExt, stream};
use protocol::{
    ApiError, AuditRow, Gathered, Listing, OpenApproval, OpenRequest, PodRules, RuntimeState, SearchHit, UsageReport,
};
use runtime::{AuditFilter, SearchQuery};

use super::Remote;
use crate::RuntimePort;

/// What its own runtime is called there.
const OWN: &str = "local";
/// Questions of so many Pods are asked for at once.
const ASKED_AT_ONCE: usize = 8;

impl Remote {
    pub(super) async fn search_hits(&self, query: SearchQuery) -> Result<Listing<SearchHit>, ApiError> {
        let pod = query.pod.as_ref().map(Self::there);
        let filter = client::SearchFilter {
            words: &query.words,
            pod: pod.as_ref(),
            runtime: pod.is_none().then_some(OWN),
            after: query.after.as_deref(),
            limit: Some(query.limit),
        };
        let Gathered { items, next, .. } = self.read(self.client.search_of(filter)).await?;
        Ok(self.known.terms.answer(Listing { items, next }))
    }

    pub(super) async fn usage_report(&self) -> Result<UsageReport, ApiError> {
        let report = self.read(self.client.usage_of(OWN)).await?;
        Ok(self.known.terms.answer(report))
    }

    pub(super) async fn own_rules(&self) -> Result<Vec<PodRules>, ApiError> {
        Ok(self.known.terms.answer(self.read(self.client.rules_of(OWN)).await?.items))
    }

    pub(super) async fn audit_rows(
        &self,
        filter: AuditFilter,
        after: Option<String>,
        limit: u32,
    ) -> Result<Listing<AuditRow>, ApiError> {
        let terms = &self.known.terms;
        let target = filter.target.as_deref().map(|target| terms.target_to_theirs(target));
        let filter = client::AuditFilter {
            action: filter.action.as_deref(),
            result: filter.result.as_deref(),
            target: target.as_deref(),
            runtime: Some(OWN),
            after: after.as_deref(),
            limit: Some(limit),
        };
        let Gathered { items, next, .. } = self.read(self.client.audit_of(filter)).await?;
        let ours = |mut row: AuditRow| {
            row.runtime_id = terms.to_ours(&row.runtime_id);
            row.entry.target = row.entry.target.map(|target| terms.target_to_ours(&target));
            row
        };
        Ok(Listing { items: items.into_iter().map(ours).collect(), next })
    }

    pub(super) async fn own_open_requests(&self) -> Result<Vec<OpenRequest>, ApiError> {
        if !self.known.is_live() {
            return Ok(Vec::new());
        }
        Ok(self.known.terms.answer(self.read(self.client.own_open_requests()).await?.items))
    }

    pub(super) async fn all_open_approvals(&self) -> Result<Vec<OpenApproval>, ApiError> {
        if self.known.view().state != RuntimeState::Live {
            return Ok(Vec::new());
        }
        let asked = stream::iter(self.known.waiting()).map(|summary| async move {
            let items = self.approvals(&summary.pod.worker_id, false).await.unwrap_or_default();
            let open = items.into_iter().map(move |approval| OpenApproval {
                pod: summary.pod.clone(),
                name: summary.name.clone(),
                parent: summary.relations.parent.clone(),
                approval,
            });
            open.collect::<Vec<_>>()
        });
        Ok(asked.buffered(ASKED_AT_ONCE).concat().await)
    }
}
