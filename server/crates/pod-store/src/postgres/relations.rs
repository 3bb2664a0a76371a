//! Who leads whom, and what is lent: one row for each Pod that another one spawned.

use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{pods::pod_row, read_failed, write_failed};
use crate::{
    ChildRow, PodKey, StoreError,
    columns::{pod_columns, pod_tables},
    engine::{LinkLine, WriteError},
};

pub(super) async fn children(pool: &PgPool, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", link.scope, link.is_lent from ",
        pod_tables!(),
        " where link.parent = $1 order by link.child"
    ))
    .bind(parent.0)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list a Pod's children"))?.iter().map(child_row).collect()
}

pub(super) async fn child(pool: &PgPool, child: PodKey) -> Result<Option<ChildRow>, StoreError> {
    let row = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", link.scope, link.is_lent from ",
        pod_tables!(),
        " where link.child = $1"
    ))
    .bind(child.0)
    .fetch_optional(pool)
    .await;
    row.map_err(read_failed("look up a child"))?.as_ref().map(child_row).transpose()
}

fn child_row(row: &PgRow) -> Result<ChildRow, StoreError> {
    Ok(ChildRow {
        pod: pod_row(row)?,
        scope: row.try_get("scope").map_err(read_failed("read a loan"))?,
        is_lent: row.try_get("is_lent").map_err(read_failed("read a loan"))?,
    })
}

/// A parent that the same batch deletes leads nobody.
pub(super) async fn link_in_txn(connection: &mut PgConnection, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
    sqlx::query(
        "insert into children (child, parent, scope, is_lent)
         select line.child, line.parent, line.scope, line.is_lent
         from unnest($1::bigint[], $2::bigint[], $3::text[], $4::boolean[]) as line (child, parent, scope, is_lent)
         join pods on pods.key = line.parent
         on conflict (child) do update set
             parent = excluded.parent, scope = excluded.scope, is_lent = excluded.is_lent",
    )
    .bind(lines.iter().map(|line| line.child.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.link.parent.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.link.scope.as_str()).collect::<Vec<_>>())
    .bind(lines.iter().map(|line| line.is_lent).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("link a child to its parent"))
}

pub(super) async fn lend_in_txn(connection: &mut PgConnection, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
    sqlx::query(
        "update children set is_lent = line.is_lent
         from unnest($1::bigint[], $2::boolean[]) as line (child, is_lent) where children.child = line.child",
    )
    .bind(lines.iter().map(|(child, _)| child.0).collect::<Vec<_>>())
    .bind(lines.iter().map(|(_, is_lent)| *is_lent).collect::<Vec<_>>())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("change a loan"))
}
