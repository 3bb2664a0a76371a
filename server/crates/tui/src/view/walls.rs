//! The sandbox between the commands of Pods and the machine, layer by layer.

use commands::said::{NO_COMMANDS, WALLS_ABOUT};
use protocol::{WallItem, WallState};
use ratatui::{
    style::Stylize,
    text::{Line, Span},
};

use crate::{
    model::Walls,
    wrap::{padded, wrap},
};

/// Columns of a layer's name and of its state.
const NAME_WIDTH: usize = 11;
const STATE_WIDTH: usize = 7;

/// All lines of the sheet.
pub(crate) fn lines(walls: &Walls, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some(items) = &walls.items else { return vec![Line::from("Looking …").dim()] };
    if items.is_empty() {
        return vec![Line::from(NO_COMMANDS).dim()];
    }
    let mut lines = Vec::from_iter(wrap(WALLS_ABOUT, width).into_iter().map(|line| Line::from(line).dim()));
    lines.push(Line::default());
    lines.extend(items.iter().flat_map(|item| of_item(item, width)));
    lines
}

/// Its name and state, with the reason beside them over as many lines as needed.
fn of_item(item: &WallItem, width: usize) -> Vec<Line<'static>> {
    let why = item.detail.as_deref().unwrap_or_default();
    let room = width.saturating_sub(NAME_WIDTH + STATE_WIDTH + 2).max(1);
    let name = Span::raw(padded(item.wall.as_str(), NAME_WIDTH));
    let state = Span::raw(padded(item.state.as_str(), STATE_WIDTH));
    let state = if item.state == WallState::On { state } else { state.bold() };
    let mut whys = wrap(why, room).into_iter();
    let first = whys.next().unwrap_or_default();
    let first = Line::from(vec![name, Span::raw(" "), state, Span::raw(" "), Span::raw(first)]);
    let indent = " ".repeat(NAME_WIDTH + STATE_WIDTH + 2);
    std::iter::once(first).chain(whys.map(|line| Line::from(format!("{indent}{line}")))).collect()
}
