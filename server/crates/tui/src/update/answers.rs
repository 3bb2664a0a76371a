//! Handles the results of calls.

use client::ClientError;
use commands::PreviewAct;
use protocol::{CompactionPreview, ControlVerb, Listing, PodRef, Record};
use transcript::words::tokens_words;

use super::{jobs, look, open, scroll, sheets};
use crate::{
    model::{Act, Answer, Confirm, Effect, Focus, Looked, Model, Older, Sheet, Then},
    sentences,
};

pub(super) fn resolved(model: &mut Model, target: String, done: Result<PodRef, ClientError>) {
    match done {
        Ok(pod) => open(model, pod),
        Err(ClientError::NoServer { .. }) => model.wanted = Some(target),
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

pub(super) fn created(model: &mut Model, done: Result<PodRef, ClientError>) {
    match done {
        Ok(pod) => open(model, pod),
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

/// Prepends older records; the scroll position stays.
pub(super) fn older(model: &mut Model, pod: &PodRef, done: Result<Listing<Record>, ClientError>) {
    let Some(open) = model.open_as(pod) else { return };
    match done {
        Ok(page) => {
            open.prepend(&page.items);
            open.older = if page.next.is_some() { Older::OnTheServer } else { Older::None };
            scroll::seek(model);
        }
        Err(error) => {
            open.older = Older::OnTheServer;
            open.seek = None;
            model.complain(sentences::of_error(&error));
        }
    }
}

/// Replaces truncated records by whole ones.
pub(super) fn whole(model: &mut Model, pod: &PodRef, done: Result<Vec<Record>, ClientError>) {
    let Some(open) = model.open_as(pod) else { return };
    match done {
        Ok(records) => {
            open.complete(&records);
            model.tell("nothing is cut here");
        }
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

pub(super) fn looked(model: &mut Model, pod: &PodRef, done: Result<Looked, ClientError>) {
    let Some(open) = model.open_as(pod) else { return };
    let again = open.asking.end();
    // On failure the known values stay: the stream reports what is wrong.
    if let Ok(Looked { detail, peers, asked }) = done {
        (open.queued, open.agent, open.git) = (detail.queued, detail.session, detail.summary.git);
        open.tasks = detail.tasks;
        open.mode = detail.mode;
        (open.peers, open.asked) = (peers, asked);
        if again {
            look(model);
        }
    }
}

pub(super) fn preview(model: &mut Model, pod: PodRef, done: Result<Option<CompactionPreview>, ClientError>) {
    if model.open.as_ref().is_none_or(|open| open.pod != pod) {
        return;
    }
    match done {
        Ok(Some(preview)) => {
            let question = format!(
                "compact: replace {} messages with a summary and keep {} ({} to about {} tokens)? y confirms",
                preview.dropped,
                preview.kept,
                tokens_words(preview.tokens_now),
                tokens_words(preview.tokens_kept),
            );
            model.notice = None;
            model.confirm = Some(Confirm { question, effect: Effect::act(pod, Act::Control(ControlVerb::Compact)) });
        }
        Ok(None) => model.tell("nothing to compact yet"),
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

pub(super) fn done(model: &mut Model, pod: &PodRef, act: &Act, done: &Result<Answer, ClientError>) {
    model.notice = Some(sentences::of_act(&model.called(pod), act, done));
    if *act == Act::StopRun {
        model.stopping.remove(pod);
    }
    give_back(model, pod, act, done);
    sheets::answered(model, act);
    jobs::stopped(model, act);
    if let (Act::Preview(PreviewAct::Open(_)), Ok(Answer::Previews(ports))) = (act, done) {
        model.effects.extend(ports.iter().find_map(|port| port.url.clone()).map(Effect::Copy));
    }
    if model.open_as(pod).is_some() {
        look(model);
    }
}

/// Puts a message that was taken back for editing, or could not be sent again, into its Pod's composer.
fn give_back(model: &mut Model, pod: &PodRef, act: &Act, done: &Result<Answer, ClientError>) {
    let inputs = match (act, done) {
        (Act::TakeBack { then: Then::Edit, .. }, Ok(Answer::Returned(input))) => std::slice::from_ref(input),
        (_, Ok(Answer::NotSteered { input, .. })) => std::slice::from_ref(input),
        (_, Ok(Answer::Stopped(inputs))) if !inputs.is_empty() => inputs,
        _ => return,
    };
    match model.open_as(pod) {
        Some(open) => {
            inputs.iter().for_each(|input| open.composer.add(&input.segments));
            open.focus = Focus::Composer;
            model.sheet = model.sheet.take().filter(|sheet| !matches!(sheet, Sheet::Queue { .. }));
        }
        None => {
            let draft = model.drafts.entry(pod.clone()).or_default();
            inputs.iter().for_each(|input| draft.add(&input.segments));
        }
    }
}
