//! Keys while an overlay is open: help, approvals, search results, sandbox.

use crossterm::event::{KeyCode, KeyEvent};
use protocol::RequestDecision;

use super::{begin_line, choices, jobs, open, queue, sheets};
use crate::{
    model::{Act, Asked, LineOf, Model, Seek, Sheet},
    view::{agent_lines, change_lines, help_lines, server_lines, wall_lines},
};

/// How many pages may be loaded to reach a search result.
const SEEK_PAGES_MAX: u32 = 50;

pub(super) fn press(model: &mut Model, key: KeyEvent) {
    if queue::press(model, key) || jobs::press(model, key) {
        return;
    }
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') => model.sheet = None,
        KeyCode::Char(':') => begin_line(model, LineOf::Command, ""),
        KeyCode::Char('j') | KeyCode::Down => select(model, 1),
        KeyCode::Char('k') | KeyCode::Up => select(model, -1),
        KeyCode::PageDown | KeyCode::Char(' ') => select(model, 10),
        KeyCode::PageUp => select(model, -10),
        KeyCode::Enter if matches!(model.sheet, Some(Sheet::Providers(_))) => choices::ask_key_of_chosen(model),
        KeyCode::Char('s') if sheets::change_since(model) => {}
        KeyCode::Char('t') => choices::test_chosen(model),
        KeyCode::Enter => enter(model),
        KeyCode::Char('a') => answer(model, commands::Answer::Once),
        KeyCode::Char('A') => ask_always(model),
        KeyCode::Char('d') => answer(model, commands::Answer::Deny(String::new())),
        _ => {}
    }
}

pub(super) fn select(model: &mut Model, step: isize) {
    let moved = |at: usize, count: usize| at.saturating_add_signed(step).min(count.saturating_sub(1));
    let help_height = match &model.sheet {
        Some(Sheet::Help { topic, .. }) => help_lines(model, *topic, model.size.0).len(),
        _ => 0,
    };
    let list_height = match &model.sheet {
        Some(Sheet::Walls(walls)) => wall_lines(walls, model.size.0).len(),
        Some(Sheet::Servers(servers)) => server_lines(servers, model.size.0).len(),
        Some(Sheet::Changed(changed)) => change_lines(changed, model.size.0).len(),
        _ => 0,
    };
    let agent_height = match &model.sheet {
        Some(Sheet::Agent { .. }) => agent_lines(model, model.size.0).len(),
        _ => 0,
    };
    let waiting = model.open.as_ref().map_or(0, |open| open.waiting().len());
    let choices = model.choices.as_ref();
    let providers = choices.map_or(0, |choices| choices.providers.len() + choices.unconfigured.len());
    match &mut model.sheet {
        Some(Sheet::Queue { selected }) => *selected = moved(*selected, waiting),
        Some(Sheet::Jobs(jobs)) => jobs.selected = moved(jobs.selected, jobs.items.as_ref().map_or(0, Vec::len)),
        Some(Sheet::Help { skipped, .. }) => *skipped = moved(*skipped, help_height),
        Some(Sheet::Agent { skipped }) => *skipped = moved(*skipped, agent_height),
        Some(Sheet::Providers(sheet)) => sheet.selected = moved(sheet.selected, providers),
        Some(Sheet::Walls(walls)) => walls.skipped = moved(walls.skipped, list_height),
        Some(Sheet::Servers(servers)) => servers.skipped = moved(servers.skipped, list_height),
        Some(Sheet::Changed(changed)) => changed.skipped = moved(changed.skipped, list_height),
        Some(Sheet::Inbox(inbox)) => inbox.selected = moved(inbox.selected, inbox.asked.len()),
        Some(Sheet::Found(found)) => {
            found.selected = moved(found.selected, found.hits.as_ref().map_or(0, Vec::len));
        }
        None => {}
    }
}

/// Opens the Pod that asks, or the place of a search result.
fn enter(model: &mut Model) {
    let pod = match &model.sheet {
        Some(Sheet::Inbox(inbox)) => inbox.asked.get(inbox.selected).map(|asked| (asked.pod().clone(), None)),
        Some(Sheet::Found(found)) => {
            let hit = found.hits.as_ref().and_then(|hits| hits.get(found.selected));
            hit.map(|hit| (hit.pod.clone(), Some(Seek { seq: hit.seq, pages_left: SEEK_PAGES_MAX })))
        }
        Some(
            Sheet::Help { .. }
            | Sheet::Agent { .. }
            | Sheet::Queue { .. }
            | Sheet::Providers(_)
            | Sheet::Walls(_)
            | Sheet::Changed(_)
            | Sheet::Jobs(_)
            | Sheet::Servers(_),
        )
        | None => None,
    };
    match pod {
        Some((pod, seek)) => {
            model.seek = seek;
            open(model, pod);
        }
        None => model.sheet = None,
    }
}

/// Begins a line in which is said what "always" means for the selected approval, as in a transcript. A request has no
/// such choice.
fn ask_always(model: &mut Model) {
    let Some(Sheet::Inbox(inbox)) = &model.sheet else { return };
    match inbox.asked.get(inbox.selected) {
        Some(Asked::Tool { pod, approval }) => {
            model.always_of = Some((pod.clone(), approval.clone()));
            begin_line(model, LineOf::Always, "");
        }
        Some(Asked::Peer(_)) => answer(model, commands::Answer::Once),
        None => {}
    }
}

/// Answers that approval: always what was typed, or exactly this call if nothing was.
pub(super) fn answer_always(model: &mut Model, meant: String) {
    let Some((pod, approval)) = model.always_of.take() else { return };
    let command = Box::new(commands::Answer::Always(meant).into());
    model.act(pod, Act::Answer { approval: approval.id, command });
}

/// Answers the selected approval or request.
fn answer(model: &mut Model, said: commands::Answer) {
    let Some(Sheet::Inbox(inbox)) = &model.sheet else { return };
    let (pod, act) = match inbox.asked.get(inbox.selected) {
        Some(Asked::Tool { pod, approval }) => {
            (pod.clone(), Act::Answer { approval: approval.id.clone(), command: Box::new(said.into()) })
        }
        Some(Asked::Peer(request)) => {
            let decision = match said {
                commands::Answer::Deny(_) => RequestDecision::Decline,
                _ => RequestDecision::Accept,
            };
            (request.to.clone(), Act::Decide { request_id: request.request_id.clone(), decision })
        }
        None => return,
    };
    model.act(pod, act);
}
