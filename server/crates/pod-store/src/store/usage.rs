//! Tokens: sums per Pod and day, and per pair of Pods.

use protocol::{PodName, WorkerId};

use super::Shared;
use crate::{DayTokens, LinkTokens, PodKey, PodTokens, StoreError, Tokens, UsageRows, columns::damaged};

/// What was used, as a store knows it.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'s>(pub(super) &'s Shared);

impl Usage<'_> {
    /// What was used, by whom and when.
    pub async fn rows(self) -> Result<UsageRows, StoreError> {
        const OPERATION: &str = "read what was used";
        let reader = &self.0.reader;
        // A Pod has one parent at most.
        let pods = reader.select(
            "select pods.key, pods.worker_id, pods.name, max(children.parent), cast(coalesce(sum(used.input), 0) as bigint),
                    cast(coalesce(sum(used.cached), 0) as bigint), cast(coalesce(sum(used.output), 0) as bigint),
                    sum(used.cost)
             from pods
             left join children on children.child = pods.key
             left join usage_days used on used.pod = pods.key
             group by pods.key order by pods.key",
        );
        let pods = pods.all(OPERATION, pod).await?;
        let days = reader.select(
            "select day, cast(sum(input) as bigint), cast(sum(cached) as bigint), cast(sum(output) as bigint), sum(cost)
             from usage_days group by day order by day",
        );
        let days = days.all(OPERATION, day).await?;
        let links = reader.select(
            "select low, high, runs, input, cached, output, cost from usage_links order by runs desc, low, high",
        );
        let links = links.all(OPERATION, link).await?;
        Ok(UsageRows { pods, days, links })
    }
}

/// Key, worker id, name, parent; input, cached, output, cost.
type PodColumns = (i64, String, String, Option<i64>, i64, i64, i64, Option<f64>);

fn pod(columns: PodColumns) -> Result<PodTokens, StoreError> {
    let (key, worker_id, name, parent, input, cached, output, cost) = columns;
    Ok(PodTokens {
        key: PodKey(key),
        worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&name).map_err(damaged("Pod name"))?,
        parent: parent.map(PodKey),
        tokens: tokens(input, cached, output, cost),
    })
}

/// Day; input, cached, output, cost.
type DayColumns = (String, i64, i64, i64, Option<f64>);

fn day((day, input, cached, output, cost): DayColumns) -> Result<DayTokens, StoreError> {
    Ok(DayTokens { day, tokens: tokens(input, cached, output, cost) })
}

/// Both keys, runs; input, cached, output, cost.
type LinkColumns = (i64, i64, i64, i64, i64, i64, Option<f64>);

fn link((low, high, runs, input, cached, output, cost): LinkColumns) -> Result<LinkTokens, StoreError> {
    let tokens = tokens(input, cached, output, cost);
    Ok(LinkTokens { low: PodKey(low), high: PodKey(high), runs: count(runs), tokens })
}

fn tokens(input: i64, cached: i64, output: i64, cost: Option<f64>) -> Tokens {
    Tokens { input: count(input), cached: count(cached), output: count(output), cost }
}

fn count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}
