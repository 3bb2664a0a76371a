use leptos::prelude::*;
use protocol::{PeerLabel, PodRef, ReceiptState};
use transcript::{Block, BlockKind, Receipt, words::receipt_text};

use crate::{
    approvals::held_acts::{HeldActs, held_words},
    components::link::far_pod_link,
    console::{exchange_href, use_pod},
    format::counted,
    redrawn::redrawn,
    transcript::markup::Markup,
};

/// A message from a peer: its sender, and the state of its delivery.
#[component]
pub(crate) fn PeerView(
    block: RwSignal<Block>,
    from: PeerLabel,
    text: String,
    message_id: String,
    hops: u32,
) -> impl IntoView {
    let receipt = move || {
        block.with(|block| match &block.kind {
            BlockKind::Peer { receipt: Some(receipt), .. } => receipt_text(receipt),
            // The record itself shows that the message has arrived.
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
                {peer_link(&from)}
                {exchange_link(&from, "peer")}
                {hops}
                <span class="figure" title=message_id>
                    {receipt}
                </span>
            </header>
            <Markup text=Signal::stored(text) />
        </article>
    }
}

/// The state of a message whose text is not here: one that you sent as this Pod, or one that is held.
#[component]
pub(crate) fn MessageView(block: RwSignal<Block>, message_id: String, peer: PeerLabel) -> impl IntoView {
    let pod = use_pod();
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
    // Records of earlier versions do not give a reason.
    let why = Memo::new(move |_| match stands.get() {
        Some((Receipt { reason: None, .. }, _)) => format!("Held back: {}. ", held_words(None)),
        _ => String::new(),
    });
    let direction = move || match stands.get() {
        Some((_, true)) => "Message from",
        // Both sides have these.
        Some((Receipt { state: ReceiptState::Held | ReceiptState::Refused, .. }, false)) => "Message with",
        _ => "Message to",
    };
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
                {redrawn(direction)} " " {peer_link(&peer)} {exchange_link(&peer, "messages")}
                <span class="figure">{redrawn(words)}</span>
            </p>
            {redrawn(held)}
        </div>
    }
}

/// The receipt, and whether the message arrived later as a block of its own.
fn stands(kind: &BlockKind) -> Option<(Receipt, bool)> {
    match kind {
        BlockKind::Message { receipt, delivered, .. } => Some((receipt.clone(), *delivered)),
        _ => None,
    }
}

pub(crate) fn peer_link(peer: &PeerLabel) -> AnyView {
    far_pod_link(&pod_ref(peer), &peer.name)
}

/// The link to all messages between this Pod and the peer.
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
