//! The open Pod's queued and held messages, and the actions on them.

use crossterm::event::{KeyCode, KeyEvent};
use protocol::{CommandId, HeldDecision};

use crate::model::{Act, Model, Sheet, Then, Waiting};

/// Handles a key in the list; returns false if it has no meaning there.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> bool {
    let (Some(Sheet::Queue { selected }), Some(open)) = (&model.sheet, &model.open) else { return false };
    let mut waiting = open.waiting();
    // A message may have gone since the list was drawn.
    waiting.truncate(selected + 1);
    let Some(selected) = waiting.pop() else { return false };
    match (key.code, &selected) {
        (KeyCode::Enter | KeyCode::Char('e'), Waiting::Queued(_)) => take_back(model, &selected, Then::Edit),
        (KeyCode::Char('x'), Waiting::Queued(_)) => take_back(model, &selected, Then::Forget),
        (KeyCode::Char('s'), Waiting::Queued(input)) if input.steer => {
            model.tell("it is already going into the current run");
        }
        (KeyCode::Char('s'), Waiting::Queued(_)) => take_back(model, &selected, Then::Steer),
        (KeyCode::Char('r'), Waiting::Held { .. }) => decide(model, &selected, HeldDecision::Release),
        (KeyCode::Char('x'), Waiting::Held { .. }) => decide(model, &selected, HeldDecision::Drop),
        _ => return false,
    }
    true
}

/// Whether the open Pod has a run that Escape ends, also while a question waits.
pub(super) fn has_run(model: &Model) -> bool {
    model.has_run()
}

/// Ends the open Pod's run; its queued messages return to the composer. While that is under way, does nothing: a key
/// that is held down asks once.
pub(super) fn stop_run(model: &mut Model) {
    let Some(pod) = model.open.as_ref().map(|open| open.pod.clone()) else { return };
    if model.stopping.insert(pod.clone()) {
        model.act(pod, Act::StopRun);
    }
}

/// `:unqueue`.
pub(super) fn take_back_newest(model: &mut Model) {
    match model.open.as_ref().and_then(|open| open.queued.last().cloned()) {
        Some(input) => take_back(model, &Waiting::Queued(input), Then::Edit),
        None => model.complain("the queue is empty"),
    }
}

/// `:release` and `:drop`.
pub(super) fn decide_oldest(model: &mut Model, decision: HeldDecision) {
    let waiting = model.open.as_ref().map(|open| open.waiting()).unwrap_or_default();
    match waiting.iter().find(|waiting| matches!(waiting, Waiting::Held { .. })) {
        Some(held) => decide(model, held, decision),
        None => model.complain("no messages are held in the loaded part"),
    }
}

fn take_back(model: &mut Model, waiting: &Waiting, then: Then) {
    let (Some(open), Waiting::Queued(input)) = (&model.open, waiting) else { return };
    // Ids that come from the server always parse.
    if let Ok(queued) = CommandId::parse(&input.command_id) {
        model.act(open.pod.clone(), Act::TakeBack { queued, then });
    }
}

fn decide(model: &mut Model, waiting: &Waiting, decision: HeldDecision) {
    if let (Some(open), Waiting::Held { message_id, .. }) = (&model.open, waiting) {
        model.act(open.pod.clone(), Act::Held { message_id: message_id.clone(), decision });
    }
}
