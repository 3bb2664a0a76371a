//! One message in, the model changed, and what is to be done outside.

mod answers;
mod command;
mod completion;
mod composing;
mod files;
mod find;
mod keys;
mod pod_keys;
mod queue;
pub(crate) mod scroll;
mod sheet_keys;
mod sheets;
mod stream;
mod typed_line;

use protocol::PodRef;

use crate::{
    composer::Composer,
    model::{Effect, Link, Message, Model, OpenPod},
};

/// Takes one message.
pub(crate) fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) => keys::press(model, key),
        Message::Paste(text) => keys::paste(model, &text),
        Message::Wheel(notches) => keys::wheel(model, notches),
        Message::Resize(columns, rows) => {
            model.size = (columns, rows);
            Vec::new()
        }
        Message::Stream(item) => stream::take(model, item),
        Message::Subscribed { pod, id } => subscribed(model, &pod, id),
        Message::Resolved { target, done } => answers::resolved(model, target, done),
        Message::Created(done) => answers::created(model, done),
        Message::Older { pod, done } => answers::older(model, &pod, done),
        Message::Whole { pod, done } => answers::whole(model, &pod, done),
        Message::Looked { pod, done } => answers::looked(model, &pod, done),
        Message::Files { pod, begun, done } => files::found(model, &pod, &begun, done),
        Message::Preview { pod, done } => answers::preview(model, pod, done),
        Message::Inbox(done) => sheets::inbox(model, done),
        Message::Walls(done) => sheets::walls(model, done),
        Message::Found { words, done } => sheets::found(model, &words, done),
        Message::Sent { command_id, done } => composing::sent(model, &command_id, done),
        Message::Done { pod, act, done } => answers::done(model, &pod, &act, &done),
    }
}

/// Opens a Pod: its composer has the focus.
fn open(model: &mut Model, pod: PodRef) -> Vec<Effect> {
    let seek = model.seek.take();
    let mut effects = close(model);
    model.sheet = None;
    let composer = model.drafts.remove(&pod).unwrap_or_default();
    model.selected = Some(pod.clone());
    let mut open = OpenPod::new(pod.clone(), composer);
    open.seek = seek;
    open.asking = Some(false);
    model.open = Some(open);
    effects.push(Effect::Subscribe(pod.clone()));
    effects.push(Effect::Look(pod));
    effects
}

/// Back to the dashboard. Unsent text is kept.
fn close(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.open.take() else { return Vec::new() };
    model.confirm = None;
    if !open.composer.is_empty() {
        model.drafts.insert(open.pod, open.composer);
    }
    open.subscription.map(Effect::Unsubscribe).into_iter().collect()
}

fn subscribed(model: &mut Model, pod: &PodRef, id: String) -> Vec<Effect> {
    match &mut model.open {
        Some(open) if open.pod == *pod && open.subscription.is_none() => {
            open.subscription = Some(id);
            Vec::new()
        }
        // Another Pod was opened in the meantime.
        _ => vec![Effect::Unsubscribe(id)],
    }
}

/// Asks for the queue and the peers of the open Pod. One question is under way at a time, and one more at most waits.
fn look(open: &mut OpenPod) -> Vec<Effect> {
    match &mut open.asking {
        Some(again) => {
            *again = true;
            Vec::new()
        }
        None => {
            open.asking = Some(false);
            vec![Effect::Look(open.pod.clone())]
        }
    }
}

/// What was asked for at the start, now that there is a server to ask.
fn look_for_wanted(model: &mut Model) -> Vec<Effect> {
    match model.link {
        Link::Connected => model.wanted.take().map(Effect::Resolve).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A line that begins at the bottom of the screen.
fn begin_line(model: &mut Model, what: crate::model::LineOf, text: &str) {
    model.line = Some(crate::model::TypedLine { what, text: Composer::with(text), chosen: None });
}
