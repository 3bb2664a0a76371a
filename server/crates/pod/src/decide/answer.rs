//! Turns a model's answer, piece by piece, into events.

use protocol::{AlertLevel, ControlEvent, Outcome, PodState, Proof, ToolBy, TurnEvent, Usage};

use super::hooked::answered;
use crate::{
    ModelPiece, PodSpec,
    decide::{Draft, failed, said_nothing, start_calls},
    state::{BlockKind, PROVIDER},
};

/// Takes one piece of the current answer. Pieces of the same kind extend a block; another kind closes it.
pub(super) fn answer_piece(draft: &mut Draft, spec: &PodSpec, piece: ModelPiece) {
    match piece {
        ModelPiece::Text(text) => {
            let block = speech_block(draft, BlockKind::Text);
            draft.event(TurnEvent::TextChunk { block, text });
        }
        ModelPiece::Reasoning(text) => {
            let block = speech_block(draft, BlockKind::Reasoning);
            draft.event(TurnEvent::ReasoningChunk { block, text });
        }
        ModelPiece::Proof(proof) => proven(draft, proof),
        ModelPiece::ToolArgs { index, name, text } => {
            draft.close_speech(false);
            let (block, name) = match args_block(draft, index) {
                Some(block) => (block, None),
                None => (draft.next_block(), Some(name).filter(|name| !name.is_empty())),
            };
            draft.event(TurnEvent::ToolArgsChunk { block, text, name });
        }
        ModelPiece::ToolCall { index, name, arguments } => {
            draft.close_speech(false);
            let block = args_block(draft, index).unwrap_or_else(|| draft.next_block());
            // An id of our own, because a provider's may come again in another run.
            let call_id = format!("call-{block}");
            let (by, agent_call_id) = (ToolBy::Model, None);
            draft.event(TurnEvent::ToolCalled { call_id, block, name, arguments, by, agent_call_id });
        }
        ModelPiece::Retry { attempt, wait_ms, code, detail } => {
            draft.event(ControlEvent::ProviderRetry { attempt, wait_ms, code, detail });
        }
        // The provider repeats it with each answer.
        ModelPiece::Alert(text) if draft.pod.provider_alerts.contains(&text) => (),
        ModelPiece::Alert(text) => {
            draft.event(ControlEvent::Alert {
                level: AlertLevel::Warn,
                source: PROVIDER.to_owned(),
                text,
                model: None,
            });
        }
        ModelPiece::Usage(usage) => {
            draft.close_speech(false);
            let usage = Usage { context_limit: draft.pod.limit_of(&usage), ..usage };
            draft.event(ControlEvent::Usage { usage });
        }
        ModelPiece::Finished if draft.pod.calls.is_empty() => {
            draft.close_speech(false);
            draft.close_arguments("cancelled");
            answered(draft, spec);
        }
        ModelPiece::Finished => {
            draft.close_speech(false);
            draft.close_arguments("cancelled");
            start_calls(draft, spec);
        }
        ModelPiece::Limit => {
            draft.close_speech(false);
            draft.close_arguments("limit");
            draft.close_calls("limit", "not run: the answer was cut by the model's limit of output tokens");
            let detail = "the model reached its limit of output tokens; send a message to continue".to_owned();
            draft.finish_run(Outcome::Limit, Some(("limit".to_owned(), detail)));
            draft.status(PodState::Idle, None);
        }
        ModelPiece::Nothing { asked, .. } if said_nothing(draft, asked) => (),
        ModelPiece::Nothing { is_limit: true, .. } => answer_piece(draft, spec, ModelPiece::Limit),
        ModelPiece::Nothing { is_limit: false, .. } => answer_piece(draft, spec, ModelPiece::Finished),
        ModelPiece::Failed(failure) => failed(draft, spec, failure),
    }
}

/// Counts the usage of an answer that did not reach its end. The size of the conversation is kept from the last answer
/// that did, which knows it better.
pub(super) fn unfinished(draft: &mut Draft, usage: Usage) {
    let Usage { context_used, context_limit, .. } = draft.pod.usage;
    let room = match context_used {
        0 => (usage.context_used, draft.pod.limit_of(&usage)),
        known => (known, context_limit),
    };
    let (context_used, context_limit) = room;
    draft.event(ControlEvent::Usage { usage: Usage { context_used, context_limit, ..usage } });
}

/// Closes the reasoning with the proof that its model wants back; the proof may also come without any text.
fn proven(draft: &mut Draft, proof: Proof) {
    let open = draft.pod.model_block().filter(|open| open.kind == BlockKind::Reasoning);
    let (block, text) = match open {
        Some(open) => (open.id.clone(), open.text.clone()),
        None => {
            draft.close_speech(false);
            (draft.next_block(), String::new())
        }
    };
    draft.event(TurnEvent::ReasoningFinished { block, text, interrupted: false, proof: Some(proof) });
}

/// The open block, or a new one after closing a block of the other kind.
fn speech_block(draft: &mut Draft, kind: BlockKind) -> String {
    if let Some(open) = draft.pod.model_block().filter(|open| open.kind == kind) {
        return open.id.clone();
    }
    draft.close_speech(false);
    draft.next_block()
}

fn args_block(draft: &Draft, index: usize) -> Option<String> {
    draft.pod.open_blocks.iter().find(|open| open.kind == BlockKind::ToolArgs(index)).map(|open| open.id.clone())
}
