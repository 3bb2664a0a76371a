//! Pages of search hits.

use jiff::Timestamp;
use serde::Deserialize;

use super::{Shared, journals::Journals};
use crate::{
    SearchFilter, SearchRow, StoreError, columns,
    reader::Select,
    search::{Hit, Word, words_of},
    statement::Text,
};

/// SQLite's index is FTS5 over a table of texts, PostgreSQL's a `tsvector` beside each text. Its configuration `simple`
/// takes words as they are written, like SQLite's tokenizer: no stems, no stop words. Its snippet is cut here and not
/// by `ts_headline`, which drops anything that looks like a tag.
const FOUND: Text = Text {
    sqlite: "select search_texts.id, pods.key, pods.worker_id, pods.name, search_texts.seq, search_texts.kind,
                snippet(search_words, 0, '', '', '…', 24), journal.class, cast(journal.sum as integer),
                cast(journal.body as blob)
         from search_words
         join search_texts on search_texts.id = search_words.rowid
         join pods on pods.key = search_texts.pod
         left join journal on journal.pod = search_texts.pod and journal.seq = search_texts.seq
         where search_words match $1 and search_words.rowid < $2 and ($3 is null or search_texts.pod = $3)
         order by search_words.rowid desc limit $4",
    postgres: "with found as (
             select id, pod, seq, kind, text, coalesce(substring(text from $5), left(text, 200)) as piece
             from search_texts
             where words @@ to_tsquery('simple', $1) and id < $2 and ($3::bigint is null or pod = $3)
             order by id desc limit $4)
         select id, pods.key, pods.worker_id, pods.name, found.seq, kind,
                case when starts_with(text, piece) then '' else '…' end || piece ||
                case when right(text, length(piece)) = piece then '' else '…' end,
                journal.class::bigint, journal.sum, journal.body
         from found join pods on pods.key = found.pod
         left join journal on journal.pod = found.pod and journal.seq = found.seq
         order by id desc",
};

/// The part of a record that has its time.
#[derive(Deserialize)]
struct Dated {
    at: Timestamp,
}

/// The search index of a store.
#[derive(Debug, Clone, Copy)]
pub struct Search<'s>(pub(super) &'s Shared);

impl<'s> Search<'s> {
    /// Records that contain all the words, newest first; the last word may be a prefix. Any text is valid; one without
    /// a word finds nothing.
    pub async fn find(self, query: &str, limit: u32) -> Result<Vec<SearchRow>, StoreError> {
        let found = self.page(query, SearchFilter::default(), limit).await?;
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }

    /// Like [`Search::find`], with only the hits that match the filter, and their numbers.
    pub async fn page(
        self,
        query: &str,
        filter: SearchFilter,
        limit: u32,
    ) -> Result<Vec<(i64, SearchRow)>, StoreError> {
        let words = words_of(query);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let mut rows = Vec::new();
        for hit in self.hits(&words, filter, limit).all("search", columns::search).await? {
            rows.push((hit.id, self.dated(hit).await));
        }
        Ok(rows)
    }

    /// Words consist of letters and digits, and are quoted, so nothing that a person types is taken for query syntax.
    fn hits(self, words: &[Word], filter: SearchFilter, limit: u32) -> Select<'s> {
        let select = self.0.reader.select(FOUND);
        let quoted = |word: &Word| match (select.is_postgres(), word.is_beginning) {
            (false, false) => format!("\"{}\"", word.text),
            (false, true) => format!("\"{}\" *", word.text),
            (true, false) => format!("'{}'", word.text),
            (true, true) => format!("'{}':*", word.text),
        };
        let glue = if select.is_postgres() { " & " } else { " " };
        let words_quoted = words.iter().map(quoted).collect::<Vec<_>>().join(glue);
        let select = select
            .bind(words_quoted)
            .bind(filter.after.unwrap_or(i64::MAX))
            .bind(filter.pod.map(|pod| pod.0))
            .bind(i64::from(limit));
        if !select.is_postgres() {
            return select;
        }
        let end = |word: &Word| if word.is_beginning { "" } else { "(?![[:alnum:]])" };
        let around = |word: &Word| format!("(?i).{{0,60}}(?<![[:alnum:]]){}{}.{{0,140}}", word.text, end(word));
        select.bind(words.first().map(around).unwrap_or_default())
    }

    async fn dated(self, Hit { pod, mut row, record, .. }: Hit) -> SearchRow {
        if let Some(record) = record {
            match record.damage(pod) {
                Some(damage) => drop(Journals(self.0).set_aside(pod, record.seq, damage).await),
                None => row.at = serde_json::from_slice(&record.body).ok().map(|Dated { at }| at),
            }
        }
        row
    }
}
