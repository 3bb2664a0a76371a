//! Approvals, as the journals have them.

use pod_store::{PodGroup, PodRow};
use protocol::{ApiError, Approval, OpenApproval, PodSummary, ToolBy, Wall, WallItem, WorkerId};
use tools::files::Preview;

use crate::{actor::place, cluster::Cluster, history, view, view::Opened};

/// Rows to read at once.
const ROWS_AT_ONCE: u32 = 1_000;

/// The open approvals of one Pod, or all it ever asked for. Open ones include what they would do to the files as they
/// are now.
pub(crate) async fn of_pod(cluster: &Cluster, worker_id: &WorkerId, all: bool) -> Result<Vec<Approval>, ApiError> {
    let row = cluster.existing_row(worker_id).await?;
    let mut approvals = history::questions(&cluster.store, row.key).await?;
    let Ok(opened) = view::open(&row) else { return Ok(if all { approvals } else { Vec::new() }) };
    let is_open = |approval: &Approval| opened.pod.approvals.iter().any(|open| open.id == approval.id);
    if !all {
        approvals.retain(is_open);
    }
    let asked: Vec<_> = approvals.iter_mut().filter(|approval| is_open(approval)).collect();
    foresee(cluster, &row, &opened, asked).await?;
    Ok(approvals)
}

/// Adds what each of these calls would do to its file as it is now.
async fn foresee(cluster: &Cluster, row: &PodRow, opened: &Opened, asked: Vec<&mut Approval>) -> Result<(), ApiError> {
    if asked.is_empty() {
        return Ok(());
    }
    if cluster.is_there(&row.worker_id).await.unwrap_or(true) {
        for approval in asked.into_iter().filter(|approval| tools::files::is_change(&approval.tool)) {
            approval.effect = Some("its files are on another host, so what would change is not known here".to_owned());
        }
        return Ok(());
    }
    let calls = asked.iter().map(|approval| (approval.tool.clone(), approval.arguments.clone())).collect();
    let scope = place::scope(&cluster.actors, row.key, &opened.spec).await?;
    // An agent reads files by itself.
    let seen = opened.spec.agent.is_none().then(|| place::seen(&opened.pod, ToolBy::Model));
    let previews = tools::files::previews(&opened.spec.cwd, scope, seen, calls).await;
    let walls = cluster.actors.equipment.walls.items().await;
    let has_room = cluster.actors.equipment.walls.hold_commands().await;
    for (approval, preview) in asked.into_iter().zip(previews) {
        if let Some(Preview { diff, effect }) = preview {
            (approval.diff, approval.effect) = (diff, Some(effect));
        } else if approval.tool == "Bash" && !has_room {
            approval.effect = Some(unheld(&walls));
        }
    }
    Ok(())
}

/// Why a command that a rule may allow still needs an approval.
fn unheld(walls: &[WallItem]) -> String {
    let namespaces = walls.iter().find(|item| item.wall == Wall::Namespaces);
    let why = namespaces.and_then(|item| item.detail.as_deref()).unwrap_or("each command needs approval");
    format!("this machine cannot sandbox commands, so the command would not be fully confined to the scope; {why}")
}

/// The open approvals of one Pod, from its journal.
async fn asked_by(cluster: &Cluster, row: &PodRow) -> Result<Vec<Approval>, ApiError> {
    let open = view::open(row).map(|opened| opened.pod.approvals).unwrap_or_default();
    let mut approvals = history::questions(&cluster.store, row.key).await?;
    approvals.retain(|approval| open.iter().any(|open| open.id == approval.id));
    Ok(approvals)
}

async fn open_of(cluster: &Cluster, row: &PodRow) -> Result<Vec<OpenApproval>, ApiError> {
    if view::open(row).is_ok_and(|opened| opened.pod.approvals.is_empty()) {
        return Ok(Vec::new());
    }
    let PodSummary { pod, name, relations, .. } = view::summary(row);
    let asked = asked_by(cluster, row).await?.into_iter();
    let of_pod =
        |approval| OpenApproval { pod: pod.clone(), name: name.clone(), parent: relations.parent.clone(), approval };
    Ok(asked.map(of_pod).collect())
}

/// The open approvals of all Pods, oldest first.
pub(crate) async fn open(cluster: &Cluster) -> Result<Vec<OpenApproval>, ApiError> {
    cluster.recovered().await;
    let mut open = Vec::new();
    let mut after = None;
    loop {
        let rows = cluster.store.pods().page_of(PodGroup::Halted, after, ROWS_AT_ONCE).await?;
        after = rows.last().map(|row| row.key);
        for row in &rows {
            open.extend(open_of(cluster, row).await?);
        }
        if rows.len() < ROWS_AT_ONCE as usize {
            break;
        }
    }
    // A command that a person runs can need an approval without halting its Pod.
    for row in cluster.store.pods().open().await? {
        if !open.iter().any(|asked| asked.pod.worker_id == row.worker_id) {
            open.extend(open_of(cluster, &row).await?);
        }
    }
    open.sort_by_key(|asked| asked.approval.asked_at);
    Ok(open)
}
