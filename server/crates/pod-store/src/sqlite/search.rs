//! The search index: FTS5 over a table of texts, kept in step by triggers.

use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    StoreError, columns,
    engine::{SearchLine, WriteError},
    search::{Hit, SearchFilter, Word},
};

/// Each word is quoted, so nothing a person types is taken for FTS5's query language.
pub(super) async fn find(
    pool: &SqlitePool,
    words: &[Word],
    filter: SearchFilter,
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    let quoted = |word: &Word| format!("\"{}\"{}", word.text, if word.is_beginning { " *" } else { "" });
    let rows = sqlx::query_as(
        "select search_texts.id, pods.key, pods.worker_id, pods.name, search_texts.seq, search_texts.kind,
                snippet(search_words, 0, '', '', '…', 24), journal.class, cast(journal.sum as integer),
                cast(journal.body as blob)
         from search_words
         join search_texts on search_texts.id = search_words.rowid
         join pods on pods.key = search_texts.pod
         left join journal on journal.pod = search_texts.pod and journal.seq = search_texts.seq
         where search_words match ?1 and search_words.rowid < ?2 and (?3 is null or search_texts.pod = ?3)
         order by search_words.rowid desc limit ?4",
    )
    .bind(words.iter().map(quoted).collect::<Vec<_>>().join(" "))
    .bind(filter.after.unwrap_or(i64::MAX))
    .bind(filter.pod.map(|pod| pod.0))
    .bind(limit)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("search"))?.into_iter().map(columns::search).collect()
}

pub(super) async fn append_in_txn(
    connection: &mut SqliteConnection,
    lines: &[SearchLine<'_>],
) -> Result<(), WriteError> {
    let rows: Vec<_> = lines.iter().map(|line| json!([line.pod.0, line.seq, line.kind, line.text])).collect();
    sqlx::query(
        "insert into search_texts (pod, seq, kind, text)
         select value->>0, value->>1, value->>2, value->>3 from json_each(?)",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("index a record"))
}
