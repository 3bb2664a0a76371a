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
                <p class="note-line" class:is-told=is_told(&asked)>
                    <b>{asked.tool.clone()}</b>
                    <code>{summary(Some(&asked.arguments), "")}</code>
                    <span>{words(&asked)}</span>
                </p>
            }
            .into_any(),
        })
    })
}

/// Whether the line of the call says enough: it went on, or it ended with this denial. What is asked in the middle of a
/// call is named after it, and is told by nothing else.
fn is_told(asked: &Approval) -> bool {
    match asked.decision {
        Some(Decision::Allow) => true,
        Some(Decision::Deny) => !asked.id.contains('.'),
        None => false,
    }
}

fn asked(block: &Block) -> Option<Approval> {
    let BlockKind::Approval { approval_id, tool, arguments, options, decision, by, reason, .. } = &block.kind else {
        return None;
    };
    let open = Approval::open(approval_id.clone(), tool.clone(), arguments.clone(), block.at);
    Some(Approval { decision: *decision, by: by.clone(), reason: reason.clone(), options: options.clone(), ..open })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denial_is_told_once_and_one_in_the_middle_of_a_call_too() {
        let asked = |id: &str, decision| {
            let open = Approval::open(
                id.to_owned(),
                "Bash".to_owned(),
                serde_json::Value::Null,
                protocol::Timestamp::UNIX_EPOCH,
            );
            is_told(&Approval { decision, ..open })
        };
        let (allow, deny) = (Some(Decision::Allow), Some(Decision::Deny));
        assert!(asked("call-b1", allow) && asked("call-b1.out1", allow) && asked("call-b1", deny));
        assert!(!asked("call-b1.out1", deny) && !asked("call-b1", None));
    }
}
