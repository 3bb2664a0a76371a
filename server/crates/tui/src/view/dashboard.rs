//! All Pods, grouped by what they need from you.

use commands::{Attention, Sign, family::nested, matches, needing, peering::called, total_tokens};
use protocol::{PodState, PodSummary};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Style, Stylize},
    text::{Line, Span},
    widgets::Paragraph,
};
use transcript::words::about_tokens;

use super::entry;
use crate::{
    making::standing,
    model::{Choices, Link, Model},
    wrap::{fit, padded, width_of, wrap},
};

/// Columns of name, state and figures; the rest is for the Pod's activity.
const NAME_WIDTH: usize = 20;
const STATE_WIDTH: usize = 13;
const FIGURES_WIDTH: usize = 14;
/// Deeper children are not indented further.
const DEPTH_MAX: usize = 4;
/// Columns of a key on the first screen.
const FIRST_WIDTH: usize = 12;
/// The default name of the first Pod.
pub(crate) const FIRST_NAME: &str = "ada";

/// The Pods in the order of the rows: all, or those that match the filter. A child stands below its parent if both are
/// in one group; the number says how far below.
pub(crate) fn shown(model: &Model) -> Vec<(&PodSummary, usize)> {
    let fitting: Vec<_> = model.pods.iter().filter(|pod| matches(pod, &model.filter)).collect();
    fitting.chunk_by(|one, next| Attention::of(one) == Attention::of(next)).flat_map(nested).collect()
}

pub(super) fn draw(model: &Model, frame: &mut Frame<'_>, body: Rect) {
    let [heading, area] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(body);
    draw_heading(model, frame, heading);
    let pods = shown(model);
    if model.is_fresh() {
        let lines = first_lines(model, area.width.into());
        frame.render_widget(Paragraph::new(lines), area);
        return;
    }
    if pods.is_empty() {
        let words = wrap(&empty_words(model), area.width.into());
        frame.render_widget(Paragraph::new(words.into_iter().map(Line::raw).collect::<Vec<_>>()), area);
        return;
    }
    let (lines, selected) = lines(model, &pods, area.width.into());
    let height = usize::from(area.height);
    // The selected row is kept on the screen.
    let skipped = (selected + 1).saturating_sub(height);
    frame.render_widget(Paragraph::new(lines.into_iter().skip(skipped).take(height).collect::<Vec<_>>()), area);
}

fn draw_heading(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let width = usize::from(area.width);
    let count = match (model.pods_known, model.pods.len()) {
        (false, _) => String::new(),
        (true, 1) => "1 Pod".to_owned(),
        (true, count) => format!("{count} Pods"),
    };
    let wanting = match needing(&model.pods, None, 0) {
        0 => String::new(),
        1 => " · 1 needs you".to_owned(),
        count => format!(" · {count} need you"),
    };
    let room = width.saturating_sub(5 + width_of(&count) + width_of(&wanting) + 2);
    let heading = Line::from(vec![
        Span::raw("yoi  ").bold(),
        Span::raw(count),
        Span::styled(wanting, Style::new().fg(Color::Yellow).bold()),
    ]);
    let rule = Line::from("─".repeat(width)).dim();
    frame.render_widget(Paragraph::new(vec![heading, rule]), area);
    let address = Line::from(fit(&model.address, room)).dim().right_aligned();
    frame.render_widget(address, Rect { height: area.height.min(1), ..area });
}

/// All lines, and the index of the selected one.
fn lines(model: &Model, pods: &[(&PodSummary, usize)], width: usize) -> (Vec<Line<'static>>, usize) {
    let (mut lines, mut selected, mut group) = (Vec::new(), 0, None);
    for (summary, depth) in pods {
        let attention = Attention::of(summary);
        if group != Some(attention) {
            if group.is_some() {
                lines.push(Line::default());
            }
            group = Some(attention);
            lines.push(Line::from(attention.title()).bold());
        }
        let is_selected = model.selected.as_ref() == Some(&summary.pod);
        if is_selected {
            selected = lines.len();
        }
        lines.push(row(model, summary, *depth, is_selected, width));
    }
    (lines, selected)
}

