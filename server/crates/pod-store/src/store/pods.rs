//! Pods, parents and children.

use protocol::{PodName, WorkerId};
use sqlx::FromRow;

use super::Shared;
use crate::{
    ChildRow, PodGroup, PodKey, PodRow, StoreError,
    columns::{self, POD_COLUMNS, PodColumns, pod_columns, pod_tables},
    statement::{Line, Text},
};

/// One page of the Pods in a partial index.
macro_rules! grouped {
    ($sqlite_index:literal, $sqlite:literal, $postgres:literal) => {
        Text {
            sqlite: concat!(
                "select ",
                pod_columns!(),
                " from ",
                pod_tables!(),
                " where pods.key in (select key from pods indexed by ",
                $sqlite_index,
                " where ",
                $sqlite,
                " and key > $1 order by key limit $2) order by pods.key"
            ),
            postgres: concat!(
                "select ",
                pod_columns!(),
                " from ",
                pod_tables!(),
                " where ",
                $postgres,
                " and pods.key > $1 order by pods.key limit $2"
            ),
        }
    };
}

macro_rules! open {
    ($open:literal, $waits:literal) => {
        concat!(
            "select ",
            pod_columns!(),
            " from ",
            pod_tables!(),
            " where pods.key in (
                  select key from pods where ",
            $open,
            " union select pod from inbox
                  union select mail.pod from mail cross join pods addressee
                        where ",
            $waits,
            " and addressee.key = mail.pod and addressee.state <> 'stopped'
              ) order by pods.key"
        )
    };
}

/// The Pods of a store.
#[derive(Debug, Clone, Copy)]
pub struct Pods<'s>(pub(super) &'s Shared);

