//! Overlays that cover the whole body: help, approvals, search results, the sandbox.

use commands::peering::called;
use protocol::{Segment, Since};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::Stylize,
    text::{Line, Span},
    widgets::Paragraph,
};
use transcript::snippet_words;

use super::{
    agent,
    blocks::Look,
    changes, entry, help, indented, jobs, providers, servers,
    tool::{asked_lines, option_lines, telling},
    walls,
};
use crate::{
    model::{Asked, Detail, Found, Inbox, Model, Sheet, Waiting},
    wrap::{fit, padded, width_of, wrap},
};

/// Columns of the Pod's name, and of the tool that it asks for.
const NAME_WIDTH: usize = 16;
const TOOL_WIDTH: usize = 12;
/// Columns of how a message waits.
const HOW_WIDTH: usize = 8;
/// Indents the details of an entry.
const INDENT: &str = "    ";

pub(super) fn draw(model: &Model, sheet: &Sheet, frame: &mut Frame<'_>, body: Rect) {
    let [heading, area] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(body);
    let width = usize::from(body.width);
    let title = match sheet {
        Sheet::Agent { .. } => "Agent".to_owned(),
        Sheet::Help { .. } => "Help".to_owned(),
        Sheet::Inbox(_) => "Approvals".to_owned(),
        Sheet::Found(found) => format!("Search: {}", found.words),
        Sheet::Walls(_) => "Command sandbox".to_owned(),
        Sheet::Changed(changed) => {
            let since = match changed.since {
                Since::Start => "its start",
                Since::Turn => "its last turn began",
                Since::Branch => "its branch began",
            };
            format!("Changes of {} since {since}", model.called(&changed.pod))
        }
        Sheet::Jobs(jobs) => format!("Background commands of {}", model.called(&jobs.pod)),
        Sheet::Providers(_) => "Model providers".to_owned(),
        Sheet::Servers(_) => "MCP servers".to_owned(),
        Sheet::Queue { .. } => "Queued and held messages".to_owned(),
    };
    let rule = Line::from("─".repeat(width)).dim();
    frame.render_widget(Paragraph::new(vec![Line::from(fit(&title, width)).bold(), rule]), heading);
    let lines = match sheet {
        Sheet::Help { topic, skipped } => {
            let lines = help::lines(model, *topic, body.width);
            let skipped = (*skipped).min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
        Sheet::Servers(servers) => {
            let lines = servers::lines(servers, body.width);
            let skipped = servers.skipped.min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
        Sheet::Agent { skipped } => {
            let lines = agent::lines(model, body.width);
            let skipped = (*skipped).min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
        Sheet::Walls(walls) => {
            let lines = walls::lines(walls, body.width);
            let skipped = walls.skipped.min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
        Sheet::Changed(changed) => {
            let lines = changes::lines(changed, body.width);
            let skipped = changed.skipped.min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
        Sheet::Providers(sheet) => {
            let lines = providers::lines(model.choices.as_ref(), sheet, width);
            windowed(lines, sheet.selected, area.height)
        }
        Sheet::Jobs(jobs) => windowed(jobs::lines(jobs, width), jobs.selected, area.height),
        Sheet::Inbox(inbox) => inbox_lines(model, inbox, area),
        Sheet::Found(found) => found_lines(found, area),
        Sheet::Queue { selected } => waiting_lines(model, *selected, area),
    };
    frame.render_widget(Paragraph::new(lines), area);
}

fn inbox_lines(model: &Model, inbox: &Inbox, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    if inbox.asked.is_empty() {
        let words = if inbox.is_known { "No approvals pending." } else { "Loading approvals …" };
        return vec![Line::from(fit(words, width)).dim()];
    }
    let rows = inbox.asked.iter().enumerate().flat_map(|(index, asked)| {
        let is_selected = index == inbox.selected;
        let mut lines = vec![row(model, asked, is_selected, width)];
        // In full for the one that a key would answer now.
        lines.extend(is_selected.then(|| whole(asked, width)).into_iter().flatten());
        lines.into_iter().map(move |line| (index, line))
    });
    windowed(rows.collect(), inbox.selected, area.height)
}

fn row(model: &Model, asked: &Asked, is_selected: bool, width: usize) -> Line<'static> {
    let (name, what, about) = match asked {
        Asked::Tool { pod, approval } => {
            (model.called(pod), approval.tool.clone(), telling(Some(&approval.arguments), ""))
        }
        Asked::Peer(request) => {
            let note = request.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            (
                called(&request.to_name, &request.to.runtime_id),
                "peer request".to_owned(),
                format!("{} asks to be a peer{note}", called(&request.from_name, &request.from.runtime_id)),
            )
        }
    };
    let room = width.saturating_sub(NAME_WIDTH + TOOL_WIDTH + 6);
    let (name, what, about) = (padded(&name, NAME_WIDTH), padded(&what, TOOL_WIDTH), padded(&about, room));
    entry(is_selected, vec![Span::raw(format!("{name}  {what}  {about}"))])
}

fn whole(asked: &Asked, width: usize) -> Vec<Line<'static>> {
    let look = Look { width: width.saturating_sub(INDENT.len()), detail: Detail::Normal };
    match asked {
        Asked::Tool { approval, .. } => {
            let mut lines = asked_lines(&approval.arguments, Some(approval), look);
            lines.extend(option_lines(&approval.options, look));
            indented(lines, INDENT)
        }
        Asked::Peer(_) => in_entry(
            "They will see each other and can send each other messages. Neither gets the other's files, control or output.",
            width,
        ),
    }
}

fn in_entry(text: &str, width: usize) -> Vec<Line<'static>> {
    let lines = wrap(text, width.saturating_sub(INDENT.len()));
    indented(lines.into_iter().map(Line::from).collect(), INDENT)
}

fn waiting_lines(model: &Model, selected: usize, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    let waiting = model.open.as_ref().map(|open| open.waiting()).unwrap_or_default();
    if waiting.is_empty() {
        return vec![Line::from(fit("No queued or held messages.", width)).dim()];
    }
    let selected = selected.min(waiting.len() - 1);
    let rows = waiting.iter().enumerate().flat_map(|(index, waiting)| {
        let is_selected = index == selected;
        let (how, text) = match waiting {
            Waiting::Queued(input) => (if input.steer { "steers" } else { "queued" }, Segment::join(&input.segments)),
            Waiting::Held { peer, why, .. } => {
                let why = why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
                ("held", format!("message with {peer}{why}"))
            }
        };
        let line = padded(&text.replace('\n', " "), width.saturating_sub(HOW_WIDTH + 2));
        let mut lines = vec![entry(is_selected, vec![Span::raw(padded(how, HOW_WIDTH)), Span::raw(line)])];
        // In full for the one that a key would act on now.
        if is_selected && (text.contains('\n') || width_of(&text) + HOW_WIDTH + 2 > width) {
            lines.extend(in_entry(&text, width));
        }
        lines.into_iter().map(move |line| (index, line))
    });
    windowed(rows.collect(), selected, area.height)
}

fn found_lines(found: &Found, area: Rect) -> Vec<Line<'static>> {
    let width = usize::from(area.width);
    let Some(hits) = &found.hits else { return vec![Line::from("Looking …").dim()] };
    if hits.is_empty() {
        return vec![Line::from(fit(&format!("No matches for \"{}\".", found.words), width)).dim()];
    }
    let rows = hits.iter().enumerate().map(|(index, hit)| {
        let is_selected = index == found.selected;
        let name = padded(&called(&hit.name, &hit.pod.runtime_id), NAME_WIDTH);
        let seq = format!("{:>7}", hit.seq.to_string());
        let room = width.saturating_sub(NAME_WIDTH + width_of(&seq) + 6);
        let words = padded(&snippet_words(&hit.kind, &hit.snippet), room);
        let spans = vec![Span::raw(name), Span::raw("  "), Span::raw(seq).dim(), Span::raw("  "), Span::raw(words)];
        (index, entry(is_selected, spans))
    });
    windowed(rows.collect(), found.selected, area.height)
}

/// A screenful of lines that includes those of the selected entry.
fn windowed(lines: Vec<(usize, Line<'static>)>, selected: usize, height: u16) -> Vec<Line<'static>> {
    let height = usize::from(height);
    let first = lines.iter().position(|(index, _)| *index == selected).unwrap_or_default();
    let last = lines.iter().rposition(|(index, _)| *index == selected).unwrap_or_default();
    let skipped = (last + 1).saturating_sub(height).min(first);
    let hidden = last.saturating_sub(first) + 1;
    let mut shown: Vec<_> = lines.into_iter().skip(skipped).take(height).map(|(_, line)| line).collect();
    if hidden > height
        && let Some(end) = shown.last_mut()
    {
        // Say that this is not all of it.
        *end = Line::from(format!("    … {} more lines: Enter opens its Pod", hidden + 1 - height)).dim();
    }
    shown
}