fn row(model: &Model, summary: &PodSummary, depth: usize, is_selected: bool, width: usize) -> Line<'static> {
    let below = match depth {
        0 => String::new(),
        depth => format!("{}└ ", "  ".repeat(depth.min(DEPTH_MAX) - 1)),
    };
    let unread = if summary.unread > 0 { format!(" ({})", summary.unread) } else { String::new() };
    let name = padded(&format!("{below}{}{unread}", called(&summary.name, &summary.pod.runtime_id)), NAME_WIDTH);
    let state = padded(&format!("{} {}", mark(summary), Sign::of(summary).word()), STATE_WIDTH);
    let doing = summary.activity.as_deref().or(summary.state_reason.as_deref());
    let doing = doing.map_or_else(|| format!("{} · {}", summary.model, summary.cwd), str::to_owned);
    // A child whose parent is not above it names its parent.
    let parent = summary.relations.parent.as_ref().filter(|_| depth == 0);
    let of = parent.and_then(|parent| model.summary_of(parent));
    let doing = of.map_or_else(|| doing.clone(), |parent| format!("of {} · {doing}", parent.name));
    let figures = figures(summary);
    let figures = format!("{}{}", " ".repeat(FIGURES_WIDTH.saturating_sub(width_of(&figures))), figures);
    let rest = padded(&doing, width.saturating_sub(NAME_WIDTH + STATE_WIDTH + FIGURES_WIDTH + 6));
    let spans = vec![
        if summary.unread > 0 { Span::raw(name).bold() } else { Span::raw(name) },
        Span::raw("  "),
        Span::styled(state, state_style(summary)),
        Span::raw("  "),
        Span::raw(rest),
        Span::raw(figures).dim(),
    ];
    entry(is_selected, spans)
}

/// `⇄2 ⤷1 4.2k`: peers, children, tokens. Zeros are omitted.
pub(super) fn figures(summary: &PodSummary) -> String {
    let counted = |mark: &str, count: u32| (count > 0).then(|| format!("{mark}{count}"));
    let tokens = Some(total_tokens(summary)).filter(|tokens| *tokens > 0);
    let tokens = tokens.map(|tokens| about_tokens(tokens, summary.usage.estimated));
    let parts = [counted("⇄", summary.relations.peers), counted("⤷", summary.relations.children), tokens];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A shape beside the word: a state is never told by its colour alone.
pub(super) fn mark(summary: &PodSummary) -> &'static str {
    match Sign::of(summary) {
        Sign::Of(PodState::Waiting) => "?",
        Sign::Of(PodState::Running) => "●",
        Sign::Of(PodState::Paused) => "‖",
        Sign::Failed => "!",
        Sign::Of(PodState::Idle) => "○",
        Sign::Of(PodState::Stopped) => "□",
        Sign::Of(PodState::Unreachable) => "~",
        Sign::Of(PodState::Broken) => "×",
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

/// The first screen: something that works at once, and how to connect a model of your own.
fn first_lines(model: &Model, width: usize) -> Vec<Line<'static>> {
    let usual = model.choices.as_ref().and_then(Choices::usual).filter(|usual| usual.missing.is_none());
    let begins = match usual {
        Some(usual) if usual.kind != "rehearsal" => {
            let model = usual.models.first().map(|model| format!("{} of ", model.name)).unwrap_or_default();
            format!("creates {FIRST_NAME}, which uses {model}{} ({})", usual.name, standing(usual))
        }
        _ => format!("creates {FIRST_NAME}, which uses the rehearsal model: no key, no network"),
    };
    let keys = [
        ("Enter", begins.as_str()),
        ("n", "creates a Pod: its name, then Enter; or a space, and its model, folder, scope"),
        (
            ":key openai",
            "takes a key (also anthropic, gemini, openrouter): tested at once, stored on the server, never shown again",
        ),
        (":providers", "lists the models that were found here, and what is missing"),
    ];
    let about =
        "No Pods yet. A Pod is an agent that keeps its conversation on disk: it continues when you close this console.";
    let mut lines: Vec<_> = wrap(about, width).into_iter().map(Line::raw).collect();
    lines.push(Line::default());
    for (key, what) in keys {
        let mut whats = wrap(what, width.saturating_sub(FIRST_WIDTH + 1)).into_iter();
        let first = whats.next().unwrap_or_default();
        lines.push(Line::from(vec![Span::raw(padded(key, FIRST_WIDTH)).bold(), Span::raw(" "), Span::raw(first)]));
        lines.extend(whats.map(|line| Line::from(format!("{}{line}", " ".repeat(FIRST_WIDTH + 1)))));
    }
    lines
}

fn empty_words(model: &Model) -> String {
    match &model.link {
        _ if !model.pods.is_empty() => format!("No Pods match \"{}\". Esc shows all.", model.filter),
        Link::Reconnecting { cause, .. } => {
            format!("The server is away ({cause}). Retrying; nothing you typed is lost.")
        }
        Link::Unauthorized => {
            "The server refuses the token. Set YOI_TOKEN, or name the server's folder with --data.".to_owned()
        }
        Link::Connecting if model.pods_known => "No Pods yet.".to_owned(),
        Link::Connecting | Link::Connected => "Loading Pods …".to_owned(),
    }
}
