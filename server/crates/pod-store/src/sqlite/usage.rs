//! Tokens: sums per Pod and day, and per pair of Pods.

use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    StoreError,
    engine::WriteError,
    usage::{SpentLine, UsageRows},
    usage_columns::{DayColumns, LinkColumns, PodColumns},
};

pub(super) async fn all(pool: &SqlitePool) -> Result<UsageRows, StoreError> {
    let failed = || read_failed("read what was used");
    let pods: Vec<PodColumns> = sqlx::query_as(
        "select pods.key, pods.worker_id, pods.name, children.parent, coalesce(sum(used.input), 0),
                coalesce(sum(used.cached), 0), coalesce(sum(used.output), 0), sum(used.cost)
         from pods
         left join children on children.child = pods.key
         left join usage_days used on used.pod = pods.key
         group by pods.key order by pods.key",
    )
    .fetch_all(pool)
    .await
    .map_err(failed())?;
    let days: Vec<DayColumns> = sqlx::query_as(
        "select day, sum(input), sum(cached), sum(output), sum(cost) from usage_days group by day order by day",
    )
    .fetch_all(pool)
    .await
    .map_err(failed())?;
    let links: Vec<LinkColumns> = sqlx::query_as(
        "select low, high, runs, input, cached, output, cost from usage_links order by runs desc, low, high",
    )
    .fetch_all(pool)
    .await
    .map_err(failed())?;
    UsageRows::of(pods, days, links)
}

/// Adds to what stands. The other Pod of a pair may be gone: then nothing is kept of the pair.
pub(super) async fn add_in_txn(connection: &mut SqliteConnection, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
    let days: Vec<_> = lines.iter().filter(|line| line.has_tokens()).map(day_row).collect();
    if !days.is_empty() {
        sqlx::query(
            "insert into usage_days (pod, day, input, cached, output, cost)
             select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 from json_each(?) where true
             on conflict (pod, day) do update set
                 input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output,
                 cost = coalesce(cost + excluded.cost, cost, excluded.cost)",
        )
        .bind(json!(days).to_string())
        .execute(&mut *connection)
        .await
        .map_err(write_failed("count what was used"))?;
    }
    let links: Vec<_> = lines.iter().filter_map(link_row).collect();
    if !links.is_empty() {
        sqlx::query(
            "insert into usage_links (low, high, runs, input, cached, output, cost)
             select min(line.value->>0, pods.key), max(line.value->>0, pods.key), line.value->>2, line.value->>3,
                    line.value->>4, line.value->>5, line.value->>6
             from json_each(?) line cross join pods
             where pods.worker_id = line.value->>1 and pods.key <> line.value->>0
             on conflict (low, high) do update set
                 runs = runs + excluded.runs, input = input + excluded.input, cached = cached + excluded.cached,
                 output = output + excluded.output, cost = coalesce(cost + excluded.cost, cost, excluded.cost)",
        )
        .bind(json!(links).to_string())
        .execute(connection)
        .await
        .map_err(write_failed("count what a pair of Pods used"))?;
    }
    Ok(())
}

fn day_row(line: &SpentLine<'_>) -> serde_json::Value {
    let [input, cached, output] = line.counts;
    json!([line.pod.0, line.day, input, cached, output, line.cost])
}

fn link_row(line: &SpentLine<'_>) -> Option<serde_json::Value> {
    let (worker_id, runs) = line.link?;
    let [input, cached, output] = line.counts;
    Some(json!([line.pod.0, worker_id, runs, input, cached, output, line.cost]))
}
