//! One Pod: heading, transcript, queue, composer.

use commands::{Sign, peering::called, total_tokens};
use protocol::{Mode, Segment};
use ratatui::{
    Frame,
    layout::Rect,
    style::{Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};
use transcript::words::tokens_words;

use super::{
    Rows, agent,
    dashboard::{figures, mark, state_style},
    pod_areas, popup,
};
use crate::{
    model::{Focus, Link, Model, OpenPod, Place},
    wrap::{fit, width_of, wrap},
};

/// The composer grows with its text up to this many rows.
const COMPOSER_ROWS_MAX: usize = 8;
/// At most this many rows for queued messages; the last one counts them all.
const QUEUE_ROWS_MAX: usize = 3;
/// Minimum columns for model and folder, beside the figures.
const REST_WIDTH_MIN: usize = 12;
/// Precedes the first line of the composer.
const PROMPT: &str = "❯ ";
const PROMPT_WIDTH: u16 = 2;

pub(super) fn draw(model: &Model, open: &OpenPod, frame: &mut Frame<'_>, body: Rect) {
    let areas = pod_areas(open, body);
    let heading = vec![heading_line(model, open, body.width.into()), Line::from("─".repeat(body.width.into())).dim()];
    frame.render_widget(Paragraph::new(heading), areas.heading);
    frame.render_widget(Paragraph::new(transcript_lines(model, open, areas.transcript)), areas.transcript);
    frame.render_widget(Paragraph::new(queue_lines(open, body.width.into())), areas.queue);
    draw_composer(model, open, frame, areas.composer);
    if let Some(naming) = open.naming.as_ref().filter(|_| has_focus(model, open)) {
        let above = Rect { height: areas.composer.y.saturating_sub(body.y), ..body };
        popup::draw_files(naming, frame, above);
    }
}

/// Whether typing goes into the message.
fn has_focus(model: &Model, open: &OpenPod) -> bool {
    open.focus == Focus::Composer && model.line.is_none() && model.sheet.is_none()
}

fn heading_line(model: &Model, open: &OpenPod, width: usize) -> Line<'static> {
    let Some(summary) = model.summary_of(&open.pod) else {
        return Line::from(fit(&open.pod.to_string(), width)).bold();
    };
    let state = format!("{} {}", mark(summary), Sign::of(summary).word());
    let reason = summary.state_reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let context = match (summary.usage.context_used, summary.usage.context_limit) {
        (0, _) => String::new(),
        (used, 0) => format!("  context {}", tokens_words(used)),
        (used, limit) => format!("  context {}/{}", tokens_words(used), tokens_words(limit)),
    };
    let name = called(&summary.name, &summary.pod.runtime_id);
    let used = width_of(&name) + 2 + width_of(&state);
    // On a narrow screen the least important parts are dropped.
    let figures = figures(summary);
    let unit = if total_tokens(summary) > 0 { " tokens" } else { "" };
    let rights = [format!("{figures}{unit}{context}"), format!("{figures}{context}"), figures];
    let right = rights.into_iter().find(|right| used + width_of(right) + REST_WIDTH_MIN <= width).unwrap_or_default();
    let room = width.saturating_sub(used + width_of(&right) + 1);
    let git = open.git.as_ref().map(|git| format!(" · ⎇ {}", git.words())).unwrap_or_default();
    let mode = match (open.walked, open.mode) {
        (Some(walked), _) => format!(" · {} in a moment", walked.mode.words()),
        (None, Mode::Ask) => String::new(),
        (None, mode) => format!(" · {}", mode.words()),
    };
    let rest = fit(&format!("{reason}  {}{mode} · {}{git}", summary.model, summary.cwd), room);
    let gap = width.saturating_sub(used + width_of(&rest) + width_of(&right));
    Line::from(vec![
        Span::raw(name).bold(),
        Span::raw("  "),
        Span::styled(state, state_style(summary)),
        Span::raw(rest).dim(),
        Span::raw(" ".repeat(gap)),
        Span::raw(right).dim(),
    ])
}

/// Draws upwards from the lowest line until the screen is full, so that a long transcript costs no more than a short
/// one.
fn transcript_lines(model: &Model, open: &OpenPod, area: Rect) -> Vec<Line<'static>> {
    let height = usize::from(area.height);
    let rows = Rows::new(open, model.detail, area.width);
    let Some((lowest, line)) = rows.lowest(&open.place) else {
        return vec![Line::from(empty_words(model, open)).dim()];
    };
    let at_hand = (open.focus == Focus::Transcript).then(|| rows.at_hand(area.height)).flatten();
    // Matches are highlighted while the match is the current block.
    let words = if open.mark.is_some() && at_hand.is_some() { open.find.as_str() } else { "" };
    let mut lines: Vec<Line<'static>> = Vec::with_capacity(height);
    for row in (0..=lowest).rev() {
        if lines.len() >= height {
            break;
        }
        let drawn = rows.lines(row);
        let shown = if row == lowest { &drawn[..=line] } else { &drawn[..] };
        lines.extend(shown.iter().rev().map(|line| marked(line, at_hand == Some(row), words)));
    }
    lines.truncate(height);
    // A short transcript stands just above the composer.
    let free = height - lines.len();
    std::iter::repeat_n(Line::default(), free).chain(lines.into_iter().rev()).collect()
}

