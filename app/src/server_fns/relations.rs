//! The data for the map of Pods.

use leptos::prelude::*;
use protocol::{PeerLink, PodRef, ScopeRule, Timestamp};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// What the list of Pods does not say: which Pods are peers, what is lent, and which programs act from outside.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RelationsFound {
    pub pairs: Vec<PeerPair>,
    pub loans: Vec<Loan>,
    pub programs: Vec<Program>,
}

/// A program that acted over MCP in the last day, under the name that it gives itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    /// The Pods that it acted on, the last one first.
    pub pods: Vec<PodRef>,
    pub actions: u32,
    /// When it acted last.
    pub at: Timestamp,
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
    use protocol::{ApiError, AuditRow, PeerLink, PodRef, RuntimeId, operation, operations};

    use super::{Loan, PeerPair, Program, RelationsFound};

    const MESSAGES_COUNTED_MAX: u32 = 100;
    /// How many of the audit's newest rows are searched for programs.
    const ROWS_MAX: u32 = 1_000;
    /// What the audit's names of MCP clients begin with.
    const MCP: &str = "mcp:";

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
        // A runtime that is away does not hold up the map: its server knows these programs as this one.
        let runtime = operation::Filled(Some(RuntimeId::local()));
        let audit = operations::Audit { runtime, limit: operation::Limit(ROWS_MAX), ..Default::default() };
        let since = Timestamp::now() - SignedDuration::from_hours(24);
        found.programs = programs(backend.read(audit).await?.items, since);
        Ok(found)
    }

    /// The programs in these rows, which are in order, the newest first.
    pub(super) fn programs(rows: Vec<AuditRow>, since: Timestamp) -> Vec<Program> {
        let mut programs: Vec<Program> = Vec::new();
        for AuditRow { entry, .. } in rows.into_iter().filter(|row| row.entry.at > since) {
            let Some(name) = entry.client.strip_prefix(MCP) else { continue };
            let at = match programs.iter().position(|program| program.name == name) {
                Some(at) => at,
                None => {
                    let (pods, actions) = (Vec::new(), 0);
                    programs.push(Program { name: name.to_owned(), pods, actions, at: entry.at });
                    programs.len() - 1
                }
            };
            let program = &mut programs[at];
            program.actions += 1;
            // The first word of a target is the address of its Pod.
            let target = entry.target.unwrap_or_default();
            let pod = target.split(' ').next().and_then(|word| word.parse::<PodRef>().ok());
            program.pods.extend(pod.filter(|pod| !program.pods.contains(pod)));
        }
        programs
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

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use protocol::{AuditEntry, AuditRow, RuntimeId, Timestamp};

    use super::reader::programs;

    fn row(second: i64, client: &str, target: &str) -> AuditRow {
        let entry = AuditEntry {
            at: Timestamp::from_second(second).unwrap(),
            by: "operator".to_owned(),
            client: client.to_owned(),
            action: "input".to_owned(),
            target: Some(target.to_owned()),
            result: "done".to_owned(),
            code: None,
            about: None,
        };
        AuditRow { entry, runtime_id: RuntimeId::local(), cursor: None }
    }

    #[test]
    fn a_program_is_named_once_with_the_pods_that_it_acted_on() {
        let rows = vec![
            row(9, "mcp:claude-code 2.1.0", "local/bob local/ada"),
            row(8, "browser", "local/eve"),
            row(7, "mcp:probe", "zed"),
            row(6, "mcp:claude-code 2.1.0", "local/ada"),
            row(5, "mcp:claude-code 2.1.0", "local/bob"),
            row(1, "mcp:old", "local/ada"),
        ];
        let found = programs(rows, Timestamp::from_second(2).unwrap());
        let told: Vec<_> = found.iter().map(|program| (program.name.as_str(), program.actions)).collect();
        assert_eq!(told, [("claude-code 2.1.0", 3), ("probe", 1)]);
        let pods: Vec<String> = found[0].pods.iter().map(ToString::to_string).collect();
        assert_eq!((pods, found[1].pods.len()), (vec!["local/bob".to_owned(), "local/ada".to_owned()], 0));
        assert_eq!(found[0].at, Timestamp::from_second(9).unwrap());
    }
}
