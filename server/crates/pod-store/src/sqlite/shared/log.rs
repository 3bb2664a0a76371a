//! Who joined, who took which Pod, and who wrote what: what tests hold everything else against.

use std::path::Path;

use protocol::{Seq, WorkerId};
use sqlx::{ConnectOptions, Connection};

use super::super::read_failed;
use crate::{StoreError, columns::damaged, on_the_spot::settled};

/// One line, in the order of the transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseLine {
    /// The host's number.
    pub host: i64,
    pub event: LeaseEvent,
}

/// What a host did, or what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseEvent {
    Joined,
    /// It left, started again, or was declared dead.
    Gone,
    /// It became the owner of a Pod.
    Took(WorkerId),
    /// It appended a record; `owner` had the Pod then.
    Wrote {
        pod: WorkerId,
        seq: Seq,
        owner: Option<i64>,
    },
}

type LogColumns = (String, i64, Option<String>, Option<i64>, Option<i64>);

/// The whole log of a shared file. Lines about Pods that were deleted are left out.
///
/// # Errors
/// The file cannot be read.
pub async fn lease_log(path: &Path) -> Result<Vec<LeaseLine>, StoreError> {
    let failed = read_failed("read the log of leases");
    let rows: Vec<LogColumns> = settled(async {
        let mut connection = super::super::reader_options(path, None).connect().await?;
        let rows = sqlx::query_as(
            "select event, host, pods.worker_id, seq, lease_log.owner
             from lease_log left join pods on pods.key = lease_log.pod order by n",
        )
        .fetch_all(&mut connection)
        .await?;
        connection.close().await?;
        Ok(rows)
    })
    .await
    .map_err(failed)?;
    let mut lines = Vec::with_capacity(rows.len());
    for (event, host, pod, seq, owner) in rows {
        let pod = pod.map(|id| WorkerId::parse(&id).map_err(damaged("worker id"))).transpose()?;
        let event = match (event.as_str(), pod, seq) {
            ("joined", ..) => LeaseEvent::Joined,
            ("gone", ..) => LeaseEvent::Gone,
            ("took", Some(pod), _) => LeaseEvent::Took(pod),
            ("wrote", Some(pod), Some(seq)) => LeaseEvent::Wrote { pod, seq: Seq(seq), owner },
            _ => continue,
        };
        lines.push(LeaseLine { host, event });
    }
    Ok(lines)
}
