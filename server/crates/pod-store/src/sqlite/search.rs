//! The search index: FTS5 over a table of texts, kept in step by triggers.

use serde_json::json;
use sqlx::{SqliteConnection, SqlitePool};

use super::{read_failed, write_failed};
use crate::{
    SearchRow, StoreError, columns,
    engine::{SearchLine, WriteError},
};

/// Each word is quoted, so nothing a person types is taken for FTS5's query language.
pub(super) async fn find(pool: &SqlitePool, query: &str, limit: u32) -> Result<Vec<SearchRow>, StoreError> {
    let words: Vec<String> =
        query.split_whitespace().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let rows = sqlx::query_as(
        "select pods.worker_id, pods.name, search_texts.seq, search_texts.kind,
                snippet(search_words, 0, '', '', '…', 24)
         from search_words
         join search_texts on search_texts.id = search_words.rowid
         join pods on pods.key = search_texts.pod
         where search_words match ? order by search_words.rowid desc limit ?",
    )
    .bind(words.join(" "))
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
