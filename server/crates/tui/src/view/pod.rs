//! One Pod: heading, transcript, composer.

use ratatui::{
    Frame,
    layout::Rect,
    style::{Style, Stylize},
    text::{Line, Span},
    widgets::{Block, Paragraph},
};

use super::{
    COMPOSER_ROWS_MAX, block_lines, composer_width,
    dashboard::{mark, state_style},
    pod_areas,
};
use crate::{
    model::{Focus, Model, OpenPod, Place},
    update::scroll::lowest_line,
    wrap::{fit, width_of, wrap},
};

pub(super) fn draw(model: &Model, open: &OpenPod, frame: &mut Frame, body: Rect) {
    let [heading, transcript, composer] = pod_areas(open, body);
    frame.render_widget(heading_line(model, open, heading.width.into()), heading);
    frame.render_widget(Paragraph::new(transcript_lines(open, transcript)), transcript);
    draw_composer(model, open, frame, composer, composer_width(body));
}

fn heading_line(model: &Model, open: &OpenPod, width: usize) -> Line<'static> {
    let Some(summary) = model.summary_of(&open.pod) else {
        return Line::from(fit(&open.pod.to_string(), width)).bold();
    };
    let state = format!("{} {}", mark(summary), summary.state.as_str());
    let reason = summary.state_reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let rest = format!("  {} · {}", summary.model, summary.cwd);
    let used = width_of(summary.name.as_str()) + 2 + width_of(&state);
    Line::from(vec![
        Span::raw(summary.name.to_string()).bold(),
        Span::raw("  "),
        Span::styled(state, state_style(summary)),
        Span::raw(fit(&format!("{reason}{rest}"), width.saturating_sub(used))).dim(),
    ])
}

/// From the lowest line upwards until the screen is full: a long transcript costs no more than a short one.
fn transcript_lines(open: &OpenPod, area: Rect) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let Some((index, line)) = lowest_line(open, width) else {
        return vec![Line::from("Nothing has been said yet.").dim()];
    };
    let blocks = open.transcript.blocks();
    let mut lines = block_lines(&blocks[index], width);
    lines.truncate(line + 1);
    for block in blocks[..index].iter().rev() {
        if lines.len() >= height {
            break;
        }
        let mut above = block_lines(block, width);
        above.append(&mut lines);
        lines = above;
    }
    let hidden = lines.len().saturating_sub(height);
    lines.drain(..hidden);
    // A short transcript stands just above the composer.
    let free = height - lines.len();
    std::iter::repeat_n(Line::default(), free).chain(lines).collect()
}

fn draw_composer(model: &Model, open: &OpenPod, frame: &mut Frame, area: Rect, width: usize) {
    let has_focus = open.focus == Focus::Composer && model.command.is_none();
    let title = match (&open.sending, &open.place) {
        (Some(_), _) => " Message (saving) ",
        (None, Place::At { .. }) => " Message · more below ",
        (None, Place::End) => " Message ",
    };
    let style = if has_focus { Style::new().bold() } else { Style::new().dim() };
    let block = Block::bordered().title(title).border_style(style);
    let inner = block.inner(area);
    frame.render_widget(block, area);

    let lines = wrap(open.composer.text(), width);
    let before = wrap(open.composer.before_cursor(), width);
    let (row, column) = (before.len() - 1, before.last().map_or(0, |line| width_of(line)));
    let skipped = (row + 1).saturating_sub(COMPOSER_ROWS_MAX);
    let shown: Vec<_> = lines.into_iter().skip(skipped).map(Line::raw).collect();
    frame.render_widget(Paragraph::new(shown), inner);
    if has_focus {
        let at = |offset: usize| u16::try_from(offset).unwrap_or(u16::MAX);
        frame.set_cursor_position((inner.x.saturating_add(at(column)), inner.y.saturating_add(at(row - skipped))));
    }
}
