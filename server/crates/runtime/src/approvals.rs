//! Questions to people, as the journals have them.

use pod_store::{PodGroup, PodKey};
use protocol::{ApiError, Approval, ControlEvent, Event, OpenApproval, Record, WorkerId};

use crate::{error, host::Inner, view};

/// Rows that are read at once.
const ROWS_AT_ONCE: u32 = 1_000;

/// Every question that a Pod ever asked, with its answer, oldest first.
pub(crate) async fn of(inner: &Inner, key: PodKey) -> Result<Vec<Approval>, ApiError> {
    let rows = inner.store.question_records(key).await.map_err(error::store_failed)?;
    let mut approvals: Vec<Approval> = Vec::new();
    for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
        let at = record.at;
        match record.event {
            Event::Control(ControlEvent::ApprovalAsked { id, tool, arguments }) => {
                let asked = Approval { id, tool, arguments, asked_at: at, decision: None, by: None, reason: None };
                approvals.push(asked);
            }
            Event::Control(ControlEvent::ApprovalAnswered { id, decision, by, reason, .. }) => {
                if let Some(approval) = approvals.iter_mut().find(|approval| approval.id == id) {
                    *approval = Approval { decision, by, reason, ..approval.clone() };
                }
            }
            _ => (),
        }
    }
    Ok(approvals)
}

/// The open questions of one Pod, or all that it ever asked.
pub(crate) async fn of_pod(inner: &Inner, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
    let row = inner.existing_row(worker_id).await?;
    let mut approvals = of(inner, row.key).await?;
    if !all {
        let open = view::open(&row).map(|opened| opened.pod.approvals).unwrap_or_default();
        approvals.retain(|approval| open.iter().any(|open| open.id == approval.id));
    }
    Ok(approvals)
}

/// The open questions of every Pod, oldest first.
pub(crate) async fn open(inner: &Inner) -> Result<Vec<OpenApproval>, ApiError> {
    inner.recovered().await;
    let mut open = Vec::new();
    let mut after = None;
    loop {
        let rows =
            inner.store.pods_page_of(PodGroup::Halted, after, ROWS_AT_ONCE).await.map_err(error::store_failed)?;
        after = rows.last().map(|row| row.key);
        for row in &rows {
            let asks = view::open(row).is_ok_and(|opened| !opened.pod.approvals.is_empty());
            if !asks {
                continue;
            }
            let summary = view::summary(row);
            for approval in of_pod(inner, &row.worker_id, false).await? {
                let (pod, name, parent) = (summary.pod.clone(), summary.name.clone(), summary.relations.parent.clone());
                open.push(OpenApproval { pod, name, parent, approval });
            }
        }
        if rows.len() < ROWS_AT_ONCE as usize {
            break;
        }
    }
    open.sort_by_key(|asked| asked.approval.asked_at);
    Ok(open)
}
