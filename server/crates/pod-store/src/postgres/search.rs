//! The search index: a word list beside each text.

use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    StoreError, columns,
    engine::{SearchLine, WriteError},
    search::{Hit, SearchFilter, Word},
    words,
};

/// The configuration `simple` takes words as they are written, as SQLite's tokenizer does: no stems, no stop words. A
/// word is made of letters and digits, so nothing a person types is taken for the language of either pattern.
///
/// The snippet is cut here and not by `ts_headline`, which drops whatever looks like a tag.
pub(super) async fn find(
    pool: &PgPool,
    words: &[Word],
    filter: SearchFilter,
    limit: u32,
) -> Result<Vec<Hit>, StoreError> {
    let quoted = |word: &Word| format!("'{}'{}", word.text, if word.is_beginning { ":*" } else { "" });
    let end = |word: &Word| if word.is_beginning { "" } else { "(?![[:alnum:]])" };
    let around = words.first().map(|word| format!("(?i).{{0,60}}(?<![[:alnum:]]){}{}.{{0,140}}", word.text, end(word)));
    let rows = sqlx::query_as(
        "with found as (
             select id, pod, seq, kind, text, coalesce(substring(text from $2), left(text, 200)) as piece
             from search_texts
             where words @@ to_tsquery('simple', $1) and id < $4 and ($5::bigint is null or pod = $5)
             order by id desc limit $3)
         select id, pods.key, pods.worker_id, pods.name, found.seq, kind,
                case when starts_with(text, piece) then '' else '…' end || piece ||
                case when right(text, length(piece)) = piece then '' else '…' end,
                journal.class::bigint, journal.sum, convert_to(journal.body, 'UTF8')
         from found join pods on pods.key = found.pod
         left join journal on journal.pod = found.pod and journal.seq = found.seq
         order by id desc",
    )
    .bind(words.iter().map(quoted).collect::<Vec<_>>().join(" & "))
    .bind(around.unwrap_or_default())
    .bind(i64::from(limit))
    .bind(filter.after.unwrap_or(i64::MAX))
    .bind(filter.pod.map(|pod| pod.0))
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("search"))?.into_iter().map(columns::search).collect()
}

pub(super) async fn append_in_txn(connection: &mut PgConnection, lines: &[SearchLine<'_>]) -> Result<(), WriteError> {
    sqlx::query(
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
    .bind(lines.iter().map(|line| words::plain(&line.text)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("index a record"))
}
