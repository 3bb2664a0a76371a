//! Mailboxes: what a Pod is to be told, kept until its journal holds it.

use sqlx::{PgConnection, PgPool};

use super::{read_failed, write_failed};
use crate::{
    MailPut, MailRow, PodKey, StoreError,
    columns::{self, micros},
    engine::WriteError,
};

pub(super) async fn waiting(pool: &PgPool, pod: PodKey) -> Result<Vec<MailRow>, StoreError> {
    let rows = sqlx::query_as("select key, body, at from mail where not is_taken and pod = $1 order by id")
        .bind(pod.0)
        .fetch_all(pool)
        .await;
    rows.map_err(read_failed("read a mailbox"))?.into_iter().map(columns::mail).collect()
}

pub(super) async fn put_in_txn(connection: &mut PgConnection, lines: &[&MailPut]) -> Result<(), WriteError> {
    sqlx::query(
        "insert into mail (pod, key, body, at, is_taken)
         select line.pod, line.key, line.body, line.at, false
         from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
              with ordinality as line (pod, key, body, at, place)
         join pods on pods.key = line.pod
         order by line.place on conflict do nothing",
    )
    .bind(lines.iter().map(|mail| mail.to.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|mail| mail.key.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|mail| mail.body.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|mail| micros(mail.at)).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("put mail into a mailbox"))
}

/// A key that was never put in is known from now on all the same: the journal holds what it stands for.
pub(super) async fn take_in_txn(connection: &mut PgConnection, lines: &[(PodKey, &String)]) -> Result<(), WriteError> {
    // Distinct: one statement may update a row only once.
    sqlx::query(
        "insert into mail (pod, key, body, at, is_taken)
         select distinct pod, key, '', 0, true from unnest($1::bigint[], $2::text[]) as line (pod, key)
         on conflict (pod, key) do update set body = '', is_taken = true",
    )
    .bind(lines.iter().map(|(pod, _)| pod.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, key)| key.as_str()).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("take mail from a mailbox"))
}
