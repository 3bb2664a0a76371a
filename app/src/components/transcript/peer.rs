use leptos::prelude::*;
use protocol::{PeerLabel, PodRef};
use transcript::{Block, BlockKind, Receipt, words::receipt_words};

use super::markup::Markup;
use crate::console::pod_href;

/// A message from a peer: from whom, and how far it is on its way.
#[component]
pub(crate) fn PeerView(block: RwSignal<Block>) -> impl IntoView {
    let (from, text, message_id, hops) = block.with_untracked(|block| match &block.kind {
        BlockKind::Peer { from, text, message_id, hops, .. } => {
            (Some(from.clone()), text.clone(), message_id.clone(), *hops)
        }
        _ => Default::default(),
    });
    let receipt = move || {
        block.with(|block| match &block.kind {
            BlockKind::Peer { receipt: Some(receipt), .. } => said(receipt),
            _ => String::new(),
        })
    };
    view! {
        <article class="peer" aria-label="Message from a peer">
            <header>
                {from.map(|from| peer_link(&from))}
                <span>"peer"</span>
                {(hops > 0).then(|| view! { <span title="automatic steps since a person wrote">{hops} " hops"</span> })}
                <span class="figure" title=message_id>
                    {receipt}
                </span>
            </header>
            <Markup text=Signal::stored(text) />
        </article>
    }
    .into_any()
}

/// Where a message is whose text is not here.
#[component]
pub(crate) fn MessageView(block: RwSignal<Block>) -> impl IntoView {
    let peer = block.with_untracked(|block| match &block.kind {
        BlockKind::Message { peer, .. } => Some(peer.clone()),
        _ => None,
    });
    let receipt = move || {
        block.with(|block| match &block.kind {
            BlockKind::Message { receipt, .. } => said(receipt),
            _ => String::new(),
        })
    };
    view! {
        <p class="note-line">
            "message with " {peer.map(|peer| peer_link(&peer))} <span class="figure">{receipt}</span>
        </p>
    }
    .into_any()
}

pub(crate) fn peer_link(peer: &PeerLabel) -> impl IntoView + use<> {
    let href = pod_href(&PodRef::new(peer.runtime_id.clone(), peer.worker_id.clone()));
    view! {
        <a class="pod-link" href=href>
            {peer.name.to_string()}
        </a>
    }
}

fn said(receipt: &Receipt) -> String {
    match receipt.turn {
        Some(turn) => format!("{} at turn {turn}", receipt_words(receipt.state)),
        None => receipt_words(receipt.state).to_owned(),
    }
}
