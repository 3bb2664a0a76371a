//! Journals, usage and the search index.

use async_trait::async_trait;
use protocol::{Seq, WorkerId};

use super::{PostgresPen, write_failed};
use crate::{
    Fold, NewRecord, PodKey,
    checksum::checksum,
    columns,
    engine::{JournalPen, SearchLine},
    txn::WriteError,
    usage::SpentLine,
    words,
};

#[async_trait]
impl JournalPen for PostgresPen {
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "select key, greatest(checkpoint_seq, (select max(seq) from journal where pod = pods.key))
             from pods where key = any($1)",
        )
        .bind(keys)
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("read journal heads"))?;
        Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
    }

    /// All rows in one statement, with one array per column.
    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError> {
        let bodies: Result<Vec<&str>, _> = lines.iter().map(|(_, record)| std::str::from_utf8(&record.body)).collect();
        let bodies =
            bodies.map_err(|error| WriteError::Refused(format!("cannot append a record that is not text: {error}")))?;
        let query = sqlx::query(
            "insert into journal (pod, seq, class, body, sum)
             select * from unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::text[], $5::bigint[])",
        )
        .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, record)| record.seq.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, record)| columns::class_number(record.class)).collect::<Vec<_>>())
        .bind(bodies)
        .bind(lines.iter().map(|(pod, record)| sum_of(*pod, record)).collect::<Vec<_>>());
        self.run("append to a journal", query).await.map(drop)
    }

    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "delete from journal using unnest($1::bigint[], $2::bigint[], $3::bigint[]) as fold (pod, first, last)
             where journal.pod = fold.pod and journal.seq between fold.first and fold.last and journal.class = 0",
        )
        .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, fold)| fold.from.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|(_, fold)| fold.to.0).collect::<Vec<_>>());
        self.run("fold chunks", query).await.map(drop)
    }

    /// If the other Pod of a pair is gone, nothing is recorded for the pair.
    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
        let used: Vec<&SpentLine<'_>> = lines.iter().filter(|line| line.has_tokens()).collect();
        if !used.is_empty() {
            let count = |column: usize| used.iter().map(|line| line.counts[column]).collect::<Vec<_>>();
            let query = sqlx::query(
                "insert into usage as standing (pod, day, provider, model, currency, input, cached, written, output, cost, estimated)
                 select pod, day, provider, model, currency, sum(input)::bigint, sum(cached)::bigint, sum(written)::bigint,
                        sum(output)::bigint, sum(cost)::bigint, max(estimated)
                 from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
                             $8::bigint[], $9::bigint[], $10::text[], $11::bigint[])
                      as line (pod, day, provider, model, input, cached, written, output, cost, currency, estimated)
                 group by pod, day, provider, model, currency
                 on conflict (pod, day, provider, model, currency) do update set
                     input = standing.input + excluded.input, cached = standing.cached + excluded.cached,
                     written = standing.written + excluded.written, output = standing.output + excluded.output,
                     cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost),
                     estimated = greatest(standing.estimated, excluded.estimated)",
            )
            .bind(used.iter().map(|line| line.pod.0).collect::<Vec<_>>())
            .bind(used.iter().map(|line| line.day.as_str()).collect::<Vec<_>>())
            .bind(used.iter().map(|line| line.provider).collect::<Vec<_>>())
            .bind(used.iter().map(|line| line.model).collect::<Vec<_>>())
            .bind(count(0))
            .bind(count(1))
            .bind(count(2))
            .bind(count(3))
            .bind(used.iter().map(|line| line.cost).collect::<Vec<_>>())
            .bind(used.iter().map(|line| line.currency.as_str()).collect::<Vec<_>>())
            .bind(used.iter().map(|line| line.estimated).collect::<Vec<_>>());
            self.run("count what was used", query).await?;
        }
        let links: Vec<(&SpentLine<'_>, (&WorkerId, i64))> =
            lines.iter().filter_map(|line| Some((line, line.link?))).collect();
        if !links.is_empty() {
            let count = |column: usize| links.iter().map(|(line, _)| line.counts[column]).collect::<Vec<_>>();
            let query = sqlx::query(
                "insert into usage_links as standing (low, high, currency, runs, input, cached, written, output, cost, estimated)
                 select least(line.pod, pods.key), greatest(line.pod, pods.key), line.currency, sum(runs)::bigint, sum(input)::bigint,
                        sum(cached)::bigint, sum(written)::bigint, sum(output)::bigint, sum(cost)::bigint,
                        max(line.estimated)
                 from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                             $8::bigint[], $9::text[], $10::bigint[])
                      as line (pod, peer, runs, input, cached, written, output, cost, currency, estimated)
                 join pods on pods.worker_id = line.peer and pods.key <> line.pod
                 group by 1, 2, 3
                 on conflict (low, high, currency) do update set
                     runs = standing.runs + excluded.runs, input = standing.input + excluded.input,
                     cached = standing.cached + excluded.cached, written = standing.written + excluded.written,
                     output = standing.output + excluded.output,
                     cost = coalesce(standing.cost + excluded.cost, standing.cost, excluded.cost),
                     estimated = greatest(standing.estimated, excluded.estimated)",
            )
            .bind(links.iter().map(|(line, _)| line.pod.0).collect::<Vec<_>>())
            .bind(links.iter().map(|(_, (worker_id, _))| worker_id.as_str()).collect::<Vec<_>>())
            .bind(links.iter().map(|(_, (_, runs))| *runs).collect::<Vec<_>>())
            .bind(count(0))
            .bind(count(1))
            .bind(count(2))
            .bind(count(3))
            .bind(links.iter().map(|(line, _)| line.cost).collect::<Vec<_>>())
            .bind(links.iter().map(|(line, _)| line.currency.as_str()).collect::<Vec<_>>())
            .bind(links.iter().map(|(line, _)| line.estimated).collect::<Vec<_>>());
            self.run("count what a pair of Pods used", query).await?;
        }
        Ok(())
    }

    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
        let query = sqlx::query(
            "insert into search_texts (pod, seq, kind, text, words)
             select pod, seq, kind, text, to_tsvector('simple', words)
             from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
                  with ordinality as line (pod, seq, kind, text, words, place)
             order by place",
        )
        .bind(lines.iter().map(|line| line.pod.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.seq.0).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.kind).collect::<Vec<_>>())
        .bind(lines.iter().map(|line| line.text.as_ref()).collect::<Vec<&str>>())
        .bind(lines.iter().map(|line| words::plain(&line.text)).collect::<Vec<_>>());
        self.run("index a record", query).await.map(drop)
    }
}

fn sum_of(pod: PodKey, record: &NewRecord) -> i64 {
    checksum(pod, record.seq, columns::class_number(record.class), &record.body).into()
}
