//! Help, questions to a person, hits of a search, walls: over the whole body.

use protocol::Segment;
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};
use transcript::snippet_words;

use super::{
    blocks::Look,
    help,
    tool::{asked_lines, telling},
    walls,
};
use crate::{
    model::{Asked, Detail, Found, Inbox, Model, Sheet, Waiting},
    wrap::{fit, padded, width_of, wrap},
};

/// Columns of the name of a Pod, and of the tool that it asks for.
const NAME_WIDTH: usize = 16;
const TOOL_WIDTH: usize = 12;
/// Columns of how a message waits.
const HOW_WIDTH: usize = 8;

pub(super) fn draw(model: &Model, sheet: &Sheet, frame: &mut Frame<'_>, body: Rect) {
    let [heading, area] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(body);
    let width = usize::from(body.width);
    let title = match sheet {
        Sheet::Help { .. } => "Help".to_owned(),
        Sheet::Inbox(_) => "Approvals".to_owned(),
        Sheet::Found(found) => format!("Search: {}", found.words),
        Sheet::Walls(_) => "Command sandbox".to_owned(),
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
        Sheet::Walls(walls) => {
            let lines = walls::lines(walls, body.width);
            let skipped = walls.skipped.min(lines.len().saturating_sub(area.height.into()));
            lines.into_iter().skip(skipped).collect()
        }
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
        // All of what is asked, for the one that would be answered now.
        lines.extend(is_selected.then(|| whole(asked, width)).into_iter().flatten());
        lines.into_iter().map(move |line| (index, line))
    });
    windowed(rows.collect(), inbox.selected, area.height)
}

fn row(model: &Model, asked: &Asked, is_selected: bool, width: usize) -> Line<'static> {
    let (name, what, about) = match asked {
        Asked::Tool { pod, approval } => {
            (model.name_of(pod), approval.tool.clone(), telling(Some(&approval.arguments), ""))
        }
        Asked::Peer(request) => {
            let note = request.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            (
                request.to_name.to_string(),
                "peer request".to_owned(),
                format!("{} asks to be a peer{note}", request.from_name),
            )
        }
    };
    let room = width.saturating_sub(NAME_WIDTH + TOOL_WIDTH + 6);
    let line = Line::from(vec![
        Span::raw(if is_selected { "▸ " } else { "  " }),
        Span::raw(padded(&name, NAME_WIDTH)),
        Span::raw("  "),
        Span::raw(padded(&what, TOOL_WIDTH)),
        Span::raw("  "),
        Span::raw(padded(&about, room)),
    ]);
    if is_selected { line.style(Style::new().reversed()) } else { line }
}

fn whole(asked: &Asked, width: usize) -> Vec<Line<'static>> {
    let look = Look { width: width.saturating_sub(4), detail: Detail::Normal };
    match asked {
        Asked::Tool { approval, .. } => prefixed(asked_lines(&approval.arguments, Some(approval), look)),
        Asked::Peer(_) => {
            let text = "They will see each other and can send each other messages. This gives neither any files, control, or output of the other.";
            prefixed(wrap(text, look.width).into_iter().map(Line::from).collect())
        }
    }
}

fn prefixed(lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
    let indent = |mut line: Line<'static>| {
        line.spans.insert(0, Span::raw("    "));
        line
    };
    lines.into_iter().map(indent).collect()
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
        let line = Line::from(vec![
            Span::raw(if is_selected { "▸ " } else { "  " }),
            Span::raw(padded(how, HOW_WIDTH)),
            Span::raw(padded(&text.replace('\n', " "), width.saturating_sub(HOW_WIDTH + 2))),
        ]);
        let mut lines = vec![if is_selected { line.style(Style::new().reversed()) } else { line }];
        // All of it, for the one that would be decided on now.
        if is_selected && (text.contains('\n') || width_of(&text) + HOW_WIDTH + 2 > width) {
            lines.extend(prefixed(wrap(&text, width.saturating_sub(4)).into_iter().map(Line::from).collect()));
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
        let name = padded(hit.name.as_str(), NAME_WIDTH);
        let seq = format!("{:>7}", hit.seq.to_string());
        let room = width.saturating_sub(NAME_WIDTH + width_of(&seq) + 6);
        let line = Line::from(vec![
            Span::raw(if is_selected { "▸ " } else { "  " }),
            Span::raw(name),
            Span::raw("  "),
            Span::raw(seq).dim(),
            Span::raw("  "),
            Span::raw(padded(&snippet_words(&hit.kind, &hit.snippet), room)),
        ]);
        (index, if is_selected { line.style(Style::new().reversed()) } else { line })
    });
    windowed(rows.collect(), found.selected, area.height)
}

/// A screenful of lines with those of the selected entry in it.
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
        // Nobody is to think that this is all of it.
        *end = Line::from(format!("    … {} more lines: Enter opens its Pod", hidden + 1 - height)).dim();
    }
    shown
}
