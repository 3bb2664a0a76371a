//! The hooks at the end of a run: they judge a complete answer, and may send the model on.

use protocol::{AlertLevel, Blobs, CommandId, ControlEvent, Outcome, Segment, TurnEvent};

use super::{Effect, draft::Draft, mail::complete};
use crate::PodSpec;

/// Who says what a hook says, and the source of alerts about it.
pub const HOOK: &str = "hook";

/// How often hooks may send the model on in one run.
const HOOK_TURNS_MAX: u32 = 3;

/// The model's answer is complete. If there are hooks, they judge it before the run ends; an answer of nothing is taken
/// back without them.
pub(super) fn answered(draft: &mut Draft, spec: &PodSpec) {
    let has_said = draft.pod.run.as_ref().is_some_and(|run| run.blocks_before != draft.pod.blocks);
    match spec.has_run_end_hooks && has_said {
        true => draft.effect(Effect::RunEndHooks { outcome: Outcome::Completed }),
        false => complete(draft, spec),
    }
}

/// The hooks have ended. In their run, the words of one that failed are a message to the model, which continues; after
/// the run, they are for people.
pub(super) fn hooked(draft: &mut Draft, spec: &PodSpec, run_id: &str, words: Option<String>) {
    let is_its_run = draft.pod.run_id().is_some_and(|id| id == run_id);
    let is_waiting = draft.pod.is_answering() && draft.pod.calls.is_empty() && draft.pod.model_block().is_none();
    let turns = draft.pod.run.as_ref().map_or(0, |run| run.hook_turns);
    match words {
        Some(words) if is_its_run && is_waiting && turns < HOOK_TURNS_MAX => {
            let command_id = CommandId::parse(&format!("{HOOK}-{run_id}-{}", turns + 1));
            let Ok(command_id) = command_id else { return complete(draft, spec) };
            let text = format!("A hook at the end of the run says:\n{words}");
            let (segments, by, blobs) = (vec![Segment::text(text)], HOOK.to_owned(), Blobs::default());
            draft.event(TurnEvent::UserMessage { segments, command_id, by, blobs });
            draft.ask_model();
            return;
        }
        Some(words) if draft.pod.state.is_live() => {
            let text = match is_its_run && is_waiting {
                true => format!("the hook at the end of the run failed after {turns} more answers: {words}"),
                false => format!("the hook at the end of the run failed: {words}"),
            };
            draft.outside(ControlEvent::Alert { level: AlertLevel::Warn, source: HOOK.to_owned(), text, model: None });
        }
        _ => (),
    }
    if is_its_run && is_waiting {
        complete(draft, spec);
    }
}
