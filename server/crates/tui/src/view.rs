//! Draws the model. Reads it only.

mod blocks;
mod dashboard;
mod pod;
mod status;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
};

pub(crate) use self::blocks::block_lines;
use crate::{
    model::{Model, OpenPod},
    wrap::wrap,
};

/// The composer grows with its text up to this.
const COMPOSER_ROWS_MAX: usize = 8;

pub(crate) fn draw(model: &Model, frame: &mut Frame) {
    let [body, status] = rows(frame.area());
    match &model.open {
        None => dashboard::draw(model, frame, body),
        Some(open) => pod::draw(model, open, frame, body),
    }
    status::draw(model, frame, status);
}

fn rows(area: Rect) -> [Rect; 2] {
    Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(area)
}

/// Heading, transcript and composer of a Pod.
fn pod_areas(open: &OpenPod, body: Rect) -> [Rect; 3] {
    let text_rows = wrap(open.composer.text(), composer_width(body)).len().min(COMPOSER_ROWS_MAX);
    let composer = u16::try_from(text_rows + 2).unwrap_or(3);
    Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(composer)]).areas(body)
}

/// Without the border, and with room for the cursor behind the last character.
fn composer_width(body: Rect) -> usize {
    usize::from(body.width.saturating_sub(3)).max(1)
}

/// Where the transcript is drawn: scrolling has to know what fits.
pub(crate) fn transcript_area(model: &Model) -> Rect {
    let [body, _] = rows(Rect::new(0, 0, model.size.0, model.size.1));
    match &model.open {
        Some(open) => pod_areas(open, body)[1],
        None => body,
    }
}
