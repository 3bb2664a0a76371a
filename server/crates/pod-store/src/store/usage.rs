//! Tokens: sums per Pod, day and model, and per pair of Pods.

use protocol::{Cost, PodName, WorkerId};

use super::Shared;
use crate::{DayTokens, LinkTokens, ModelTokens, PodKey, PodTokens, StoreError, Tokens, UsageRows, columns::damaged};

/// What was used, as a store knows it.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'s>(pub(super) &'s Shared);

impl Usage<'_> {
    /// What was used, by whom, of which model and when.
    pub async fn rows(self) -> Result<UsageRows, StoreError> {
        const OPERATION: &str = "read what was used";
        let reader = &self.0.reader;
        // A Pod has one parent at most.
        let pods = reader.select(
            "select pods.key, pods.worker_id, pods.name, max(children.parent), cast(coalesce(sum(usage.input), 0) as bigint),
                    cast(coalesce(sum(usage.cached), 0) as bigint), cast(coalesce(sum(usage.written), 0) as bigint),
                    cast(coalesce(sum(usage.output), 0) as bigint), cast(sum(usage.cost) as bigint)
             from pods
             left join children on children.child = pods.key
             left join usage on usage.pod = pods.key
             group by pods.key order by pods.key",
        );
        let pods = pods.all(OPERATION, pod).await?;
        let days = reader.select(
            "select day, cast(sum(input) as bigint), cast(sum(cached) as bigint), cast(sum(written) as bigint),
                    cast(sum(output) as bigint), cast(sum(cost) as bigint)
             from usage group by day order by day",
        );
        let days = days.all(OPERATION, day).await?;
        let models = reader.select(
            "select provider, model, cast(sum(input) as bigint), cast(sum(cached) as bigint), cast(sum(written) as bigint),
                    cast(sum(output) as bigint), cast(sum(cost) as bigint)
             from usage group by provider, model order by provider, model",
        );
        let models = models.all(OPERATION, model).await?;
        let links = reader.select(
            "select low, high, runs, input, cached, written, output, cost from usage_links order by runs desc, low, high",
        );
        let links = links.all(OPERATION, link).await?;
        Ok(UsageRows { pods, days, models, links })
    }
}

impl Usage<'_> {
    /// What a Pod and all that it leads have used: ever, or on this day (`YYYY-MM-DD`, UTC).
    pub async fn of_tree(self, root: PodKey, day: Option<&str>) -> Result<Tokens, StoreError> {
        let text = "with recursive tree (pod) as (
                        select cast($1 as bigint) union select children.child from children join tree on children.parent = tree.pod)
                    select cast(coalesce(sum(input), 0) as bigint), cast(coalesce(sum(cached), 0) as bigint),
                           cast(coalesce(sum(written), 0) as bigint), cast(coalesce(sum(output), 0) as bigint),
                           cast(sum(cost) as bigint)
                    from usage where pod in (select pod from tree) and ($2 is null or day = $2)";
        let sum = |(input, cached, written, output, cost): (i64, i64, i64, i64, Option<i64>)| {
            Ok(tokens([input, cached, written, output], cost))
        };
        let row = self.0.reader.select(text).bind(root.0).bind(day).one("sum what a tree used", sum).await?;
        Ok(row.unwrap_or_default())
    }
}

/// Key, worker id, name, parent; input, cached, written, output, cost.
type PodColumns = (i64, String, String, Option<i64>, i64, i64, i64, i64, Option<i64>);

fn pod(columns: PodColumns) -> Result<PodTokens, StoreError> {
    let (key, worker_id, name, parent, input, cached, written, output, cost) = columns;
    Ok(PodTokens {
        key: PodKey(key),
        worker_id: WorkerId::parse(&worker_id).map_err(damaged("worker id"))?,
        name: PodName::parse(&name).map_err(damaged("Pod name"))?,
        parent: parent.map(PodKey),
        tokens: tokens([input, cached, written, output], cost),
    })
}

/// Day; input, cached, written, output, cost.
type DayColumns = (String, i64, i64, i64, i64, Option<i64>);

fn day((day, input, cached, written, output, cost): DayColumns) -> Result<DayTokens, StoreError> {
    Ok(DayTokens { day, tokens: tokens([input, cached, written, output], cost) })
}

/// Provider, model; input, cached, written, output, cost.
type ModelColumns = (String, String, i64, i64, i64, i64, Option<i64>);

fn model((provider, model, input, cached, written, output, cost): ModelColumns) -> Result<ModelTokens, StoreError> {
    Ok(ModelTokens { provider, model, tokens: tokens([input, cached, written, output], cost) })
}

/// Both keys, runs; input, cached, written, output, cost.
type LinkColumns = (i64, i64, i64, i64, i64, i64, i64, Option<i64>);

fn link((low, high, runs, input, cached, written, output, cost): LinkColumns) -> Result<LinkTokens, StoreError> {
    let tokens = tokens([input, cached, written, output], cost);
    Ok(LinkTokens { low: PodKey(low), high: PodKey(high), runs: count(runs), tokens })
}

fn tokens(counts: [i64; 4], cost: Option<i64>) -> Tokens {
    let [input, cached, written, output] = counts.map(count);
    Tokens { input, cached, written, output, cost: cost.map(|units| Cost::from_units(count(units))) }
}

fn count(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}
