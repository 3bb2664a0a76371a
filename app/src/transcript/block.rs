use leptos::prelude::*;
use transcript::{Block, BlockKind};

use crate::{
    console::use_pod,
    redrawn::redrawn,
    rows::{Rows, dom_id},
    transcript::{
        alert::AlertView,
        approval::ApprovalView,
        assistant::AssistantView,
        changes::CompactedView,
        cut::cut_note,
        finished::finished_view,
        linked::LinkedHere,
        notes::NoteLine,
        peer::{MessageView, PeerView},
        reasoning::ReasoningView,
        relation::RelationView,
        turn::TurnView,
        unknown::UnknownView,
    },
};

/// One block. Its kind never changes, its content does.
#[component]
pub(crate) fn BlockView(block: RwSignal<Block>) -> impl IntoView {
    let rows = use_pod().rows;
    let is_hidden =
        Memo::new(move |_| block.with(|block| block.is_empty() || is_asked(block, rows) || is_carried(block, rows)));
    // When a truncated text becomes complete the block is redrawn, since most of a block is drawn only once.
    let cuts = Memo::new(move |_| block.with(|block| block.cut.len()));
    redrawn(move || {
        cuts.track();
        (!is_hidden.get()).then(|| drawn(block, rows))
    })
}

fn drawn(block: RwSignal<Block>, rows: Rows) -> AnyView {
    let (id, class) = block.with_untracked(|block| (dom_id(&block.id), class_of(&block.kind)));
    let is_gone =
        Memo::new(move |_| rows.rewinds.with(|rewinds| block.with_untracked(|block| block.is_rewound(rewinds))));
    let gone = move || {
        is_gone.get().then(|| view! { <span class="visually-hidden">"no longer in the context"</span> }.into_any())
    };
    let linked = view! { <LinkedHere id=id.clone() /> }.into_any();
    view! {
        <div class=class class:is-rewound=move || is_gone.get() data-block="" id=id>
            {linked}
            {redrawn(gone)}
            {by_kind(block)}
            {cut_note(block)}
        </div>
    }
    .into_any()
}

/// Whether this is a call with an open approval, which shows all of the call itself.
fn is_asked(block: &Block, rows: Rows) -> bool {
    match &block.kind {
        BlockKind::Tool { call_id: Some(call_id), result: None, .. } => {
            rows.questions.with(|questions| questions.contains(call_id))
        }
        _ => false,
    }
}

/// Whether the receipts of this message are shown on the card of the call that sent it.
fn is_carried(block: &Block, rows: Rows) -> bool {
    match &block.kind {
        BlockKind::Message { message_id, .. } => rows.carried.with(|carried| carried.contains(message_id)),
        _ => false,
    }
}

fn by_kind(block: RwSignal<Block>) -> AnyView {
    // Only the kind is read here; each view tracks the rest itself.
    let kind = block.with_untracked(|block| block.kind.clone());
    match kind {
        BlockKind::Turn { .. } => view! { <TurnView block=block /> }.into_any(),
        BlockKind::Person { .. } | BlockKind::Tool { .. } | BlockKind::RunEnd { .. } => finished_view(block),
        BlockKind::Peer { from, text, message_id, hops, .. } => {
            view! { <PeerView block=block from=from text=text message_id=message_id hops=hops /> }.into_any()
        }
        BlockKind::Message { message_id, peer, .. } => {
            view! { <MessageView block=block message_id=message_id peer=peer /> }.into_any()
        }
        BlockKind::Assistant { .. } => view! { <AssistantView block=block /> }.into_any(),
        BlockKind::Reasoning { .. } => view! { <ReasoningView block=block /> }.into_any(),
        BlockKind::Approval { .. } => view! { <ApprovalView block=block /> }.into_any(),
        BlockKind::Relation { what, peer, by, note, .. } => {
            view! { <RelationView what=what peer=peer by=by note=note /> }.into_any()
        }
        BlockKind::Retry { .. }
        | BlockKind::ChildEvent { .. }
        | BlockKind::CommandEnded { .. }
        | BlockKind::Child { .. }
        | BlockKind::Rewound { .. } => view! { <NoteLine block=block /> }.into_any(),
        BlockKind::Compacted { summary, kept_from_seq } => {
            view! { <CompactedView summary=summary kept_from_seq=kept_from_seq /> }.into_any()
        }
        BlockKind::Alert { level, source, text } => {
            view! { <AlertView level=level source=source text=text /> }.into_any()
        }
        BlockKind::Unknown { kind, fields } => view! { <UnknownView kind=kind fields=fields /> }.into_any(),
    }
}

fn class_of(kind: &BlockKind) -> &'static str {
    match kind {
        BlockKind::Turn { .. } => "block block-turn",
        BlockKind::Person { .. } => "block block-person",
        BlockKind::Peer { .. } | BlockKind::Message { .. } => "block block-peer",
        BlockKind::Assistant { .. } => "block block-assistant",
        BlockKind::Reasoning { .. } => "block block-reasoning",
        BlockKind::Tool { .. } | BlockKind::Approval { .. } => "block block-tool",
        BlockKind::Alert { .. } => "block block-alert",
        _ => "block block-note",
    }
}
