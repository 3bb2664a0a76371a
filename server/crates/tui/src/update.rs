//! Applies one message to the model and returns the effects.

mod answers;
mod choices;
mod command;
mod completion;
mod composing;
mod files;
mod find;
mod jobs;
mod keys;
mod modes;
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
    model::{Effect, LineOf, Link, Message, Model, OpenPod, TypedLine},
};

/// Applies a message and returns the effects to carry out.
pub(crate) fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Key(key) => keys::press(model, key),
        Message::Paste(text) => keys::paste(model, &text),
        Message::Wheel(notches) => keys::wheel(model, notches),
        Message::Resize(columns, rows) => model.size = (columns, rows),
        Message::Stream(item) => stream::take(model, item),
        Message::Subscribed { pod, id } => subscribed(model, &pod, id),
        Message::Resolved { target, done } => answers::resolved(model, target, done),
        Message::Created(done) => answers::created(model, done),
        Message::Older { pod, done } => answers::older(model, &pod, done),
        Message::Whole { pod, done } => answers::whole(model, &pod, done),
        Message::Looked { pod, done } => answers::looked(model, &pod, done),
        Message::Files { pod, begun, done, resources } => files::found(model, &pod, &begun, done, resources),
        Message::Prompts { pod, whose, done } => choices::prompts(model, &pod, whose, done),
        Message::PromptMade { pod, done } => composing::prompted(model, &pod, done),
        Message::Attached { pod, done } => composing::attached(model, &pod, done),
        Message::Preview { pod, done } => answers::preview(model, pod, done),
        Message::Inbox(done) => sheets::inbox(model, done),
        Message::Walls(done) => sheets::walls(model, done),
        Message::Changed { pod, done } => sheets::changed(model, &pod, done),
        Message::Jobs { pod, done } => jobs::loaded(model, &pod, done),
        Message::Choices(done) => choices::loaded(model, done),
        Message::Folders { word, done } => choices::folders(model, word, done),
        Message::Tested { provider, done } => choices::tested(model, &provider, done),
        Message::KeyGiven { provider, done } => choices::key_given(model, &provider, done),
        Message::Rested(step) => modes::rested(model, step),
        Message::Servers(done) => sheets::servers(model, done),
        Message::Found { words, done } => sheets::found(model, &words, done),
        Message::Sent { command_id, done } => composing::sent(model, &command_id, done),
        Message::Done { pod, act, done } => answers::done(model, &pod, &act, &done),
    }
    std::mem::take(&mut model.effects)
}

/// Opens a Pod with the focus in its composer.
fn open(model: &mut Model, pod: PodRef) {
    let seek = model.seek.take();
    close(model);
    model.sheet = None;
    let composer = model.drafts.remove(&pod).unwrap_or_default();
    model.selected = Some(pod.clone());
    model.open = Some(OpenPod { seek, ..OpenPod::new(pod.clone(), composer) });
    model.start(Effect::Subscribe(pod));
    look(model);
}

/// Back to the dashboard. Unsent text is kept.
fn close(model: &mut Model) {
    modes::apply(model);
    let Some(open) = model.open.take() else { return };
    model.confirm = None;
    if !open.composer.is_empty() {
        model.drafts.insert(open.pod, open.composer);
    }
    model.effects.extend(open.subscription.map(Effect::Unsubscribe));
}

fn subscribed(model: &mut Model, pod: &PodRef, id: String) {
    match &mut model.open {
        Some(open) if open.pod == *pod && open.subscription.is_none() => open.subscription = Some(id),
        // Another Pod was opened in the meantime.
        _ => model.start(Effect::Unsubscribe(id)),
    }
}

/// Requests the open Pod's queue, peers and approvals.
fn look(model: &mut Model) {
    if let Some(open) = &mut model.open
        && open.asking.begin()
    {
        let pod = open.pod.clone();
        model.start(Effect::Look(pod));
    }
}

/// Opens the Pod named at the start, now that the server can be asked for it.
fn look_for_wanted(model: &mut Model) {
    if model.link == Link::Connected {
        model.effects.extend(model.wanted.take().map(Effect::Resolve));
    }
}

/// Begins a line at the bottom of the screen.
fn begin_line(model: &mut Model, what: LineOf, text: &str) {
    model.line = Some(TypedLine { what, text: Composer::with(text), chosen: None });
    // The choices may have changed since they were last loaded.
    model.has_chosen_from = false;
    choices::typed(model);
}
