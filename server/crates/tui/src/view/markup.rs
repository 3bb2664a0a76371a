//! Markdown as lines: the same tree as in the browser, drawn with weight, marks and indentation.

use ratatui::{
    style::{Color, Style, Stylize},
    text::{Line, Span},
};
use transcript::markup::{Inline, ListItem, MarkupBlock, inline_text, parse};

use crate::wrap::{padded, printable, width_of, wrap, wrap_styled};

/// If columns would be narrower than this, a table is drawn cell by cell as text.
const CELL_WIDTH_MIN: usize = 6;

/// Renders Markdown as lines; at least one.
pub(super) fn lines(text: &str, width: usize) -> Vec<Line<'static>> {
    let lines = blocks(&parse(text), width.max(1));
    if lines.is_empty() { vec![Line::default()] } else { lines }
}

/// Blocks, separated by an empty line.
fn blocks(blocks: &[MarkupBlock], width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            lines.push(Line::default());
        }
        lines.extend(block_lines(block, width));
    }
    lines
}

fn block_lines(block: &MarkupBlock, width: usize) -> Vec<Line<'static>> {
    match block {
        MarkupBlock::Paragraph(content) => paragraph(content, Style::new(), width),
        MarkupBlock::Heading { level, content } => {
            let style = if *level <= 2 { Style::new().bold().underlined() } else { Style::new().bold() };
            paragraph(content, style, width)
        }
        MarkupBlock::List { start, items } => list(*start, items, width),
        MarkupBlock::Code { text, .. } => {
            let line = |line: String| {
                Line::from(vec![Span::raw("│ ").dim(), Span::styled(line, Style::new().fg(Color::Cyan))])
            };
            wrap(text, width.saturating_sub(2)).into_iter().map(line).collect()
        }
        MarkupBlock::Quote(content) => prefixed(blocks(content, width.saturating_sub(2)), "▏ ", "▏ "),
        MarkupBlock::Table { head, rows, .. } => table(head, rows, width),
        MarkupBlock::Footnote { name, content } => {
            let mark = format!("[{name}] ");
            let indent = width_of(&mark);
            prefixed(blocks(content, width.saturating_sub(indent).max(1)), &mark, &" ".repeat(indent))
        }
        MarkupBlock::Rule => vec![Line::from("─".repeat(width.min(40))).dim()],
    }
}

fn list(start: Option<u64>, items: &[ListItem], width: usize) -> Vec<Line<'static>> {
    let is_loose = items.iter().any(|item| item.content.len() > 1 && item.content.iter().all(is_paragraph));
    let mut lines = Vec::new();
    for (item, number) in items.iter().zip(start.unwrap_or(0)..) {
        let mark = match (start, item.checked) {
            (_, Some(true)) => "[x] ".to_owned(),
            (_, Some(false)) => "[ ] ".to_owned(),
            (Some(_), None) => format!("{number}. "),
            (None, None) => "• ".to_owned(),
        };
        if is_loose && !lines.is_empty() {
            lines.push(Line::default());
        }
        let indent = width_of(&mark);
        let inner = width.saturating_sub(indent).max(1);
        let content: Vec<_> = item.content.iter().flat_map(|block| block_lines(block, inner)).collect();
        lines.extend(prefixed(content, &mark, &" ".repeat(indent)));
    }
    lines
}

fn is_paragraph(block: &MarkupBlock) -> bool {
    matches!(block, MarkupBlock::Paragraph(_))
}

fn prefixed(lines: Vec<Line<'static>>, first: &str, rest: &str) -> Vec<Line<'static>> {
    let lines = if lines.is_empty() { vec![Line::default()] } else { lines };
    lines
        .into_iter()
        .enumerate()
        .map(|(index, mut line)| {
            line.spans.insert(0, Span::raw(if index == 0 { first.to_owned() } else { rest.to_owned() }));
            line
        })
        .collect()
}

fn paragraph(content: &[Inline], style: Style, width: usize) -> Vec<Line<'static>> {
    let mut lines: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    spans(content, style, &mut lines);
    lines.into_iter().flat_map(|spans| wrap_styled(&spans, width)).map(Line::from).collect()
}

