//! Approvals, as the journals have them.

mod patterns;
mod previews;

use pod_store::{PodGroup, PodRow};
use protocol::{ApiError, Approval, OpenApproval, PodSummary, ToolBy, Wall, WallItem, WorkerId};

use crate::{
    actor::{leaders, place},
    cluster::Cluster,
    history, view,
    view::Opened,
};

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
    let calls: Vec<_> = asked.iter().map(|approval| (approval.tool.clone(), approval.arguments.clone())).collect();
    let mut spec = opened.spec.clone();
    spec.leaders = leaders(&cluster.actors, row.parent.as_ref().map(|parent| parent.key), &spec).await?;
    let waiting = asked.iter().map(|approval| approval.id.clone()).collect();
    let patterns = patterns::patterns(&cluster.store, row.key, &spec.cwd, calls.clone(), waiting).await?;
    let scope = place::scope(&cluster.actors, row.key, &spec).await?;
    // An agent reads files by itself.
    let seen = opened.spec.agent.is_none().then(|| place::seen(&opened.pod, ToolBy::Model));
    let previews = tools::files::previews(&spec.cwd, scope.clone(), seen, calls).await;
    let walls = cluster.actors.equipment.walls.items().await;
    let has_room = cluster.actors.equipment.walls.hold_commands().await;
    for ((approval, preview), patterns) in asked.into_iter().zip(previews).zip(patterns) {
        let is_form = opened.pod.approvals.iter().any(|open| open.id == approval.id && open.form().is_some());
        approval.patterns = if is_form { Vec::new() } else { patterns };
        if let Some(preview) = preview {
            approval.preview = Some(previews::of_file(&approval.arguments, &preview));
            (approval.diff, approval.effect) = (preview.diff, Some(preview.effect));
        } else if approval.tool == "Bash" {
            approval.effect = (!has_room).then(|| unheld(&walls));
            approval.preview = Some(previews::of_command(&spec, &scope, approval, has_room));
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
