//! Blocks that have come to their end: messages, calls, ends of runs. What the server has drawn of them stays until a
//! person turns to it, or until it changes.

use leptos::prelude::*;
use transcript::{Block, BlockKind};

use crate::{
    components::part::{Draw, Part},
    console::use_pod,
    transcript::{
        person::PersonView,
        run_end::RunEndView,
        tool::{ToolView, goes_on},
    },
};

static FINISHED: Part<RwSignal<Block>> = Part::new(|| Box::pin(finished(())), |_| ().into_any());

#[lazy]
fn finished(_: ()) -> Draw<RwSignal<Block>> {
    drawn
}

/// Fetches the code that draws these blocks: it will be needed.
pub(crate) async fn ready() {
    FINISHED.ready().await;
}

/// A message, a call or the end of a run.
pub(super) fn finished_view(block: RwSignal<Block>) -> AnyView {
    let pod = use_pod();
    let (is_call, is_end) = block.with_untracked(|block| {
        (matches!(block.kind, BlockKind::Tool { .. }), matches!(block.kind, BlockKind::RunEnd { .. }))
    });
    FINISHED.finished(block, is_call && goes_on(block), move || {
        block.track();
        pod.rows.rewinds.track();
        // The end of the newest run offers what the Pod can do now.
        if is_end {
            pod.state.track();
        }
    })
}

fn drawn(block: RwSignal<Block>) -> AnyView {
    match block.with_untracked(|block| block.kind.clone()) {
        BlockKind::Person { segments, by, .. } => {
            view! { <PersonView block=block segments=segments by=by /> }.into_any()
        }
        BlockKind::Tool { .. } => view! { <ToolView block=block /> }.into_any(),
        BlockKind::RunEnd { .. } => view! { <RunEndView block=block /> }.into_any(),
        _ => ().into_any(),
    }
}
