use leptos::prelude::*;
use protocol::{ChildChange, PodLabel};
use transcript::{
    Block, BlockKind,
    words::{child_words, duration_words},
};

use crate::console::pod_href;

/// A line between the blocks: something about a child, a wait, a rewind.
#[component]
pub(crate) fn NoteLine(block: RwSignal<Block>) -> impl IntoView {
    move || view! { <p class="note-line">{block.with(|block| line(&block.kind))}</p> }
}

fn line(kind: &BlockKind) -> AnyView {
    match kind {
        BlockKind::Retry { attempt, wait_ms, code, detail, .. } => {
            let words = format!("asking again in {}, attempt {attempt}: {detail} ({code})", duration_words(*wait_ms));
            view! { <span class="is-waiting">{words}</span> }.into_any()
        }
        BlockKind::ChildEvent { what, child, detail } => {
            let what = match what {
                ChildChange::TurnEnded => "ended its turn",
                ChildChange::Errored => "failed",
                ChildChange::ShutDown => "shut down",
            };
            let detail = detail.clone().map(|detail| view! { <q>{detail}</q> });
            view! {
                "child "
                {child_link(child)}
                <span>{what}</span>
                {detail}
            }
            .into_any()
        }
        BlockKind::Child { what, child, scope } => {
            let paths: Vec<String> = scope.iter().map(|rule| rule.path.clone()).collect();
            view! {
                "child "
                {child_link(child)}
                <span>{child_words(*what)}</span>
                <code>{paths.join(", ")}</code>
            }
            .into_any()
        }
        BlockKind::Rewound { to_seq } => format!("rewound to record {to_seq}; what came after is left out").into_any(),
        _ => ().into_any(),
    }
}

fn child_link(child: &PodLabel) -> impl IntoView + use<> {
    view! {
        <a class="pod-link" href=pod_href(&child.pod)>
            {child.name.to_string()}
        </a>
    }
}
