//! All Pods, grouped by what they need.

use protocol::{PodState, PodSummary};
use ratatui::{
    Frame,
    layout::Rect,
    style::{Color, Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};

use crate::{
    model::{Group, Link, Model},
    wrap::{fit, width_of, wrap},
};

/// Columns of name and state; the rest is what the Pod does.
const NAME_WIDTH: usize = 20;
const STATE_WIDTH: usize = 12;

pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    if model.pods.is_empty() {
        let lines: Vec<_> = wrap(&empty_words(model), area.width.into()).into_iter().map(Line::raw).collect();
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    let (lines, selected) = lines(model, area.width.into());
    let height = usize::from(area.height);
    // The selected row is kept on the screen.
    let skipped = (selected + 1).saturating_sub(height);
    frame.render_widget(Paragraph::new(lines.into_iter().skip(skipped).take(height).collect::<Vec<_>>()), area);
}

/// All lines, and the index of the selected one.
fn lines(model: &Model, width: usize) -> (Vec<Line<'static>>, usize) {
    let (mut lines, mut selected, mut group) = (Vec::new(), 0, None);
    for summary in &model.pods {
        if group != Some(Group::of(summary)) {
            if group.is_some() {
                lines.push(Line::default());
            }
            group = Some(Group::of(summary));
            lines.push(Line::from(Group::of(summary).title()).bold());
        }
        let is_selected = model.selected.as_ref() == Some(&summary.pod);
        if is_selected {
            selected = lines.len();
        }
        lines.push(row(summary, is_selected, width));
    }
    (lines, selected)
}

fn row(summary: &PodSummary, is_selected: bool, width: usize) -> Line<'static> {
    let unread = if summary.unread > 0 { format!(" ({})", summary.unread) } else { String::new() };
    let name = padded(&format!("{}{unread}", summary.name), NAME_WIDTH);
    let state = padded(&format!("{} {}", mark(summary), summary.state.as_str()), STATE_WIDTH);
    let doing = summary.activity.as_deref().or(summary.state_reason.as_deref()).unwrap_or(&summary.model);
    let rest = fit(doing, width.saturating_sub(NAME_WIDTH + STATE_WIDTH + 6));
    let pointer = if is_selected { "▸ " } else { "  " };
    let spans = vec![
        Span::raw(pointer),
        Span::raw(name),
        Span::raw("  "),
        Span::styled(state, state_style(summary)),
        Span::raw("  "),
        Span::raw(rest),
    ];
    let line = Line::from(spans);
    if is_selected { line.style(Style::new().reversed()) } else { line }
}

fn padded(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(width_of(&text));
    format!("{text}{}", " ".repeat(missing))
}

/// A shape beside the word: a state is never told by its colour alone.
pub(super) fn mark(summary: &PodSummary) -> &'static str {
    match summary.state {
        PodState::Waiting => "?",
        PodState::Running => "●",
        PodState::Paused => "‖",
        PodState::Idle => "○",
        PodState::Stopped => "□",
        PodState::Unreachable => "~",
        PodState::Broken => "×",
    }
}

pub(super) fn state_style(summary: &PodSummary) -> Style {
    match summary.state {
        _ if summary.needs_you => Style::new().fg(Color::Yellow),
        PodState::Waiting => Style::new().fg(Color::Yellow),
        PodState::Running => Style::new().fg(Color::Green),
        PodState::Broken | PodState::Unreachable => Style::new().fg(Color::Red),
        _ => Style::new(),
    }
}

fn empty_words(model: &Model) -> String {
    match &model.link {
        _ if model.pods_known => "No Pod yet. n makes one.".to_owned(),
        Link::Reconnecting { cause, .. } => format!("The server is away ({cause}). It is tried again and again."),
        Link::Unauthorized => {
            "The server refuses the token. Set YOI_TOKEN, or name the server's folder with --data.".to_owned()
        }
        Link::Connecting | Link::Connected => "The list of Pods is on its way.".to_owned(),
    }
}
