//! Draws the model, without changing it.

mod agent;
mod bar;
mod blocks;
mod changes;
mod colours;
mod dashboard;
mod diff;
mod help;
mod jobs;
mod markup;
mod output;
mod pod;
mod popup;
mod providers;
mod rows;
mod servers;
mod sheets;
mod tool;
mod walls;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::Stylize,
    text::{Line, Span},
};

pub(crate) use self::{
    agent::lines as agent_lines,
    changes::lines as change_lines,
    colours::Colours,
    dashboard::{FIRST_NAME, shown as dashboard_pods},
    help::lines as help_lines,
    rows::Rows,
    servers::lines as server_lines,
    walls::lines as wall_lines,
};
use crate::model::{Model, OpenPod};

pub(crate) fn draw(model: &Model, colours: Colours, frame: &mut Frame<'_>) {
    let [body, line] = areas(model, frame.area());
    match (&model.sheet, &model.open) {
        (Some(sheet), _) => sheets::draw(model, sheet, frame, body),
        (None, Some(open)) => pod::draw(model, open, frame, body),
        (None, None) => dashboard::draw(model, frame, body),
    }
    popup::draw(model, frame, body);
    bar::draw(model, frame, line);
    colours.apply(frame.buffer_mut());
}

/// A line of a list, marked if it is the chosen one.
fn entry(is_chosen: bool, spans: Vec<Span<'static>>) -> Line<'static> {
    let mark = Span::raw(if is_chosen { "▸ " } else { "  " });
    let line: Line<'static> = std::iter::once(mark).chain(spans).collect();
    if is_chosen { line.reversed() } else { line }
}

/// The same lines, indented.
fn indented(lines: Vec<Line<'static>>, indent: &'static str) -> Vec<Line<'static>> {
    let indented = |mut line: Line<'static>| {
        line.spans.insert(0, Span::raw(indent));
        line
    };
    lines.into_iter().map(indented).collect()
}

/// Splits the screen into the body and the last line, which grows with its text.
fn areas(model: &Model, area: Rect) -> [Rect; 2] {
    let rows = bar::rows(model, area.width).min(area.height.saturating_sub(1)).max(1);
    Layout::vertical([Constraint::Min(0), Constraint::Length(rows)]).areas(area)
}

/// The area of the transcript, which scrolling needs too.
pub(crate) fn transcript_area(model: &Model) -> Rect {
    let [body, _] = areas(model, Rect::new(0, 0, model.size.0, model.size.1));
    match &model.open {
        Some(open) => pod_areas(open, body).transcript,
        None => body,
    }
}

/// The parts of a Pod's screen.
struct PodAreas {
    heading: Rect,
    transcript: Rect,
    queue: Rect,
    composer: Rect,
}

fn pod_areas(open: &OpenPod, body: Rect) -> PodAreas {
    let [heading, transcript, queue, composer] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(1),
        Constraint::Length(pod::queue_rows(open, body.width)),
        Constraint::Length(pod::composer_rows(open, body.width)),
    ])
    .areas(body);
    PodAreas { heading, transcript, queue, composer }
}
