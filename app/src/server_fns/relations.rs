//! The data for the map of Pods.

use leptos::prelude::*;
use protocol::{PeerLink, PodRef, ScopeRule, Timestamp};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// What the list of Pods does not say: which Pods are peers, and what is lent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RelationsFound {
    pub pairs: Vec<PeerPair>,
    pub loans: Vec<Loan>,
}

/// Two peers, or two Pods with an open peer request; each pair once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerPair {
    /// For an open request, the Pod that asked.
    pub a: PodRef,
    pub b: PodRef,
    pub link: PeerLink,
    pub since: Timestamp,
    /// Messages of the last hour, in both directions; counted up to 100.
    pub messages: u32,
}

/// The scope that a Pod lent to a child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Loan {
    pub from: PodRef,
    pub to: PodRef,
    pub rules: Vec<ScopeRule>,
}

/// All pairs and all loans.
#[server(prefix = "/fn", endpoint = "relations", input = Json, output = Json)]
pub async fn relations() -> Result<RelationsFound, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(reader::read(&backend).await)
}

#[cfg(feature = "ssr")]
mod reader {
    use backend::Backend;
    use jiff::{SignedDuration, Timestamp};
    use protocol::{ApiError, PeerLink, PodRef, operation, operations};

    use super::{Loan, PeerPair, RelationsFound};

    const MESSAGES_COUNTED_MAX: u32 = 100;

    /// Asks only Pods that have peers or children according to the list. One that disappears meanwhile is left out.
    pub(super) async fn read(backend: &Backend) -> Result<RelationsFound, ApiError> {
        let query = operations::Pods { limit: operation::Limit(1_000), ..Default::default() };
        let mut found = RelationsFound::default();
        for pod in backend.read(query).await?.items {
            if pod.relations.peers > 0 {
                pairs(backend, &pod.pod, &mut found.pairs).await;
            }
            if pod.relations.children > 0
                && let Ok(detail) = backend.pod(&pod.pod).await
            {
                found.loans.extend(
                    detail.children.into_iter().filter(|child| !child.scope.is_empty()).map(|child| Loan {
                        from: pod.pod.clone(),
                        to: child.pod,
                        rules: child.scope,
                    }),
                );
            }
        }
        for asked in backend
            .read(operations::OpenRequests { runtime: Default::default(), page: Default::default() })
            .await?
            .items
        {
            let (a, b, link) = (asked.from, asked.to, PeerLink::Pending);
            found.pairs.push(PeerPair { a, b, link, since: asked.at, messages: 0 });
        }
        Ok(found)
    }

    async fn pairs(backend: &Backend, pod: &PodRef, pairs: &mut Vec<PeerPair>) {
        let Ok(known) = backend.read(operations::Peers { pod: pod.clone(), page: Default::default() }).await else {
            return;
        };
        // Both sides report the pair; take it from the one with the smaller address.
        for peer in known.items.into_iter().filter(|peer| peer.link != PeerLink::Pending && *pod < peer.pod) {
            let messages = messages(backend, pod, &peer.pod).await;
            pairs.push(PeerPair { a: pod.clone(), b: peer.pod, link: peer.link, since: peer.since, messages });
        }
    }

    async fn messages(backend: &Backend, pod: &PodRef, peer: &PodRef) -> u32 {
        let since = Timestamp::now() - SignedDuration::from_hours(1);
        let page = backend
            .read(operations::Exchange {
                pod: pod.clone(),
                peer: peer.clone(),
                before: Default::default(),
                limit: operation::Limit(MESSAGES_COUNTED_MAX),
            })
            .await;
        page.map_or(0, |page| page.items.iter().filter(|message| message.at > since).count() as u32)
    }
}
