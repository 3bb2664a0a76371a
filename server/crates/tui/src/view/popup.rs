//! Completions: commands above the last line, each with its description or why it is unavailable; files above the
//! message.

use commands::Offer;
use protocol::{AgentChoice, McpResource};
use ratatui::{
    Frame,
    layout::Rect,
    style::Stylize,
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::entry;
use crate::{
    making,
    model::{LineOf, Model, Naming},
    offering::{choice, offers},
    wrap::{fit, padded, printable, width_of},
};

/// At most this many are shown at once, including the chosen one.
const ROWS_MAX: u16 = 8;
/// Minimum columns of the command and its argument.
const WORD_WIDTH: usize = 18;
/// Minimum columns of a file's name.
const FILE_WIDTH: usize = 28;

pub(super) fn draw(model: &Model, frame: &mut Frame<'_>, body: Rect) {
    let offers = offers(model);
    let is_pattern = model.line.as_ref().is_some_and(|line| line.what == LineOf::Always);
    let word = |offer: &Offer| if is_pattern { printable(&offer.line) } else { word(offer) };
    // The descriptions are aligned in one column that is wide enough.
    let longest = offers.iter().map(|offer| width_of(&word(offer))).max().unwrap_or_default();
    let width = usize::from(body.width);
    let column = longest.clamp(WORD_WIDTH, WORD_WIDTH.max(width / 2));
    draw_rows(frame, body, offers.len(), choice(model, &offers), |index, is_chosen| {
        line(&word(&offers[index]), &offers[index], is_chosen, column, width)
    });
}

/// The files that match the name after an `@`, or the agent's commands after a `/`, in the rows above the message.
pub(super) fn draw_files(naming: &Naming, frame: &mut Frame<'_>, above: Rect) {
    let Naming { found, resources, commands, chosen, .. } = naming;
    let width = usize::from(above.width);
    draw_rows(frame, above, naming.count(), Some(*chosen), |index, is_chosen| {
        match (commands.get(index), found.get(index)) {
            (Some(command), _) => of_agent(command, is_chosen, width),
            (None, Some(path)) => file(path, is_chosen, width),
            (None, None) => resource(&resources[index - found.len()], is_chosen, width),
        }
    });
}

/// Draws as many rows as fit at the bottom of this area, including the chosen one.
fn draw_rows(
    frame: &mut Frame<'_>,
    area: Rect,
    count: usize,
    chosen: Option<usize>,
    row: impl Fn(usize, bool) -> Line<'static>,
) {
    let height = u16::try_from(count).unwrap_or(ROWS_MAX).min(ROWS_MAX).min(area.height);
    if height == 0 {
        return;
    }
    let area = Rect { y: area.bottom() - height, height, ..area };
    let skipped = chosen.map_or(0, |chosen| (chosen + 1).saturating_sub(height.into()));
    let lines: Vec<_> = (skipped..count).take(height.into()).map(|index| row(index, Some(index) == chosen)).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

/// The same for a resource, with its server and address beside its name. Of a template the beginning is what is typed.
fn resource(resource: &McpResource, is_chosen: bool, width: usize) -> Line<'static> {
    let McpResource { server, uri, name, template, .. } = resource;
    let (name, address) = template.as_ref().map_or((name, uri), |template| (uri, template));
    named(&format!("@{}", printable(name)), &printable(&format!("{server}: {address}")), is_chosen, width)
}

/// A command of the Pod's agent, with what it does.
fn of_agent(command: &AgentChoice, is_chosen: bool, width: usize) -> Line<'static> {
    let about = command.description.as_deref().unwrap_or_default();
    named(&format!("/{}", printable(&command.name)), &printable(about), is_chosen, width)
}

/// `▸ main.rs            src/deep`: the name comes first because it is what you look for.
fn file(path: &str, is_chosen: bool, width: usize) -> Line<'static> {
    let path = printable(path);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
    named(&format!("@{name}"), folder, is_chosen, width)
}

fn named(name: &str, beside: &str, is_chosen: bool, width: usize) -> Line<'static> {
    let word = padded(name, FILE_WIDTH.max(width_of(name)).min(width.saturating_sub(2)));
    let room = width.saturating_sub(width_of(&word) + 3);
    entry(is_chosen, vec![Span::raw(word).bold(), Span::raw(" "), Span::raw(fit(beside, room))])
}

/// What is typed for it; for the settings of a new Pod, only the last one.
fn word(offer: &Offer) -> String {
    match making::last_setting(&offer.line) {
        Some(setting) => setting.to_owned(),
        None => format!(":{} {}", offer.line, offer.argument),
    }
}

fn line(word: &str, offer: &Offer, is_chosen: bool, column: usize, width: usize) -> Line<'static> {
    let word = padded(word, column);
    let room = width.saturating_sub(column + 3);
    match offer.refusal {
        None => entry(is_chosen, vec![Span::raw(word).bold(), Span::raw(" "), Span::raw(fit(&offer.what, room))]),
        Some(refusal) => {
            let words = format!("({refusal}) {}", offer.what);
            entry(is_chosen, vec![Span::raw(word), Span::raw(" "), Span::raw(fit(&words, room)).italic()]).dim()
        }
    }
}
