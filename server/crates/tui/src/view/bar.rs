//! The last line: a command, or the queue, the newest notice and a pending retry; and the state of the connection.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};
use transcript::{BlockKind, words::duration_words};

use super::tool::telling;
use crate::{
    model::{Focus, LineOf, Link, Model, OpenPod, Sheet, Waiting},
    wrap::{fit, printable, width_of, wrap_styled},
};

/// The maximum number of rows for a long sentence.
const ROWS_MAX: u16 = 4;
/// How much of an approval's argument is shown.
const QUESTION_COLUMNS: usize = 40;
/// How much of a Pod's name is shown.
const NAME_COLUMNS: usize = 20;

/// How many rows it needs.
pub(super) fn rows(model: &Model, width: u16) -> u16 {
    u16::try_from(lines(model, width).len()).unwrap_or(1).clamp(1, ROWS_MAX)
}

pub(super) fn draw(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Paragraph::new(lines(model, area.width)), area);
    if let Some(line) = &model.line {
        let column = width_of(&prefix(model, line.what)) + width_of(&line.text.shown_before_cursor());
        let column = u16::try_from(column).unwrap_or(u16::MAX);
        frame.set_cursor_position((area.x.saturating_add(column).min(area.right().saturating_sub(1)), area.y));
    }
    let style = match model.link {
        Link::Connected => Style::new().dim(),
        _ => Style::new().fg(Color::Yellow).bold(),
    };
    let last = Rect { y: area.bottom().saturating_sub(1), height: area.height.min(1), ..area };
    frame.render_widget(Line::from(Span::styled(link_words(&model.link), style)).right_aligned(), last);
}

/// The left side as lines; the last one leaves room for the words at the right.
fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let link = width_of(&link_words(&model.link)) + 2;
    let room = width.saturating_sub(link);
    if let Some(line) = &model.line {
        let shown = line.text.shown();
        // The key is masked; its length helps to see that it was pasted.
        let shown = if line.what == LineOf::Key { "•".repeat(width_of(&shown)) } else { shown };
        return vec![Line::raw(fit(&format!("{}{shown}", prefix(model, line.what)), room))];
    }
    if let Some(confirm) = &model.confirm {
        return wrapped(&[Span::styled(confirm.question.clone(), Style::new().fg(Color::Yellow).bold())], width, room);
    }
    let said = said(model);
    match said.is_empty() {
        true => vec![Line::from(fit(&hints(model), room)).dim()],
        false => wrapped(&said, width, room),
    }
}

/// Wraps over the whole width; if the last line would reach the words at the right, over the room beside them.
fn wrapped(spans: &[Span<'static>], width: usize, room: usize) -> Vec<Line<'static>> {
    let spans: Vec<_> = spans.iter().map(|span| Span::styled(printable(&span.content), span.style)).collect();
    let mut lines = wrap_styled(&spans, width);
    let last: usize = lines.last().map_or(0, |line| line.iter().map(Span::width).sum());
    if last > room {
        match lines.len() {
            1 => lines = wrap_styled(&spans, room),
            _ => lines.push(Vec::new()),
        }
    }
    lines.truncate(ROWS_MAX.into());
    lines.into_iter().map(Line::from).collect()
}

/// Queue, notice, retry: in this order, as far as present.
fn said(model: &Model) -> Vec<Span<'static>> {
    let mut parts: Vec<Span<'static>> = Vec::new();
    let open = model.open.as_ref().filter(|_| model.sheet.is_none());
    if let Some(count) = open.map(|open| open.queued.len()).filter(|count| *count > 0) {
        parts.push(Span::styled(format!("{count} queued"), Style::new().fg(Color::Cyan)));
    }
    if let Some(notice) = &model.notice {
        let colour = if notice.is_error { Color::Red } else { Color::Green };
        parts.push(Span::styled(notice.text.replace('\n', " "), Style::new().fg(colour)));
    }
    parts.extend(open.and_then(retry));
    let mut said = Vec::new();
    for part in parts {
        if !said.is_empty() {
            said.push(Span::raw(" · "));
        }
        said.push(part);
    }
    said
}

/// A failed provider is about to be asked again.
fn retry(open: &OpenPod) -> Option<Span<'static>> {
    let newest = open.transcript.blocks().iter().rev().find(|block| block.is_live())?;
    let BlockKind::Retry { attempt, wait_ms, detail, .. } = &newest.kind else { return None };
    let words = format!("Retrying in {} (attempt {attempt}): {detail}", duration_words(*wait_ms));
    Some(Span::styled(words, Style::new().fg(Color::Yellow)))
}

