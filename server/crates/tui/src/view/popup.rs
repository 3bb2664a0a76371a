//! The commands that fit what is typed, above the last line: what each does, and why it does nothing now.

use commands::Offer;
use ratatui::{
    Frame,
    layout::Rect,
    style::Stylize,
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use crate::{
    model::Model,
    update::{choice, offers},
    wrap::{fit, padded},
};

/// So many are shown at once; the choice is among them.
const ROWS_MAX: u16 = 8;
/// Columns of the command and its argument.
const WORD_WIDTH: usize = 18;

pub(super) fn draw(model: &Model, frame: &mut Frame<'_>, body: Rect) {
    let offers = offers(model);
    let height = u16::try_from(offers.len()).unwrap_or(ROWS_MAX).min(ROWS_MAX).min(body.height);
    if height == 0 {
        return;
    }
    let area = Rect { y: body.bottom() - height, height, ..body };
    let chosen = choice(model, &offers);
    let skipped = (chosen + 1).saturating_sub(height.into());
    let shown = offers.iter().enumerate().skip(skipped).take(height.into());
    let lines: Vec<_> = shown.map(|(index, offer)| line(offer, index == chosen, area.width.into())).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

fn line(offer: &Offer, is_chosen: bool, width: usize) -> Line<'static> {
    let word = padded(&format!(":{} {}", offer.line, offer.argument), WORD_WIDTH);
    let room = width.saturating_sub(WORD_WIDTH + 3);
    let mark = if is_chosen { "▸ " } else { "  " };
    let line = match offer.refusal {
        None => {
            Line::from(vec![Span::raw(mark), Span::raw(word).bold(), Span::raw(" "), Span::raw(fit(&offer.what, room))])
        }
        Some(refusal) => {
            let words = format!("({refusal}) {}", offer.what);
            Line::from(vec![Span::raw(mark), Span::raw(word), Span::raw(" "), Span::raw(fit(&words, room)).italic()])
                .dim()
        }
    };
    if is_chosen { line.reversed() } else { line }
}
