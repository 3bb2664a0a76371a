//! The background commands of the open Pod: listed, and stopped one by one.

use client::ClientError;
use crossterm::event::{KeyCode, KeyEvent};
use protocol::{BackgroundCommand, CommandState, PodRef};

use crate::{
    model::{Act, Effect, Jobs, Model, Sheet},
    sentences,
};

pub(super) fn open(model: &mut Model, pod: PodRef) {
    model.sheet = Some(Sheet::Jobs(Jobs { pod: pod.clone(), items: None, selected: 0 }));
    model.start(Effect::LoadJobs(pod));
}

pub(super) fn loaded(model: &mut Model, pod: &PodRef, done: Result<Vec<BackgroundCommand>, ClientError>) {
    match (&mut model.sheet, done) {
        (Some(Sheet::Jobs(jobs)), Ok(items)) if jobs.pod == *pod => {
            jobs.selected = jobs.selected.min(items.len().saturating_sub(1));
            jobs.items = Some(items);
        }
        (Some(Sheet::Jobs(jobs)), Err(error)) if jobs.pod == *pod => {
            model.sheet = None;
            model.complain(sentences::of_error(&error));
        }
        _ => {}
    }
}

/// Handles a key in the list; returns false if it has no meaning there.
pub(super) fn press(model: &mut Model, key: KeyEvent) -> bool {
    let Some(Sheet::Jobs(jobs)) = &model.sheet else { return false };
    let pod = jobs.pod.clone();
    match key.code {
        KeyCode::Char('r') => model.start(Effect::LoadJobs(pod)),
        KeyCode::Char('x') => match jobs.items.as_ref().and_then(|items| items.get(jobs.selected)).cloned() {
            Some(job) if job.state == CommandState::Running => model.act(pod, Act::StopJob(job.id)),
            Some(_) => model.tell("it has ended"),
            None => {}
        },
        _ => return false,
    }
    true
}

/// After a stop, the list is read again.
pub(super) fn stopped(model: &mut Model, act: &Act) {
    if let (Act::StopJob(_), Some(Sheet::Jobs(jobs))) = (act, &model.sheet) {
        let pod = jobs.pod.clone();
        model.start(Effect::LoadJobs(pod));
    }
}
