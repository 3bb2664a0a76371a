//! What waits for the open Pod and what is held back, and what a person makes of it.

use crossterm::event::{KeyCode, KeyEvent};
use protocol::{CommandId, HeldDecision};

use crate::model::{Act, Effect, Model, Sheet, Then, Waiting};

/// A key in the list; none when it means nothing there.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> Option<Vec<Effect>> {
    let Some(Sheet::Queue { selected }) = &model.sheet else { return None };
    let mut waiting = model.open.as_ref()?.waiting();
    // One may have gone since the list was looked at.
    waiting.truncate(selected + 1);
    Some(match (key.code, waiting.pop()?) {
        (KeyCode::Enter | KeyCode::Char('e'), waiting @ Waiting::Queued(_)) => take_back(model, &waiting, Then::Edit),
        (KeyCode::Char('x'), waiting @ Waiting::Queued(_)) => take_back(model, &waiting, Then::Forget),
        (KeyCode::Char('s'), Waiting::Queued(input)) if input.steer => {
            model.tell("it is already going into the current run");
            Vec::new()
        }
        (KeyCode::Char('s'), waiting @ Waiting::Queued(_)) => take_back(model, &waiting, Then::Steer),
        (KeyCode::Char('r'), waiting @ Waiting::Held { .. }) => decide(model, &waiting, HeldDecision::Release),
        (KeyCode::Char('x'), waiting @ Waiting::Held { .. }) => decide(model, &waiting, HeldDecision::Drop),
        _ => return None,
    })
}

/// `:unqueue`.
pub(super) fn take_back_newest(model: &mut Model) -> Vec<Effect> {
    let newest = model.open.as_ref().and_then(|open| open.queued.last().cloned());
    match newest {
        Some(input) => take_back(model, &Waiting::Queued(input), Then::Edit),
        None => {
            model.complain("the queue is empty");
            Vec::new()
        }
    }
}

/// `:release` and `:drop`.
pub(super) fn decide_oldest(model: &mut Model, decision: HeldDecision) -> Vec<Effect> {
    let waiting = model.open.as_ref().map(|open| open.waiting()).unwrap_or_default();
    match waiting.iter().find(|waiting| matches!(waiting, Waiting::Held { .. })) {
        Some(held) => decide(model, held, decision),
        None => {
            model.complain("no messages are held in the loaded part");
            Vec::new()
        }
    }
}

fn take_back(model: &Model, waiting: &Waiting, then: Then) -> Vec<Effect> {
    let (Some(open), Waiting::Queued(input)) = (&model.open, waiting) else { return Vec::new() };
    // Every id that a server gave is one.
    let Ok(queued) = CommandId::parse(&input.command_id) else { return Vec::new() };
    vec![Effect::act(open.pod.clone(), Act::TakeBack { queued, then })]
}

fn decide(model: &Model, waiting: &Waiting, decision: HeldDecision) -> Vec<Effect> {
    let (Some(open), Waiting::Held { message_id, .. }) = (&model.open, waiting) else { return Vec::new() };
    vec![Effect::act(open.pod.clone(), Act::Held { message_id: message_id.clone(), decision })]
}
