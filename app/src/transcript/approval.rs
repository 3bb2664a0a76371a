use leptos::prelude::*;
use protocol::{Approval, Decision};
use transcript::{ApprovalState, Block, BlockKind};

use crate::{
    approvals::question::{Question, QuestionCard, answer_words},
    console::use_pod,
    redrawn::redrawn,
    transcript::tool_line::summary,
};

/// An approval: a card while it is open, then a line with its answer.
#[component]
pub(crate) fn ApprovalView(block: RwSignal<Block>) -> impl IntoView {
    let pod = use_pod();
    let is_open = Memo::new(move |_| {
        block.with(|block| matches!(&block.kind, BlockKind::Approval { state: ApprovalState::Open, .. }))
    });
    // On a page of older records the answer may not be included.
    let words = move |asked: &Approval| match is_open.get() {
        true => "asked for permission; the answer is in newer records".to_owned(),
        false => answer_words(asked),
    };
    redrawn(move || {
        let (is_open, asked) = (is_open.get() && !pod.is_old, block.with(asked));
        asked.map(|asked| match is_open {
            true => {
                let Approval { id, tool, arguments, asked_at, options, .. } = asked;
                let question = Question { pod: pod.pod.get_value(), id, tool, arguments, asked_at, options };
                let id = question.id.clone();
                let is_next = Signal::derive(move || {
                    pod.rows.questions.with(|questions| questions.first().is_some_and(|first| *first == id))
                });
                view! { <QuestionCard question=question answered=RwSignal::new(None) is_next=is_next /> }.into_any()
            }
            false => view! {
                <p class="note-line" class:is-allowed=is_allowed(asked.decision)>
                    <b>{asked.tool.clone()}</b>
                    <code>{summary(Some(&asked.arguments), "")}</code>
                    <span>{words(&asked)}</span>
                </p>
            }
            .into_any(),
        })
    })
}

/// Whether the call went on, so that its own line says enough.
fn is_allowed(decision: Option<Decision>) -> bool {
    decision == Some(Decision::Allow)
}

fn asked(block: &Block) -> Option<Approval> {
    let BlockKind::Approval { approval_id, tool, arguments, options, decision, by, reason, .. } = &block.kind else {
        return None;
    };
    let open = Approval::open(approval_id.clone(), tool.clone(), arguments.clone(), block.at);
    Some(Approval { decision: *decision, by: by.clone(), reason: reason.clone(), options: options.clone(), ..open })
}
