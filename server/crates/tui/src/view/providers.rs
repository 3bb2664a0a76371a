//! The providers: whether each is usable, where its key comes from, and how to add what is missing.

use protocol::{ProviderTest, ProviderView, UnconfiguredProvider};
use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::words::model_words;

use super::entry;
use crate::{
    making::standing,
    model::{Choices, ProviderSheet},
    wrap::{padded, wrap},
};

/// Columns of a provider's name.
const NAME_WIDTH: usize = 14;
/// How many models of the selected provider are listed with their facts.
const MODELS_MAX: usize = 12;
const INDENT: &str = "      ";

const ABOUT: &str = "Keys come from here, from the environment or from the configuration. One that is given here is tried at \
    once, kept on the server for its owner alone, and never shown.";

/// All lines, each with the index of its provider.
pub(super) fn lines(choices: Option<&Choices>, sheet: &ProviderSheet, width: usize) -> Vec<(usize, Line<'static>)> {
    let Some(choices) = choices else { return vec![(0, Line::from("Looking …").dim())] };
    let mut lines: Vec<_> = wrap(ABOUT, width).into_iter().map(|line| (0, Line::from(line).dim())).collect();
    lines.push((0, Line::default()));
    let count = choices.providers.len();
    for (index, provider) in choices.providers.iter().enumerate() {
        lines.extend(of_provider(provider, sheet, index, width).into_iter().map(|line| (index, line)));
    }
    for (index, provider) in choices.unconfigured.iter().enumerate().map(|(index, one)| (index + count, one)) {
        lines.extend(of_missing(provider, index == sheet.selected, width).into_iter().map(|line| (index, line)));
    }
    lines
}

fn of_provider(provider: &ProviderView, sheet: &ProviderSheet, index: usize, width: usize) -> Vec<Line<'static>> {
    let is_chosen = index == sheet.selected;
    let (mark, style) = match provider.missing {
        None => ("✓", Style::new().fg(Color::Green)),
        Some(_) => ("!", Style::new().fg(Color::Yellow)),
    };
    let usual = if provider.default { "default · " } else { "" };
    let models = match provider.models.as_slice() {
        _ if provider.missing.is_some() => String::new(),
        [] => " · any model name".to_owned(),
        [one] => format!(" · {}", one.name),
        [first, rest @ ..] => format!(" · {} and {} more", first.name, rest.len()),
    };
    let mut whats = wrap(&format!("{usual}{}{models}", standing(provider)), room(width)).into_iter();
    let first = whats.next().unwrap_or_default();
    let spans = vec![
        Span::styled(mark, style),
        Span::raw(" "),
        Span::raw(padded(&provider.name, NAME_WIDTH)).bold(),
        Span::raw(" "),
        Span::raw(first),
    ];
    let mut lines = vec![entry(is_chosen, spans)];
    lines.extend(whats.map(beneath));
    if let Some((_, test)) = sheet.tests.iter().find(|(name, _)| *name == provider.name) {
        lines.extend(tested(test.as_ref(), width));
    }
    if is_chosen {
        let shown = provider.models.iter().take(MODELS_MAX).map(|model| {
            let words = [model.name.clone(), model_words(&model.facts)];
            words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ")
        });
        let hidden = provider.models.len().saturating_sub(MODELS_MAX);
        let more = (hidden > 0).then(|| format!("… and {hidden} more; `yoi models` lists them"));
        for words in shown.chain(more) {
            lines.extend(
                wrap(&words, width.saturating_sub(INDENT.len()))
                    .into_iter()
                    .map(|line| Line::from(format!("{INDENT}{line}")).dim()),
            );
        }
    }
    lines
}

fn of_missing(provider: &UnconfiguredProvider, is_chosen: bool, width: usize) -> Vec<Line<'static>> {
    let mut whats = wrap(&format!("not configured: {}", provider.missing), room(width)).into_iter();
    let first = whats.next().unwrap_or_default();
    let name = format!("– {} {first}", padded(&provider.kind, NAME_WIDTH));
    std::iter::once(entry(is_chosen, vec![Span::raw(name)])).chain(whats.map(beneath)).collect()
}

/// The result of a test made here.
fn tested(test: Option<&ProviderTest>, width: usize) -> Vec<Line<'static>> {
    let (words, style) = match test {
        None => ("testing, up to 10 s …".to_owned(), Style::new()),
        Some(test) if test.is_ok => (
            format!("✓ works: answered in {} ms with {} models", test.took_ms, test.models),
            Style::new().fg(Color::Green),
        ),
        Some(test) => {
            let code = test.code.as_deref().unwrap_or("failed").replace('_', " ");
            let detail = test.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            (format!("✕ {code}{detail}"), Style::new().fg(Color::Red))
        }
    };
    let lines = wrap(&words, room(width));
    lines.into_iter().map(|line| beneath(line).style(style)).collect()
}

fn beneath(line: String) -> Line<'static> {
    Line::from(format!("{}{line}", " ".repeat(NAME_WIDTH + 5)))
}

fn room(width: usize) -> usize {
    width.saturating_sub(NAME_WIDTH + 5)
}
