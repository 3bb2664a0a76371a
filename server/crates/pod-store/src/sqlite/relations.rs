//! Who leads whom, and what is lent: one row for each Pod that another one spawned.

use serde_json::json;
use sqlx::{Row, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::{pods::pod_row, read_failed, write_failed};
use crate::{
    ChildRow, PodKey, StoreError,
    columns::{pod_columns, pod_tables},
    engine::{LinkLine, WriteError},
};

pub(super) async fn children(pool: &SqlitePool, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
    let rows = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", link.scope, link.is_lent from ",
        pod_tables!(),
        " where link.parent = ? order by link.child"
    ))
    .bind(parent.0)
    .fetch_all(pool)
    .await;
    rows.map_err(read_failed("list a Pod's children"))?.iter().map(child_row).collect()
}

pub(super) async fn child(pool: &SqlitePool, child: PodKey) -> Result<Option<ChildRow>, StoreError> {
    let row = sqlx::query(concat!(
        "select ",
        pod_columns!(),
        ", link.scope, link.is_lent from ",
        pod_tables!(),
        " where link.child = ?"
    ))
    .bind(child.0)
    .fetch_optional(pool)
    .await;
    row.map_err(read_failed("look up a child"))?.as_ref().map(child_row).transpose()
}

fn child_row(row: &SqliteRow) -> Result<ChildRow, StoreError> {
    Ok(ChildRow {
        pod: pod_row(row)?,
        scope: row.try_get("scope").map_err(read_failed("read a loan"))?,
        is_lent: row.try_get("is_lent").map_err(read_failed("read a loan"))?,
    })
}

/// A parent that the same batch deletes leads nobody.
pub(super) async fn link_in_txn(connection: &mut SqliteConnection, lines: &[LinkLine<'_>]) -> Result<(), WriteError> {
    let rows: Vec<_> = lines
        .iter()
        .map(|line| json!([line.child.0, line.link.parent.0, line.link.scope, i64::from(line.is_lent)]))
        .collect();
    sqlx::query(
        "insert into children (child, parent, scope, is_lent)
         select line.value->>0, line.value->>1, line.value->>2, line.value->>3
         from json_each(?) line cross join pods where pods.key = line.value->>1
         on conflict (child) do update set
             parent = excluded.parent, scope = excluded.scope, is_lent = excluded.is_lent",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("link a child to its parent"))
}

pub(super) async fn lend_in_txn(connection: &mut SqliteConnection, lines: &[(PodKey, bool)]) -> Result<(), WriteError> {
    let rows: Vec<_> = lines.iter().map(|(child, is_lent)| json!([child.0, i64::from(*is_lent)])).collect();
    sqlx::query(
        "update children set is_lent = line.value->>1
         from json_each(?) line where children.child = line.value->>0",
    )
    .bind(json!(rows).to_string())
    .execute(connection)
    .await
    .map(drop)
    .map_err(write_failed("change a loan"))
}
