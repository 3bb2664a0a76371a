use leptos::prelude::*;
use protocol::{PeerLabel, PodRef, ReceiptState};
use transcript::{Block, BlockKind, Receipt, words::receipt_text};

use crate::{
    approvals::held_acts::{HeldActs, held_words},
    components::abroad::abroad,
    console::{exchange_href, pod_href, use_pod},
    format::counted,
    transcript::markup::Markup,
};

/// A message from a peer: from whom, over which link, and how far it is on its way.
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
            BlockKind::Peer { receipt: Some(receipt), .. } => receipt_text(receipt),
            // The record itself says that it is here.
            _ => "stored, not yet read".to_owned(),
        })
    };
    let hops = (hops > 0).then(|| {
        view! { <span title="automatic steps since your last message">{counted(u64::from(hops), "hop")}</span> }
            .into_any()
    });
    view! {
        <article class="peer" aria-label="Message from a peer">
            <header>
                {from.as_ref().map(peer_link)}
                {from.as_ref().map(|peer| exchange_link(peer, "peer"))}
                {hops}
                <span class="figure" title=message_id>
                    {receipt}
                </span>
            </header>
            <Markup text=Signal::stored(text) />
        </article>
    }
    .into_any()
}

/// Where a message is whose text is not here: one that a person sent as this Pod, or one that is held.
#[component]
pub(crate) fn MessageView(block: RwSignal<Block>) -> impl IntoView {
    let pod = use_pod();
    let (message_id, peer) = block.with_untracked(|block| match &block.kind {
        BlockKind::Message { message_id, peer, .. } => (message_id.clone(), Some(peer.clone())),
        _ => Default::default(),
    });
    let stands = Memo::new(move |_| block.with(|block| stands(&block.kind)));
    let words = move || match stands.get() {
        Some((_, true)) => "released, see below".to_owned(),
        Some((receipt, false)) => receipt_text(&receipt),
        None => String::new(),
    };
    let is_held = Memo::new(move |_| {
        stands
            .with(|stands| stands.as_ref().is_some_and(|(receipt, done)| receipt.state == ReceiptState::Held && !done))
    });
    // Records of earlier versions do not say why.
    let why = Memo::new(move |_| match stands.get() {
        Some((Receipt { reason: None, .. }, _)) => format!("Held back: {}. ", held_words(None)),
        _ => String::new(),
    });
    let id = StoredValue::new(message_id.clone());
    let held = move || {
        (is_held.get() && !pod.is_old).then(|| {
            view! {
                <p class="hint">{why.get()} "Its text is in the messages between them."</p>
                <HeldActs pod=pod.pod.get_value() message_id=id.get_value() />
            }
            .into_any()
        })
    };
    view! {
        <div class="message-line" class:is-held=move || is_held.get()>
            <p class="note-line" title=message_id>
                "message with " {peer.as_ref().map(peer_link)} {peer.as_ref().map(|peer| exchange_link(peer, "peer"))}
                <span class="figure">{words}</span>
            </p>
            {held}
        </div>
    }
    .into_any()
}

/// The receipt, and whether the message came later as a block of its own.
fn stands(kind: &BlockKind) -> Option<(Receipt, bool)> {
    match kind {
        BlockKind::Message { receipt, delivered, .. } => Some((receipt.clone(), *delivered)),
        _ => None,
    }
}

pub(crate) fn peer_link(peer: &PeerLabel) -> impl IntoView + use<> {
    view! {
        <a class="pod-link" href=pod_href(&pod_ref(peer))>
            {peer.name.to_string()}
            {abroad(&pod_ref(peer))}
        </a>
    }
    .into_any()
}

/// All that this Pod and that one wrote to each other.
pub(super) fn exchange_link(peer: &PeerLabel, words: &'static str) -> impl IntoView + use<> {
    let href = use_pod().pod.with_value(|pod| exchange_href(pod, &pod_ref(peer)));
    view! {
        <a class="exchange-link" href=href title="All messages between them">
            {words}
        </a>
    }
    .into_any()
}

fn pod_ref(peer: &PeerLabel) -> PodRef {
    PodRef::new(peer.runtime_id.clone(), peer.worker_id.clone())
}