fn hints(model: &Model) -> String {
    match (&model.sheet, &model.open) {
        (Some(Sheet::Help { .. } | Sheet::Walls(_) | Sheet::Servers(_) | Sheet::Agent { .. }), _) => {
            "j k scroll · Esc close".to_owned()
        }
        (Some(Sheet::Changed(_)), _) => "j k scroll · s another start · Esc close".to_owned(),
        (Some(Sheet::Providers(_)), _) => "j k move · Enter give a key · t test · Esc close".to_owned(),
        (Some(Sheet::Inbox(_)), _) => "a allow · A always · d deny · Enter open · Esc close".to_owned(),
        (Some(Sheet::Jobs(_)), _) => "j k move · x stop · r look again · Esc close".to_owned(),
        (Some(Sheet::Found(_)), _) => "j k move · Enter open · Esc close".to_owned(),
        (Some(Sheet::Queue { selected }), open) => queue_hints(open.as_ref(), *selected),
        (None, None) if model.is_fresh() => "Enter begin · n new · : command · ? help · q quit".to_owned(),
        (None, None) if model.filter.is_empty() => {
            "Enter open · n new · / filter · : command · ? help · q quit".to_owned()
        }
        (None, None) => format!("filter: {} · Esc shows all", model.filter),
        (None, Some(open)) => pod_hints(open, model.has_run()),
    }
}

/// The actions on the selected message.
fn queue_hints(open: Option<&OpenPod>, selected: usize) -> String {
    let waiting = open.map(OpenPod::waiting).unwrap_or_default();
    let keys = match waiting.get(selected.min(waiting.len().saturating_sub(1))) {
        Some(Waiting::Queued(_)) => "Enter edit · s steer · x remove · ",
        Some(Waiting::Held { .. }) => "r release · x drop · ",
        None => "",
    };
    format!("{keys}Esc close")
}

fn pod_hints(open: &OpenPod, has_run: bool) -> String {
    if open.sending.is_some() {
        return "saving …".to_owned();
    }
    if open.naming.as_ref().is_some_and(|naming| naming.count() > 0) {
        return "↑ ↓ choose · Tab or Enter takes it · Esc close".to_owned();
    }
    if let Some(question) = open.transcript.open_questions().next()
        && let BlockKind::Approval { tool, arguments, options, .. } = &question.kind
    {
        let own = if options.is_empty() { "" } else { " · :option" };
        let asks = format!("{tool} {}{own}", fit(&telling(Some(arguments), ""), QUESTION_COLUMNS));
        return match open.focus {
            // What is done most often to go away ends the run.
            Focus::Composer if has_run => format!("Alt-a allow · Alt-A always · Alt-d deny · Esc stop: {asks}"),
            Focus::Composer => format!("Alt-a allow · Alt-A always · Alt-d deny: {asks}"),
            Focus::Transcript => format!("a allow · A always · d deny: {asks}"),
        };
    }
    match open.focus {
        Focus::Composer => "Enter send · Ctrl-J new line · : command · Esc leave".to_owned(),
        Focus::Transcript => "i write · j k J K move · v detail · / find · y copy · ? help".to_owned(),
    }
}

fn prefix(model: &Model, what: LineOf) -> String {
    match what {
        LineOf::Command => ":".to_owned(),
        LineOf::Find => "/".to_owned(),
        LineOf::Filter => "filter: ".to_owned(),
        LineOf::Always => {
            let name = model.always_of.as_ref().map(|(pod, _)| model.called(pod)).unwrap_or_default();
            format!("always for {} (Enter: exactly this): ", fit(&name, NAME_COLUMNS))
        }
        LineOf::Key => {
            let provider = model.key_of.as_ref().map(|of| of.provider.as_str()).unwrap_or_default();
            format!("key of {} (not shown): ", fit(provider, QUESTION_COLUMNS))
        }
    }
}

fn link_words(link: &Link) -> String {
    match link {
        Link::Connecting => "connecting".to_owned(),
        Link::Connected => "connected".to_owned(),
        Link::Reconnecting { attempt, .. } => format!("reconnecting ({attempt})"),
        Link::Unauthorized => "token refused".to_owned(),
    }
}
