//! Text from programs and other Pods below the head of a call: in its colours, indented, limited in length.

use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::ansi;

use super::blocks::Look;
use crate::{
    model::Detail,
    wrap::{printable, width_of, wrap, wrap_styled},
};

/// Which part of an output is shown if not all of it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Beginning,
    /// Where an error stands.
    End,
}

/// A program's output in its colours, one line each.
pub(super) fn output_lines(output: &str, count: usize, part: Part, look: Look) -> Vec<Line<'static>> {
    if count == 0 {
        return Vec::new();
    }
    let mut lines: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    for span in ansi::parse(output.trim_end_matches('\n')) {
        for (index, text) in span.text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
                line.push(Span::styled(printable(text), style_of(span.style)));
            }
        }
    }
    lines.retain(|line| !line.is_empty() || look.detail == Detail::Full);
    let lines = lines.into_iter().flat_map(|line| output_line(line, look)).collect();
    match part {
        Part::Beginning => limited(lines, count),
        Part::End => limited_to_end(lines, count),
    }
}

/// Truncated at the edge; wrapped at full detail.
fn output_line(spans: Vec<Span<'static>>, look: Look) -> Vec<Line<'static>> {
    let mut wrapped = wrap_styled(&spans, look.width.saturating_sub(3));
    let is_cut = wrapped.len() > 1 && look.detail != Detail::Full;
    if is_cut {
        wrapped.truncate(1);
    }
    let line = |mut spans: Vec<Span<'static>>| {
        spans.insert(0, Span::raw("  "));
        spans.extend(is_cut.then(|| Span::raw("…")));
        Line::from(spans)
    };
    wrapped.into_iter().map(line).collect()
}

fn style_of(style: ansi::Style) -> Style {
    let mut drawn = Style::new();
    if let Some(color) = style.color {
        drawn = drawn.fg(Color::Indexed(color));
    }
    for (is_on, apply) in [
        (style.bold, Style::bold as fn(Style) -> Style),
        (style.dim, Style::dim),
        (style.italic, Style::italic),
        (style.underline, Style::underlined),
    ] {
        if is_on {
            drawn = apply(drawn);
        }
    }
    drawn
}

/// The lines of a text with a mark before each; continuation lines are indented by spaces.
pub(super) fn indented(text: &str, mark: &str, look: Look) -> Vec<Line<'static>> {
    let (indent, width) = (" ".repeat(width_of(mark)), look.width.saturating_sub(width_of(mark)));
    let line = |line: &str| {
        let wrapped = wrap(line, width).into_iter().enumerate();
        let lines =
            wrapped.map(|(index, text)| Line::from(format!("{}{text}", if index == 0 { mark } else { &indent })));
        lines.collect::<Vec<_>>()
    };
    text.lines().flat_map(line).collect()
}

/// The first `count` lines, and how many more there are. Nothing at all for a count of zero.
pub(super) fn limited(lines: Vec<Line<'static>>, count: usize) -> Vec<Line<'static>> {
    let hidden = lines.len().saturating_sub(count);
    let mut lines: Vec<_> = lines.into_iter().take(count).collect();
    lines.extend(left_out(hidden, "more").filter(|_| count > 0));
    lines
}

/// Like [`limited`], but keeps the last lines.
fn limited_to_end(lines: Vec<Line<'static>>, count: usize) -> Vec<Line<'static>> {
    let hidden = lines.len().saturating_sub(count);
    left_out(hidden, "earlier").filter(|_| count > 0).into_iter().chain(lines.into_iter().skip(hidden)).collect()
}

fn left_out(count: usize, which: &str) -> Option<Line<'static>> {
    let lines = if count == 1 { "line" } else { "lines" };
    (count > 0).then(|| Line::from(format!("  … {count} {which} {lines}")).dim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_program_are_kept_and_its_other_escapes_are_not() {
        let look = Look { width: 40, detail: Detail::Full };
        let lines = output_lines("\u{1b}[31mred\u{1b}[0m plain\u{1b}[2J\n\nend\n", 10, Part::Beginning, look);
        assert_eq!(lines.iter().map(Line::to_string).collect::<Vec<_>>(), ["  red plain", "  ", "  end"]);
        assert_eq!(lines[0].spans[1].style.fg, Some(Color::Indexed(1)));
    }

    #[test]
    fn an_output_that_is_too_long_shows_its_beginning_or_its_end() {
        let look = Look { width: 40, detail: Detail::Normal };
        let shown = |part| output_lines("1\n2\n3\n4\n", 2, part, look).iter().map(Line::to_string).collect::<Vec<_>>();
        assert_eq!(shown(Part::Beginning), ["  1", "  2", "  … 2 more lines"]);
        assert_eq!(shown(Part::End), ["  … 2 earlier lines", "  3", "  4"]);
    }
}
