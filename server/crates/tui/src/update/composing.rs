//! Messages to a Pod: sending, keeping and recalling them.

use client::ClientError;
use commands::{making::facts_of, said::blind_words};
use protocol::{CommandId, McpPromptText, PodRef, Receipt, Segment};

use super::look;
use crate::{
    composer::Composer,
    model::{Effect, Focus, Model, OpenPod, Place, Sending},
    sentences,
};

/// Enter in the composer; with `steer` the message goes into the current run.
pub(super) fn send(model: &mut Model, steer: bool) {
    let here = model.here();
    let Some(open) = &mut model.open else { return };
    let segments = open.composer.segments();
    if segments.is_empty() || open.sending.is_some() {
        return;
    }
    if let Some(refusal) = here.pod.and_then(|pod| commands::allowed::input_refusal(pod.state)) {
        return model.complain(refusal);
    }
    let message = match open.failed.take() {
        Some(failed) if failed.segments == segments && failed.steer == steer => failed,
        _ => Sending { command_id: CommandId::random(), segments, steer },
    };
    open.naming = None;
    open.sending = Some(message.clone());
    open.recalled = None;
    let pod = open.pod.clone();
    model.start(Effect::Send { pod, message });
}

/// The result of sending: the composer clears only if the server has the message on disk.
pub(super) fn sent(model: &mut Model, command_id: &CommandId, done: Result<Receipt, ClientError>) {
    let Some(open) = &mut model.open else { return };
    let Some(sending) = open.sending.take_if(|sending| sending.command_id == *command_id) else { return };
    match done {
        Ok(_) => {
            open.failed = None;
            open.place = Place::End;
            // Anything written since is another message.
            match open.composer.segments() == sending.segments {
                true => drop(open.composer.take()),
                false => open.composer.remove_sent(&Composer::of_segments(&sending.segments)),
            }
            look(model);
        }
        Err(error) => {
            open.failed = Some(sending);
            model.complain(format!("not sent; your text is kept: {}", sentences::of_error(&error)));
        }
    }
}

/// A file has been uploaded and goes with the message being written.
pub(super) fn attached(model: &mut Model, pod: &PodRef, done: Result<Segment, ClientError>) {
    match (done, model.open_as(pod)) {
        (Ok(kept), Some(open)) => {
            let (words, is_picture) = (kept.as_text().into_owned(), matches!(kept, Segment::Image { .. }));
            open.composer.attach(kept);
            let blind = if is_picture { blind_words_of(model, pod) } else { String::new() };
            model.tell(format!("{words} goes with the next message{blind}"));
        }
        (Ok(kept), None) => model.complain(format!("{} was not attached: you left its Pod", kept.as_text())),
        (Err(error), _) => model.complain(format!("not attached: {}", sentences::of_error(&error))),
    }
}

/// A prompt's text is put into the message, where it is read before it is sent.
pub(super) fn prompted(model: &mut Model, pod: &PodRef, done: Result<McpPromptText, ClientError>) {
    match (done, model.open_as(pod)) {
        (Ok(made), Some(open)) => {
            open.composer.add(&[Segment::text(made.text)]);
            open.focus = Focus::Composer;
            model.tell(format!("{} made this message; Enter sends it", made.name));
        }
        (Ok(_), None) => (),
        (Err(error), _) => model.complain(sentences::of_error(&error)),
    }
}

/// A warning that the Pod's model cannot see pictures, as far as known.
fn blind_words_of(model: &Model, pod: &PodRef) -> String {
    let words = || {
        let (choices, summary) = (model.choices.as_ref()?, model.summary_of(pod)?);
        blind_words(&summary.model, facts_of(&choices.providers, &summary.provider, &summary.model)?)
    };
    words().map(|words| format!(" · {words}")).unwrap_or_default()
}

/// Recalls an earlier or later message into the composer. After the newest comes what was being written.
pub(super) fn recall(open: &mut OpenPod, is_earlier: bool) {
    let history = open.history();
    let to = match (&open.recalled, is_earlier) {
        (None, true) => Some(history.len().checked_sub(1)),
        (None, false) => return,
        (Some((at, _)), true) => Some(at.checked_sub(1)),
        (Some((at, _)), false) => (at + 1 < history.len()).then_some(Some(at + 1)),
    };
    match to {
        // There is nothing earlier.
        Some(None) => {}
        Some(Some(to)) => {
            let message = Composer::of_segments(history[to]);
            let before = std::mem::replace(&mut open.composer, message);
            let draft = open.recalled.take().map_or(before, |(_, draft)| draft);
            open.recalled = Some((to, draft));
        }
        None => open.composer = open.recalled.take().map(|(_, draft)| draft).unwrap_or_default(),
    }
}