impl Pods<'_> {
    /// What is noted on a Pod's changes and not sent yet, as JSON; `None` if nothing was ever noted, or there is no such
    /// Pod.
    pub async fn drafts(self, pod: PodKey) -> Result<Option<String>, StoreError> {
        let text = "select drafts from pods where key = $1";
        let drafts = |(drafts,): (Option<String>,)| Ok(drafts);
        Ok(self.0.reader.select(text).bind(pod.0).one("read drafts", drafts).await?.flatten())
    }

    pub async fn find(self, worker_id: &WorkerId) -> Result<Option<PodRow>, StoreError> {
        let text = concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.worker_id = $1");
        self.0.reader.select(text).bind(worker_id.as_str()).one("look up a Pod", columns::pod).await
    }

    pub async fn find_by_name(self, name: &PodName) -> Result<Option<PodRow>, StoreError> {
        let text = concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.name = $1");
        self.0.reader.select(text).bind(name.as_str()).one("look up a Pod by name", columns::pod).await
    }

    pub async fn find_by_key(self, key: PodKey) -> Result<Option<PodRow>, StoreError> {
        let text = concat!("select ", pod_columns!(), " from ", pod_tables!(), " where pods.key = $1");
        self.0.reader.select(text).bind(key.0).one("look up a Pod by key", columns::pod).await
    }

    /// Pods in order of creation, after the given one or from the beginning.
    pub async fn page(self, after: Option<PodKey>, limit: u32) -> Result<Vec<PodRow>, StoreError> {
        let text = concat!(
            "select ",
            pod_columns!(),
            " from ",
            pod_tables!(),
            " where pods.key > $1 order by pods.key limit $2"
        );
        let page = self.0.reader.select(text).bind(after.map_or(0, |key| key.0)).bind(i64::from(limit));
        page.all("list Pods", columns::pod).await
    }

    /// Like [`Pods::page`], for one group only; the other Pods cost nothing.
    pub async fn page_of(self, group: PodGroup, after: Option<PodKey>, limit: u32) -> Result<Vec<PodRow>, StoreError> {
        // In the exact words of the index, so that it is used.
        let text = match group {
            PodGroup::WithRules => grouped!(
                "pods_with_rules",
                r#"instr(spec, '"permissions":[{') > 0"#,
                r#"strpos(pods.spec, '"permissions":[{') > 0"#
            ),
            PodGroup::Limited => grouped!(
                "pods_limited",
                r#"state = 'paused' and instr(spec, '"auto_resume":true') > 0 and instr(checkpoint, '"limit":{') > 0"#,
                r#"pods.state = 'paused' and strpos(pods.spec, '"auto_resume":true') > 0
                   and strpos(pods.checkpoint, '"limit":{') > 0"#
            ),
            PodGroup::Halted => {
                grouped!("pods_halted", "state in ('waiting', 'paused')", "pods.state in ('waiting', 'paused')")
            }
        };
        let page = self.0.reader.select(text).bind(after.map_or(0, |key| key.0)).bind(i64::from(limit));
        page.all("list some Pods", columns::pod).await
    }

    /// The number of Pods that are not stopped, counted up to `limit`.
    pub async fn living_count(self, limit: u64) -> Result<u64, StoreError> {
        let text = Text {
            sqlite: "select count(*) from (select key from pods indexed by pods_living where state <> 'stopped' limit $1)",
            postgres: "select count(*) from (select key from pods where state <> 'stopped' limit $1) living",
        };
        let count = self.0.reader.select(text).bind(i64::try_from(limit).unwrap_or(i64::MAX));
        Ok(count.count("count Pods").await?.unsigned_abs())
    }

    /// The names of all Pods, in no particular order.
    pub async fn names(self) -> Result<Vec<PodName>, StoreError> {
        // As a single row, because there may be many.
        let text = "select coalesce(string_agg(name, '\n'), '') from pods";
        let names = |(lines,): (String,)| {
            lines.lines().map(|name| PodName::parse(name).map_err(columns::damaged("Pod name"))).collect()
        };
        Ok(self.0.reader.select(text).one("list the names of Pods", names).await?.unwrap_or_default())
    }

    /// The Pods that a restart must look at: a run was open, an input is queued, or there is mail and the Pod is not
    /// stopped. The other Pods cost nothing.
    pub async fn open(self) -> Result<Vec<PodRow>, StoreError> {
        let text =
            Text { sqlite: open!("open = 1", "mail.is_taken = 0"), postgres: open!("open", "not mail.is_taken") };
        self.0.reader.select(text).all("list open Pods", columns::pod).await
    }
}

/// Parents and children, and what is lent.
#[derive(Debug, Clone, Copy)]
pub struct Family<'s>(pub(super) &'s Shared);

/// A Pod, `link.scope, link.is_lent`.
struct ChildColumns(PodColumns, String, bool);

impl<'r, R: Line> FromRow<'r, R> for ChildColumns {
    fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
        Ok(Self(PodColumns::from_row(row)?, row.at(POD_COLUMNS)?, row.at(POD_COLUMNS + 1)?))
    }
}

impl Family<'_> {
    /// The children of a Pod that still exist, oldest first.
    pub async fn children(self, parent: PodKey) -> Result<Vec<ChildRow>, StoreError> {
        let text = concat!(
            "select ",
            pod_columns!(),
            ", link.scope, link.is_lent from ",
            pod_tables!(),
            " where link.parent = $1 order by link.child"
        );
        self.0.reader.select(text).bind(parent.0).all("list a Pod's children", child).await
    }

    /// A Pod as a child; `None` if it has no parent or does not exist.
    pub async fn child(self, key: PodKey) -> Result<Option<ChildRow>, StoreError> {
        let text = concat!(
            "select ",
            pod_columns!(),
            ", link.scope, link.is_lent from ",
            pod_tables!(),
            " where link.child = $1"
        );
        self.0.reader.select(text).bind(key.0).one("look up a child", child).await
    }
}

fn child(ChildColumns(pod, scope, is_lent): ChildColumns) -> Result<ChildRow, StoreError> {
    Ok(ChildRow { pod: columns::pod(pod)?, scope, is_lent })
}
