//! Journals, usage and the search index.

use std::fmt::Write;

use async_trait::async_trait;
use protocol::Seq;
use serde_json::json;

use super::{SqlitePen, write_failed};
use crate::{
    Fold, NewRecord, PodKey,
    checksum::checksum,
    columns,
    engine::{JournalPen, SearchLine},
    txn::WriteError,
    usage::SpentLine,
};

#[async_trait]
impl JournalPen for SqlitePen {
    async fn heads(&mut self, pods: &[PodKey]) -> Result<Vec<(PodKey, Seq)>, WriteError> {
        let keys: Vec<i64> = pods.iter().map(|pod| pod.0).collect();
        let rows: Vec<(i64, i64)> = sqlx::query_as(
            "select key, max(checkpoint_seq, coalesce((select max(seq) from journal where pod = pods.key), 0))
             from pods where key in (select value from json_each(?))",
        )
        .bind(json!(keys).to_string())
        .fetch_all(self.txn()?)
        .await
        .map_err(write_failed("read journal heads"))?;
        Ok(rows.into_iter().map(|(key, seq)| (PodKey(key), Seq(seq))).collect())
    }

    async fn records_append(&mut self, lines: &[(PodKey, &NewRecord)]) -> Result<(), WriteError> {
        sqlx::query(
            "insert into journal (pod, seq, class, sum, body)
             select value->>0, value->>1, value->>2, value->>3, value->4 from json_each(?)",
        )
        .bind(rows_of(lines)?)
        .execute(self.txn()?)
        .await
        .map(drop)
        .map_err(write_failed("append to a journal"))
    }

    async fn records_append_alone(
        &mut self,
        host_epoch: i64,
        lines: &[(PodKey, &NewRecord)],
    ) -> Result<Option<bool>, WriteError> {
        let done = sqlx::query(
            "insert into journal (pod, seq, class, sum, body)
             select value->>0, value->>1, value->>2, value->>3, value->4 from json_each(?)
             where (select host_epoch from meta) = ?",
        )
        .bind(rows_of(lines)?)
        .bind(host_epoch)
        .execute(self.connected().await?)
        .await
        .map_err(write_failed("append to a journal"))?;
        Ok(Some(done.rows_affected() > 0))
    }

    async fn records_fold(&mut self, lines: &[(PodKey, &Fold)]) -> Result<(), WriteError> {
        let ranges = lines.iter().map(|(pod, fold)| json!([pod.0, fold.from, fold.to]));
        let sql = "delete from journal where (pod, seq) in (
                       select chunk.pod, chunk.seq from json_each(?) fold cross join journal chunk
                       where chunk.pod = fold.value->>0 and chunk.seq between fold.value->>1 and fold.value->>2
                       and chunk.class = 0)";
        self.write("fold chunks", sql, ranges).await.map(drop)
    }

    /// If the other Pod of a pair is gone, nothing is recorded for the pair.
    async fn usage_add(&mut self, lines: &[SpentLine<'_>]) -> Result<(), WriteError> {
        let used: Vec<_> = lines.iter().filter(|line| line.has_tokens()).map(used_row).collect();
        if !used.is_empty() {
            let sql = "insert into usage (pod, day, provider, model, input, cached, written, output, cost, currency, estimated)
                       select value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8,
                              value->>9, value->>10
                       from json_each(?) where true
                       on conflict (pod, day, provider, model, currency) do update set
                           input = input + excluded.input, cached = cached + excluded.cached,
                           written = written + excluded.written, output = output + excluded.output,
                           cost = coalesce(cost + excluded.cost, cost, excluded.cost),
                           estimated = max(estimated, excluded.estimated)";
            self.write("count what was used", sql, used).await?;
        }
        let links: Vec<_> = lines.iter().filter_map(link_row).collect();
        if !links.is_empty() {
            let sql = "insert into usage_links (low, high, runs, input, cached, written, output, cost, currency,
                                                estimated)
                       select min(line.value->>0, pods.key), max(line.value->>0, pods.key), line.value->>2,
                              line.value->>3, line.value->>4, line.value->>5, line.value->>6, line.value->>7, line.value->>8,
                              line.value->>9
                       from json_each(?) line cross join pods
                       where pods.worker_id = line.value->>1 and pods.key <> line.value->>0
                       on conflict (low, high, currency) do update set
                           runs = runs + excluded.runs, input = input + excluded.input, cached = cached + excluded.cached,
                           written = written + excluded.written, output = output + excluded.output,
                           cost = coalesce(cost + excluded.cost, cost, excluded.cost),
                           estimated = max(estimated, excluded.estimated)";
            self.write("count what a pair of Pods used", sql, links).await?;
        }
        Ok(())
    }

    /// Triggers keep the FTS5 index in step with the table.
    async fn search_append(&mut self, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
        let rows = lines.iter().map(|line| json!([line.pod.0, line.seq, line.kind, line.text]));
        let sql = "insert into search_texts (pod, seq, kind, text)
                   select value->>0, value->>1, value->>2, value->>3 from json_each(?)";
        self.write("index a record", sql, rows).await.map(drop)
    }
}

/// All rows as one JSON value. Bodies are JSON already and are inserted unchanged, neither quoted nor parsed here.
fn rows_of(lines: &[(PodKey, &NewRecord)]) -> Result<String, WriteError> {
    let bytes: usize = lines.iter().map(|(_, record)| record.body.len() + 60).sum();
    let mut rows = String::with_capacity(bytes + 2);
    for (pod, record) in lines {
        let body = std::str::from_utf8(&record.body)
            .map_err(|error| WriteError::Refused(format!("cannot append a record that is not text: {error}")))?;
        rows.push(if rows.is_empty() { '[' } else { ',' });
        let class = columns::class_number(record.class);
        let sum = checksum(*pod, record.seq, class, &record.body);
        write!(rows, "[{},{},{class},{sum},{body}]", pod.0, record.seq).expect("writing to a String does not fail");
    }
    rows.push(']');
    Ok(rows)
}

fn used_row(line: &SpentLine<'_>) -> serde_json::Value {
    let [input, cached, written, output] = line.counts;
    let SpentLine { pod, day, provider, model, cost, currency, estimated, .. } = line;
    json!([pod.0, day, provider, model, input, cached, written, output, cost, currency, estimated])
}

fn link_row(line: &SpentLine<'_>) -> Option<serde_json::Value> {
    let (worker_id, runs) = line.link?;
    let [input, cached, written, output] = line.counts;
    let SpentLine { pod, cost, currency, estimated, .. } = line;
    Some(json!([pod.0, worker_id, runs, input, cached, written, output, cost, currency, estimated]))
}
