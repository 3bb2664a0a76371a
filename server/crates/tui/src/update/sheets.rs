//! Help, questions, hits and walls: opened, filled, kept up to date.

use client::ClientError;
use commands::Topic;
use protocol::{PodRef, PodState, SearchHit, WallItem};

use crate::{
    model::{Act, Asked, Effect, Found, Inbox, Model, Sheet, Walls},
    sentences,
};

/// So many Pods that ask are asked what.
const ASKING_MAX: usize = 50;

pub(super) fn open_help(model: &mut Model, topic: Topic) {
    model.sheet = Some(Sheet::Help { topic, skipped: 0 });
}

pub(super) fn open_queue(model: &mut Model) {
    model.sheet = Some(Sheet::Queue { selected: 0 });
}

pub(super) fn open_inbox(model: &mut Model) -> Vec<Effect> {
    model.sheet = Some(Sheet::Inbox(Inbox { asking: Some(false), ..Inbox::default() }));
    vec![Effect::LoadInbox(asking(model))]
}

pub(super) fn open_walls(model: &mut Model) -> Vec<Effect> {
    model.sheet = Some(Sheet::Walls(Walls::default()));
    vec![Effect::LoadWalls]
}

pub(super) fn walls(model: &mut Model, done: Result<Vec<WallItem>, ClientError>) -> Vec<Effect> {
    let Some(Sheet::Walls(walls)) = &mut model.sheet else { return Vec::new() };
    match done {
        Ok(items) => walls.items = Some(items),
        Err(error) => {
            model.sheet = None;
            model.complain(sentences::of_error(&error));
        }
    }
    Vec::new()
}

pub(super) fn search(model: &mut Model, words: String) -> Vec<Effect> {
    model.sheet = Some(Sheet::Found(Found { words: words.clone(), hits: None, selected: 0 }));
    vec![Effect::Search(words)]
}

/// The Pods that wait for an answer.
fn asking(model: &Model) -> Vec<PodRef> {
    let waits = |state| state == PodState::Waiting;
    model.pods.iter().filter(|pod| waits(pod.state)).map(|pod| pod.pod.clone()).take(ASKING_MAX).collect()
}

/// The list of Pods is another one: so may be what they ask.
pub(super) fn pods_changed(model: &mut Model) -> Vec<Effect> {
    let pods = asking(model);
    match &mut model.sheet {
        Some(Sheet::Inbox(inbox)) => reload(inbox, pods),
        _ => Vec::new(),
    }
}

/// One question is under way at a time, and one more at most waits.
fn reload(inbox: &mut Inbox, pods: Vec<PodRef>) -> Vec<Effect> {
    match &mut inbox.asking {
        Some(again) => {
            *again = true;
            Vec::new()
        }
        None => {
            inbox.asking = Some(false);
            vec![Effect::LoadInbox(pods)]
        }
    }
}

pub(super) fn inbox(model: &mut Model, done: Result<Vec<Asked>, ClientError>) -> Vec<Effect> {
    let pods = asking(model);
    let Some(Sheet::Inbox(inbox)) = &mut model.sheet else { return Vec::new() };
    let again = inbox.asking.take() == Some(true);
    match done {
        Ok(asked) => {
            inbox.is_known = true;
            inbox.selected = inbox.selected.min(asked.len().saturating_sub(1));
            inbox.asked = asked;
            if again { reload(inbox, pods) } else { Vec::new() }
        }
        Err(error) => {
            model.complain(sentences::of_error(&error));
            Vec::new()
        }
    }
}

pub(super) fn found(model: &mut Model, words: &str, done: Result<Vec<SearchHit>, ClientError>) -> Vec<Effect> {
    let Some(Sheet::Found(found)) = &mut model.sheet else { return Vec::new() };
    if found.words != words {
        return Vec::new();
    }
    match done {
        Ok(hits) => found.hits = Some(hits),
        Err(error) => {
            model.sheet = None;
            model.complain(sentences::of_error(&error));
        }
    }
    Vec::new()
}

/// What was answered is no question any more, whoever answered it.
pub(super) fn answered(model: &mut Model, act: &Act) -> Vec<Effect> {
    let pods = asking(model);
    match (&mut model.sheet, act) {
        (Some(Sheet::Inbox(inbox)), Act::Answer { .. } | Act::Decide { .. }) => reload(inbox, pods),
        _ => Vec::new(),
    }
}
