//! The way to the network of background commands: their calls have ended, so nobody can be asked, and the Pod's current
//! rules alone decide on each connection.

use std::sync::Arc;

use pod::{PodSpec, permission};
use protocol::{ApiError, PermissionDecision, WorkerId, tool::NETWORK};
use serde_json::json;
use tokio::sync::mpsc;
use tools::proxy::Wish;

use super::{Actors, leaders};
use crate::{rules, view};

/// Connections of one command that may wait for a decision.
const WISHES_MAX: usize = 16;

/// Decides on the connections of one command until its proxy is gone.
pub(super) fn by_rules(actors: &Arc<Actors>, worker_id: &WorkerId) -> mpsc::Sender<Wish> {
    let (sender, mut wishes) = mpsc::channel::<Wish>(WISHES_MAX);
    let (actors, worker_id) = (Arc::downgrade(actors), worker_id.clone());
    tokio::spawn(async move {
        while let Some(wish) = wishes.recv().await {
            let Some(actors) = actors.upgrade() else { return };
            let is_allowed = match spec_now(&actors, &worker_id).await {
                Ok(spec) => {
                    let arguments = json!({ "host": wish.to.host, "port": wish.to.port });
                    spec.is_some_and(|spec| permission(&spec, NETWORK, &arguments) == PermissionDecision::Allow)
                }
                Err(error) => {
                    tracing::warn!(%error, "a background command's connection is refused");
                    false
                }
            };
            // The connection may have gone away.
            let _ = wish.answer.send(is_allowed);
        }
    });
    sender
}

/// The Pod's settings with all rules that bind it; `None` if the Pod is gone.
async fn spec_now(actors: &Actors, worker_id: &WorkerId) -> Result<Option<PodSpec>, ApiError> {
    let Some(row) = actors.store.pods().find(worker_id).await? else { return Ok(None) };
    let Ok(opened) = view::open(&row) else { return Ok(None) };
    let parent = row.parent.as_ref().map(|parent| parent.key);
    let leaders = leaders(actors, parent, &opened.spec).await?;
    // Without its ancestors' rules, a child is allowed nothing.
    if parent.is_some() && leaders.is_none() {
        return Ok(None);
    }
    let shared_rules = rules::shared(actors).await?.into_iter().map(|(_, rule)| rule).collect();
    let server_rules = actors.equipment.server_rules.clone();
    Ok(Some(PodSpec { leaders, shared_rules, server_rules, ..opened.spec }))
}
