//! The overlays with help, approvals, search results and the sandbox: opening, filling and updating them.

use client::ClientError;
use commands::{Topic, family::may_ask};
use protocol::{Changes, McpServerItem, PodRef, SearchHit, Since, WallItem};

use crate::{
    model::{Act, Asked, Changed, Effect, Found, Inbox, Model, Servers, Sheet, Walls},
    sentences,
};

/// At most this many waiting Pods are asked for their approvals.
const ASKING_MAX: usize = 50;

pub(super) fn open_help(model: &mut Model, topic: Topic) {
    model.sheet = Some(Sheet::Help { topic, skipped: 0 });
}

pub(super) fn open_agent(model: &mut Model) {
    match model.open.as_ref().is_some_and(|open| open.agent.is_some()) {
        true => model.sheet = Some(Sheet::Agent { skipped: 0 }),
        false => model.complain("no agent answers in this Pod, but a provider's model"),
    }
}

pub(super) fn open_queue(model: &mut Model) {
    model.sheet = Some(Sheet::Queue { selected: 0 });
}

pub(super) fn open_inbox(model: &mut Model) {
    model.sheet = Some(Sheet::Inbox(Inbox::default()));
    reload(model);
}

pub(super) fn open_walls(model: &mut Model) {
    model.sheet = Some(Sheet::Walls(Walls::default()));
    model.start(Effect::LoadWalls);
}

pub(super) fn open_changes(model: &mut Model, pod: PodRef, since: Since) {
    model.sheet = Some(Sheet::Changed(Changed { pod: pod.clone(), since, changes: None, skipped: 0 }));
    model.start(Effect::LoadChanges(pod, since));
}

/// Compares the files with what they were at another time. Returns false if their changes are not shown.
pub(super) fn change_since(model: &mut Model) -> bool {
    let Some(Sheet::Changed(changed)) = &model.sheet else { return false };
    let next = match changed.since {
        Since::Start => Since::Turn,
        Since::Turn => Since::Branch,
        Since::Branch => Since::Start,
    };
    let pod = changed.pod.clone();
    open_changes(model, pod, next);
    true
}

pub(super) fn open_servers(model: &mut Model) {
    model.sheet = Some(Sheet::Servers(Servers::default()));
    model.start(Effect::LoadServers);
}

pub(super) fn search(model: &mut Model, words: String) {
    model.sheet = Some(Sheet::Found(Found { words: words.clone(), hits: None, selected: 0 }));
    model.start(Effect::Search(words));
}

pub(super) fn walls(model: &mut Model, done: Result<Vec<WallItem>, ClientError>) {
    match (&mut model.sheet, done) {
        (Some(Sheet::Walls(walls)), Ok(items)) => walls.items = Some(items),
        (Some(Sheet::Walls(_)), Err(error)) => give_up(model, &error),
        _ => {}
    }
}

pub(super) fn changed(model: &mut Model, pod: &PodRef, done: Result<Changes, ClientError>) {
    match (&mut model.sheet, done) {
        (Some(Sheet::Changed(changed)), Ok(changes)) if changed.pod == *pod => {
            // What was asked for before the key is of no use any more.
            changed.changes = Some(changes).filter(|changes| changes.since == changed.since).or(changed.changes.take());
        }
        (Some(Sheet::Changed(changed)), Err(error)) if changed.pod == *pod => give_up(model, &error),
        _ => {}
    }
}

pub(super) fn servers(model: &mut Model, done: Result<Vec<McpServerItem>, ClientError>) {
    match (&mut model.sheet, done) {
        (Some(Sheet::Servers(servers)), Ok(items)) => servers.items = Some(items),
        (Some(Sheet::Servers(_)), Err(error)) => give_up(model, &error),
        _ => {}
    }
}

pub(super) fn found(model: &mut Model, words: &str, done: Result<Vec<SearchHit>, ClientError>) {
    match (&mut model.sheet, done) {
        (Some(Sheet::Found(found)), Ok(hits)) if found.words == words => found.hits = Some(hits),
        (Some(Sheet::Found(found)), Err(error)) if found.words == words => give_up(model, &error),
        _ => {}
    }
}

/// Closes an overlay that cannot be filled.
fn give_up(model: &mut Model, error: &ClientError) {
    model.sheet = None;
    model.complain(sentences::of_error(error));
}

/// Requests all approvals again if their overlay is open, because the list of Pods has changed or one was answered.
pub(super) fn reload(model: &mut Model) {
    if let Some(Sheet::Inbox(inbox)) = &mut model.sheet
        && inbox.asking.begin()
    {
        let asking = model.pods.iter().filter(|pod| may_ask(pod)).map(|pod| pod.pod.clone());
        let asking = asking.take(ASKING_MAX).collect();
        model.start(Effect::LoadInbox(asking));
    }
}

pub(super) fn inbox(model: &mut Model, done: Result<Vec<Asked>, ClientError>) {
    let Some(Sheet::Inbox(inbox)) = &mut model.sheet else { return };
    let again = inbox.asking.end();
    match done {
        Ok(asked) => {
            inbox.is_known = true;
            inbox.selected = inbox.selected.min(asked.len().saturating_sub(1));
            inbox.asked = asked;
            if again {
                reload(model);
            }
        }
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

/// Reloads after an answer, since whatever was answered is no longer open.
pub(super) fn answered(model: &mut Model, act: &Act) {
    if matches!(act, Act::Answer { .. } | Act::Decide { .. }) {
        reload(model);
    }
}
