//! Keeps other stores up to date about Pods here that are peers of theirs: sends the newest state of each, and nothing
//! while nothing changes.

use std::{sync::Arc, time::Duration};

use pod_store::{Batch, FarChange, FarPeerRow, FarState, PodRow};
use protocol::{LinkCard, LinkNews, PodSummary};

use super::put_out;
use crate::{
    list::{Stale, stale},
    peers::Peers,
    view,
};

/// Changes within this time are sent as one.
const GATHER: Duration = Duration::from_millis(200);

/// A Pod as it is described to another store.
pub(super) fn card_of(row: &PodRow) -> LinkCard {
    link_card(view::summary(row))
}

/// A card in the form in which it is stored, so that the same one is not sent twice.
pub(super) fn told(card: &LinkCard) -> String {
    serde_json::to_string(card).expect("a card always encodes")
}

/// The card that corresponds to a summary.
pub fn link_card(summary: PodSummary) -> LinkCard {
    LinkCard {
        worker_id: summary.pod.worker_id,
        name: summary.name,
        state: summary.state,
        state_reason: summary.state_reason,
        provider: summary.provider,
        model: summary.model,
        created_at: summary.created_at,
        needs_you: summary.needs_you,
        children: summary.relations.children,
    }
}

/// Sends changes until the host stops.
pub(crate) async fn tell_cards(peers: Arc<Peers>) {
    let mut changes = peers.list.listen();
    // Catch up with what changed before listening began.
    tell(&peers, |_| true).await;
    loop {
        let changed = tokio::select! {
            () = peers.stopping.cancelled() => return,
            changed = stale(&mut changes) => changed,
        };
        tokio::select! {
            () = peers.stopping.cancelled() => return,
            () = tokio::time::sleep(GATHER) => (),
        }
        match changed {
            None => return,
            Some(Stale::All) => tell(&peers, |_| true).await,
            Some(Stale::Some(pods)) => tell(&peers, |row| pods.contains(&row.worker_id)).await,
        }
    }
}

async fn tell(peers: &Arc<Peers>, is_meant: impl Fn(&PodRow) -> bool) {
    if let Err(error) = try_tell(peers, is_meant).await {
        tracing::warn!(%error, "other runtimes could not be told of Pods here; the next change tells them");
    }
}

async fn try_tell(peers: &Arc<Peers>, is_meant: impl Fn(&PodRow) -> bool) -> Result<(), protocol::ApiError> {
    let rows = peers.store.far().peers_all().await?;
    for row in rows.iter().filter(|row| row.state == FarState::Linked) {
        let own = peers.store.pods().find_by_key(row.pod).await?;
        if let Some(own) = own.filter(&is_meant) {
            tell_one(peers, row, &own).await?;
        }
    }
    Ok(())
}

async fn tell_one(peers: &Peers, row: &FarPeerRow, own: &PodRow) -> Result<(), protocol::ApiError> {
    let card = card_of(own);
    let told = told(&card);
    if told == row.told {
        return Ok(());
    }
    let FarPeerRow { pod, store, worker, .. } = row.clone();
    let sent = put_out(&store, &LinkNews::Card { card });
    let far = vec![FarChange::Told { pod, store, worker, told }, sent];
    Ok(peers.store.commit(Batch { far, ..Batch::default() }).await.map(drop)?)
}