/// Appends to the last line; a line break begins another one.
fn spans(content: &[Inline], style: Style, lines: &mut Vec<Vec<Span<'static>>>) {
    for inline in content {
        let mut put = |text: &str, style: Style| {
            for (index, text) in text.split('\n').enumerate() {
                if index > 0 {
                    lines.push(Vec::new());
                }
                if let Some(line) = lines.last_mut() {
                    line.push(Span::styled(printable(text), style));
                }
            }
        };
        match inline {
            Inline::Text(text) => put(text, style),
            Inline::Code(text) => put(text, style.fg(Color::Cyan)),
            Inline::Formula(formula) => put(&formula.source.replace('\n', " "), style.fg(Color::Cyan)),
            Inline::Footnote(name) => put(&format!("[{name}]"), style.dim()),
            Inline::SoftBreak => put(" ", style),
            Inline::LineBreak => lines.push(Vec::new()),
            Inline::Emphasis(content) => spans(content, style.italic(), lines),
            Inline::Strong(content) => spans(content, style.bold(), lines),
            Inline::Strikethrough(content) => spans(content, style.crossed_out(), lines),
            Inline::Link { href, content } => {
                let words = inline_text(content);
                spans(content, style.underlined(), lines);
                // Show the destination, unless the words already say it.
                if words != *href && format!("mailto:{words}") != *href {
                    let shown = format!(" ({href})");
                    lines
                        .last_mut()
                        .expect("there is always a line")
                        .push(Span::styled(printable(&shown), style.dim()));
                }
            }
        }
    }
}

fn table(head: &[Vec<Inline>], rows: &[Vec<Vec<Inline>>], width: usize) -> Vec<Line<'static>> {
    let text = |cell: &Vec<Inline>| printable(&inline_text(cell).replace('\n', " "));
    let head: Vec<String> = head.iter().map(text).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(text).collect()).collect();
    let columns = head.len().max(1);
    let room = width.saturating_sub(2 * (columns - 1)) / columns;
    if room < CELL_WIDTH_MIN {
        let cells = |row: &Vec<String>| wrap(&row.join(" · "), width).into_iter().map(Line::from).collect::<Vec<_>>();
        return std::iter::once(&head).chain(&rows).flat_map(cells).collect();
    }
    let widths = widths(&head, &rows, width.saturating_sub(2 * (columns - 1)));
    let line = |row: &Vec<String>| {
        let cells =
            widths.iter().enumerate().map(|(column, width)| padded(row.get(column).map_or("", String::as_str), *width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("  ");
    let mut lines = vec![Line::from(line(&head)).bold(), Line::from(rule).dim()];
    lines.extend(rows.iter().map(|row| Line::from(line(row))));
    lines
}

/// The width of each column: what it needs, with the widest reduced first until all fit.
fn widths(head: &[String], rows: &[Vec<String>], room: usize) -> Vec<usize> {
    let needed = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).chain(head.get(column));
        cells.map(|cell| width_of(cell)).max().unwrap_or_default().max(1)
    };
    let mut widths: Vec<usize> = (0..head.len()).map(needed).collect();
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > 1) else { break };
        *widest -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, width: usize) -> Vec<String> {
        lines(text, width).iter().map(Line::to_string).collect()
    }

    #[test]
    fn paragraphs_lists_quotes_and_code_keep_their_shape() {
        let text = "# Title\n\none *two* `three`\nfour\n\n- a\n  - b\n- [x] c\n\n3. d\n4. e\n\n> said\n\n```rust\nlet a = 1;\n\n  b\n```\n\n---";
        let expected = [
            "Title",
            "",
            "one two three four",
            "",
            "• a",
            "  • b",
            "[x] c",
            "",
            "3. d",
            "4. e",
            "",
            "▏ said",
            "",
            "│ let a = 1;",
            "│ ",
            "│   b",
            "",
            "──────────────────────────────",
        ];
        assert_eq!(drawn(text, 30), expected);
    }

    #[test]
    fn long_items_hang_under_their_beginning_and_links_say_where_they_go() {
        assert_eq!(drawn("- one two three", 9), ["• one two", "  three"]);
        assert_eq!(drawn("[here](https://a.b/) and <https://c.d>", 60), ["here (https://a.b/) and https://c.d"]);
    }

    #[test]
    fn a_table_is_cut_to_the_screen_and_falls_apart_where_it_cannot_be_one() {
        let text = "| name | what |\n| --- | --- |\n| a | something that is long |\n";
        assert_eq!(drawn(text, 40), ["name  what", "────  ──────────────────────", "a     something that is long"]);
        assert_eq!(drawn(text, 18), ["name  what", "────  ────────────", "a     something t…"]);
        assert_eq!(drawn(text, 9)[0], "name · ");
    }

    #[test]
    fn an_escape_in_a_text_is_shown_and_not_obeyed() {
        assert_eq!(drawn("a\u{1b}[31mb", 20), ["a\u{fffd}[31mb"]);
        assert_eq!(drawn("", 20), [""]);
    }
}