/// Marks a line of the current block with a bar at the left, and highlights the words that were found.
fn marked(line: &Line<'static>, is_at_hand: bool, words: &str) -> Line<'static> {
    let mark = if is_at_hand && line.width() > 0 { "▎ " } else { "  " };
    let mut spans = vec![Span::raw(mark)];
    spans.extend(line.spans.iter().flat_map(|span| highlighted(span, words)));
    Line::from(spans).style(line.style)
}

fn highlighted(span: &Span<'static>, words: &str) -> Vec<Span<'static>> {
    let (text, found) = (span.content.to_lowercase(), words.to_lowercase());
    // Some letters have another length in lower case, which would shift the positions.
    if words.is_empty() || text.len() != span.content.len() || !text.contains(&found) {
        return vec![span.clone()];
    }
    let (mut spans, mut from) = (Vec::new(), 0);
    for (at, hit) in text.match_indices(&found) {
        spans.push(Span::styled(span.content[from..at].to_owned(), span.style));
        from = at + hit.len();
        spans.push(Span::styled(span.content[at..from].to_owned(), span.style.reversed()));
    }
    spans.push(Span::styled(span.content[from..].to_owned(), span.style));
    spans
}

fn empty_words(model: &Model, open: &OpenPod) -> &'static str {
    match (&model.link, open.is_known) {
        (_, true) => "  No messages yet.",
        (Link::Reconnecting { .. }, _) => "  The server is away. Retrying.",
        (Link::Unauthorized, _) => "  The server refuses the token. Set YOI_TOKEN, or name its folder with --data.",
        _ => "  Loading the transcript …",
    }
}

pub(super) fn queue_rows(open: &OpenPod, width: u16) -> u16 {
    let plan = usize::from(agent::plan_line(open, width.into()).is_some());
    u16::try_from(open.queued.len().min(QUEUE_ROWS_MAX) + plan).unwrap_or_default()
}

/// Returns the lines for the agent's plan and for the queue.
fn queue_lines(open: &OpenPod, width: usize) -> Vec<Line<'static>> {
    let shown = open.queued.iter().take(QUEUE_ROWS_MAX).map(|input| {
        let how = if input.steer { "steers" } else { "queued" };
        Line::from(fit(&format!("  {how}  {}", Segment::join(&input.segments)), width)).dim()
    });
    agent::plan_line(open, width).into_iter().chain(shown).collect()
}

pub(super) fn composer_rows(open: &OpenPod, width: u16) -> u16 {
    let rows = wrap(&open.composer.shown(), text_width(width)).len().min(COMPOSER_ROWS_MAX);
    u16::try_from(rows + 1).unwrap_or(2)
}

/// The width without the prompt, and with room for the cursor after the last character.
fn text_width(width: u16) -> usize {
    usize::from(width.saturating_sub(PROMPT_WIDTH + 1)).max(1)
}

fn draw_composer(model: &Model, open: &OpenPod, frame: &mut Frame<'_>, area: Rect) {
    let has_focus = has_focus(model, open);
    let width = usize::from(area.width);
    let [rule, rows] = ratatui::layout::Layout::vertical([
        ratatui::layout::Constraint::Length(1),
        ratatui::layout::Constraint::Min(0),
    ])
    .areas(area);
    let style = if has_focus { Style::new().bold() } else { Style::new().dim() };
    frame.render_widget(Line::from(rule_words(model, open, width)).style(style), rule);

    let lines = wrap(&open.composer.shown(), text_width(area.width));
    let before = wrap(&open.composer.shown_before_cursor(), text_width(area.width));
    let (row, column) = (before.len() - 1, before.last().map_or(0, |line| width_of(line)));
    let skipped = (row + 1).saturating_sub(rows.height.into());
    let shown: Vec<_> = lines
        .into_iter()
        .enumerate()
        .skip(skipped)
        .map(|(index, line)| Line::raw(format!("{}{line}", if index == 0 { PROMPT } else { "  " })))
        .collect();
    let text = Paragraph::new(shown);
    frame.render_widget(if has_focus { text } else { text.dim() }, rows);
    if has_focus {
        let at = |offset: usize| u16::try_from(offset).unwrap_or(u16::MAX);
        let (x, y) = (rows.x + PROMPT_WIDTH, rows.y.saturating_add(at(row.saturating_sub(skipped))));
        frame.set_cursor_position((x.saturating_add(at(column)), y));
    }
}

/// `─ Message ─── 12 more below ─`.
fn rule_words(model: &Model, open: &OpenPod, width: usize) -> String {
    let left = match (&open.sending, &open.failed) {
        (Some(_), _) => "─ Message · saving ",
        (None, Some(failed)) if failed.segments == open.composer.segments() => {
            "─ Message · not sent, Enter tries again "
        }
        _ => "─ Message ",
    };
    let right = match &open.place {
        Place::End => String::new(),
        Place::At { .. } => {
            let rows = Rows::new(open, model.detail, u16::try_from(width).unwrap_or(u16::MAX));
            let below = rows.lowest(&open.place).map_or(0, |(row, _)| rows.len() - 1 - row);
            format!(" {} ─", if below == 0 { "more below".to_owned() } else { format!("{below} more below") })
        }
    };
    let line = width.saturating_sub(width_of(left) + width_of(&right));
    fit(&format!("{left}{}{right}", "─".repeat(line)), width)
}
