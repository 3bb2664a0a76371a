//! Tokens: sums per Pod and day, and per pair of Pods.

use protocol::WorkerId;
use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    StoreError,
    engine::WriteError,
    usage::{SpentLine, UsageRows},
    usage_columns::{DayColumns, LinkColumns, PodColumns},
};

pub(super) async fn all(pool: &PgPool) -> Result<UsageRows, StoreError> {
    let failed = || read_failed("read what was used");
    let pods: Vec<PodColumns> = sqlx::query_as(
        "select pods.key, pods.worker_id, pods.name, children.parent, coalesce(sum(used.input), 0)::bigint,
                coalesce(sum(used.cached), 0)::bigint, coalesce(sum(used.output), 0)::bigint, sum(used.cost)
         from pods
         left join children on children.child = pods.key
         left join usage_days used on used.pod = pods.key
         group by pods.key, children.parent order by pods.key",
    )
    .fetch_all(pool)
    .await
    .map_err(failed())?;
    let days: Vec<DayColumns> = sqlx::query_as(
        "select day, sum(input)::bigint, sum(cached)::bigint, sum(output)::bigint, sum(cost)
         from usage_days group by day order by day",
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
pub(super) async fn add_in_txn(connection: &mut PgConnection, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
    let days: Vec<&SpentLine<'_>> = lines.iter().filter(|line| line.has_tokens()).collect();
    if !days.is_empty() {
        let count = |column: usize| days.iter().map(|line| line.counts[column]).collect::<Vec<_>>();
        sqlx::query(
            "insert into usage_days as standing (pod, day, input, cached, output, cost)
             select pod, day, sum(input)::bigint, sum(cached)::bigint, sum(output)::bigint, sum(cost)
             from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::float8[])
                  as line (pod, day, input, cached, output, cost)
             group by pod, day
             on conflict (pod, day) do update set
                 input = standing.input + excluded.input, cached = standing.cached + excluded.cached,
                 output = standing.output + excluded.output,
                 cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost)",
        )
        .bind(days.iter().map(|line| line.pod.0).collect::<Vec<_>>())
        .bind(days.iter().map(|line| line.day.as_str()).collect::<Vec<_>>())
        .bind(count(0))
        .bind(count(1))
        .bind(count(2))
        .bind(days.iter().map(|line| line.cost).collect::<Vec<_>>())
        .execute(&mut *connection)
        .await
        .map_err(write_failed("count what was used"))?;
    }
    let links: Vec<(&SpentLine<'_>, (&WorkerId, i64))> =
        lines.iter().filter_map(|line| Some((line, line.link?))).collect();
    if !links.is_empty() {
        let count = |column: usize| links.iter().map(|(line, _)| line.counts[column]).collect::<Vec<_>>();
        sqlx::query(
            "insert into usage_links as standing (low, high, runs, input, cached, output, cost)
             select least(line.pod, pods.key), greatest(line.pod, pods.key), sum(runs)::bigint, sum(input)::bigint,
                    sum(cached)::bigint, sum(output)::bigint, sum(cost)
             from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                         $7::float8[]) as line (pod, peer, runs, input, cached, output, cost)
             join pods on pods.worker_id = line.peer and pods.key <> line.pod
             group by 1, 2
             on conflict (low, high) do update set
                 runs = standing.runs + excluded.runs, input = standing.input + excluded.input,
                 cached = standing.cached + excluded.cached, output = standing.output + excluded.output,
                 cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost)",
        )
        .bind(links.iter().map(|(line, _)| line.pod.0).collect::<Vec<_>>())
        .bind(links.iter().map(|(_, (worker_id, _))| worker_id.as_str()).collect::<Vec<_>>())
        .bind(links.iter().map(|(_, (_, runs))| *runs).collect::<Vec<_>>())
        .bind(count(0))
        .bind(count(1))
        .bind(count(2))
        .bind(links.iter().map(|(line, _)| line.cost).collect::<Vec<_>>())
        .execute(connection)
        .await
        .map_err(write_failed("count what a pair of Pods used"))?;
    }
    Ok(())
}
