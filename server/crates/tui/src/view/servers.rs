//! The MCP servers whose tools models may call: the state of each, its tools and its last error.

use commands::said::{NO_SERVERS, SERVERS_ABOUT};
use protocol::{McpServerItem, McpServerState};
use ratatui::{
    style::Stylize,
    text::{Line, Span},
};

use crate::{
    model::Servers,
    wrap::{padded, wrap},
};

/// The widths of a server's name and of its state, in columns.
const NAME_WIDTH: usize = 20;
const STATE_WIDTH: usize = 10;

/// Returns all lines of the sheet.
pub(crate) fn lines(servers: &Servers, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let Some(items) = &servers.items else { return vec![Line::from("Looking …").dim()] };
    if items.is_empty() {
        return vec![Line::from(NO_SERVERS).dim()];
    }
    let mut lines = Vec::from_iter(wrap(SERVERS_ABOUT, width).into_iter().map(|line| Line::from(line).dim()));
    lines.push(Line::default());
    lines.extend(items.iter().flat_map(|item| of_item(item, width)));
    lines
}

/// Returns a server's name and state, with its details beside them, wrapped over as many lines as they need.
fn of_item(item: &McpServerItem, width: usize) -> Vec<Line<'static>> {
    let tools = item.tools.as_ref().filter(|tools| !tools.is_empty()).map(|tools| tools.join(", "));
    let words: Vec<_> = [item.detail.clone(), tools].into_iter().flatten().collect();
    let room = width.saturating_sub(NAME_WIDTH + STATE_WIDTH + 2).max(1);
    let name = Span::raw(padded(&item.name, NAME_WIDTH));
    let state = Span::raw(padded(item.state.as_str(), STATE_WIDTH));
    let is_bad = matches!(item.state, McpServerState::Away | McpServerState::Login);
    let state = if is_bad { state.bold() } else { state };
    let mut rest = words.iter().flat_map(|words| wrap(words, room));
    let first = rest.next().unwrap_or_default();
    let first = Line::from(vec![name, Span::raw(" "), state, Span::raw(" "), Span::raw(first)]);
    let indent = " ".repeat(NAME_WIDTH + STATE_WIDTH + 2);
    std::iter::once(first).chain(rest.map(|line| Line::from(format!("{indent}{line}")))).collect()
}
