//! The search index: a word list beside each text, made by the database itself.

use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    SearchRow, StoreError, columns,
    engine::{SearchLine, WriteError},
};

/// The configuration `simple` takes words as they are written, as SQLite's tokenizer does: no stems, no stop words.
pub(super) async fn find(pool: &PgPool, query: &str, limit: u32) -> Result<Vec<SearchRow>, StoreError> {
    let rows = sqlx::query_as(
        "with wanted as (select plainto_tsquery('simple', $1) as query),
              found as (
                  select id, pod, seq, kind, text from search_texts, wanted
                  where words @@ wanted.query order by id desc limit $2)
         select pods.worker_id, pods.name, found.seq, found.kind,
                ts_headline('simple', found.text, wanted.query, 'StartSel=\"\", StopSel=\"\", MinWords=12, MaxWords=24')
         from found cross join wanted join pods on pods.key = found.pod order by found.id desc",
    )
    .bind(query)
    .bind(i64::from(limit))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("search"))?.into_iter().map(columns::search).collect()
}

pub(super) async fn append_in_txn(connection: &mut PgConnection, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
    sqlx::query(
        "insert into search_texts (pod, seq, kind, text)
         select pod, seq, kind, text
         from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
              with ordinality as line (pod, seq, kind, text, place)
         order by place",
    )
    .bind(lines.iter().map(|line| line.pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.seq.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.kind).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.text.as_ref()).collect::<Vec<&str>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("index a record"))
}
