use leptos::prelude::*;
use protocol::Decision;
use transcript::{ApprovalState, Block, BlockKind};

use super::tool_line::summary;

/// A question to a person, and its answer.
#[component]
pub(crate) fn ApprovalView(block: RwSignal<Block>) -> impl IntoView {
    let (tool, line) = block.with_untracked(|block| match &block.kind {
        BlockKind::Approval { tool, arguments, .. } => (tool.clone(), summary(Some(arguments), "")),
        _ => Default::default(),
    });
    let is_open = Memo::new(move |_| {
        block.with(|block| matches!(&block.kind, BlockKind::Approval { state: ApprovalState::Open, .. }))
    });
    let words = move || block.with(|block| answer(&block.kind));
    view! {
        <article class="tool" class:ask=move || is_open.get()>
            <header>
                <b>{tool}</b>
                <code title=line.clone()>{line.clone()}</code>
                <span class="figure">{words}</span>
            </header>
        </article>
    }
    .into_any()
}

fn answer(kind: &BlockKind) -> String {
    let BlockKind::Approval { state, decision, by, reason, .. } = kind else { return String::new() };
    let verb = match (state, decision) {
        (ApprovalState::Open, _) => return "asks for permission".to_owned(),
        (ApprovalState::Void, _) => return "the question is void".to_owned(),
        (ApprovalState::Answered, Some(Decision::Allow)) => "allowed",
        (ApprovalState::Answered, Some(Decision::Deny)) => "denied",
        (ApprovalState::Answered, None) => "answered",
    };
    let by = by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    let reason = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{verb}{by}{reason}")
}
