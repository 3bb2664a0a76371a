//! A message that this Pod's model sent: its receipt is shown on the card of the call.

use leptos::prelude::*;
use protocol::ReceiptState;
use transcript::{Block, BlockKind, words::receipt_text};

use crate::{
    approvals::held_acts::HeldActs,
    console::use_pod,
    redrawn::redrawn,
    rows::sent_message,
    transcript::{markup::Markup, peer::exchange_link},
};

/// Whether this is a finished call of SendToPeerPod.
pub(crate) fn is_sent(kind: &BlockKind) -> bool {
    sent_message(kind).is_some()
}

/// The text that was sent, in place of the tool's output, which is worded for the model and contains an id that means
/// nothing to people.
#[component]
pub(crate) fn SentText(block: RwSignal<Block>) -> impl IntoView {
    let text = block.with_untracked(|block| match &block.kind {
        BlockKind::Tool { arguments: Some(arguments), .. } => arguments["message"].as_str().map(str::to_owned),
        _ => None,
    });
    view! {
        <div class="sent-text">
            <Markup text=Signal::stored(text.unwrap_or_default()) />
        </div>
    }
}

/// The live state of its delivery, and the actions while it is held. Empty on the card of any other call.
#[component]
pub(crate) fn SentView(block: RwSignal<Block>) -> impl IntoView {
    let pod = use_pod();
    let id = Memo::new(move |_| block.with(|block| sent_message(&block.kind).map(str::to_owned)));
    // The card with the receipts is older than the end of the call, so it is found at once and never looked up again.
    let card = Memo::new(move |before: Option<&Option<ArcRwSignal<Block>>>| match before {
        Some(Some(card)) => Some(card.clone()),
        _ => pod.rows.message(id.get().as_deref()?),
    });
    let receipt = Memo::new(move |_| {
        card.get()?.with(|card| match &card.kind {
            BlockKind::Message { receipt, peer, .. } => Some((receipt.clone(), peer.clone())),
            _ => None,
        })
    });
    let is_held =
        Memo::new(move |_| receipt.with(|known| known.as_ref().is_some_and(|(it, _)| it.state == ReceiptState::Held)));
    let acts = move || {
        let message_id = id.get().filter(|_| is_held.get() && !pod.is_old)?;
        Some(view! { <HeldActs pod=pod.pod.get_value() message_id=message_id /> }.into_any())
    };
    redrawn(move || {
        receipt.get().map(|(receipt, peer)| {
            view! {
                <div class="sent" class:is-held=move || is_held.get()>
                    <p role="status" title=id.get_untracked()>{receipt_text(&receipt)} " " "· " {exchange_link(&peer, "messages")}</p>
                    {redrawn(acts)}
                </div>
            }.into_any()
        })
    })
}
