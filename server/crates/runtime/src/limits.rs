//! Pods that resume by themselves, once, when a provider's usage limit is over.

use std::{sync::Arc, time::Duration};

use pod_store::{PodGroup, PodRow};
use protocol::{ApiError, CommandId, ErrorCode, Receipt, Timestamp};

use crate::{CommandKey, Origin, actor::PodCommand, clock, cluster::Cluster, view};

/// How often to look for Pods that wait for the end of a limit.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// How soon to try again if one of them did not resume.
const SHORTEST: Duration = Duration::from_secs(1);
const ROWS_AT_ONCE: u32 = 500;

/// Resumes such Pods until the host stops.
pub(crate) async fn go_on(cluster: Arc<Cluster>) {
    loop {
        let wait = match look(&cluster).await {
            Ok(Some(next)) => Duration::try_from(next.duration_since(clock::now())).unwrap_or_default(),
            Ok(None) => LOOK_EVERY,
            Err(error) => {
                tracing::warn!(%error, "could not look for Pods whose usage limit is over");
                LOOK_EVERY
            }
        };
        tokio::select! {
            () = cluster.stopping.cancelled() => return,
            () = tokio::time::sleep(wait.clamp(SHORTEST, LOOK_EVERY)) => (),
            () = cluster.limited.notified() => (),
        }
    }
}

/// Resumes all Pods whose limit is over. Returns when the next limit ends.
async fn look(cluster: &Cluster) -> Result<Option<Timestamp>, ApiError> {
    cluster.recovered().await;
    let (mut next, mut after) = (None, None);
    loop {
        let rows = cluster.store.pods().page_of(PodGroup::Limited, after, ROWS_AT_ONCE).await?;
        after = rows.last().map(|row| row.key);
        for row in &rows {
            match resumes_at(row) {
                Some(at) if at <= clock::now() => begin(cluster, row).await,
                Some(at) => next = Some(next.map_or(at, |next: Timestamp| next.min(at))),
                None => (),
            }
        }
        if rows.len() < ROWS_AT_ONCE as usize {
            return Ok(next);
        }
    }
}

fn resumes_at(row: &PodRow) -> Option<Timestamp> {
    let opened = view::open(row).ok()?;
    opened.pod.resumes_at(&opened.spec)
}

/// The Pod itself decides whether to resume: a person or another host may have been faster.
async fn begin(cluster: &Cluster, row: &PodRow) {
    let key = CommandKey { id: CommandId::random(), fingerprint: [0; 32] };
    let origin = Origin { by: "yoi".to_owned(), client: "limit".to_owned() };
    match cluster.command::<Receipt>(key, &origin, &row.worker_id, PodCommand::LimitOver).await {
        Ok(_) => (),
        Err(error) if matches!(error.code, ErrorCode::NotPaused | ErrorCode::PodNotFound) => (),
        Err(error) => {
            tracing::warn!(%error, pod = %row.name, "a Pod could not continue after a usage limit; yoi tries again")
        }
    }
}
