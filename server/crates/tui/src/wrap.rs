//! Fits text into lines.

use ratatui::{style::Style, text::Span};
use transcript::unseen;

/// The width of a text in columns.
pub(crate) fn width_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// Truncates or pads with spaces to exactly `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(width_of(&text));
    format!("{text}{}", " ".repeat(missing))
}

/// Wraps at line ends and between words; a word that is too long is broken. Control characters are replaced, tabs
/// become four spaces. Returns at least one line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    text.split('\n').flat_map(|line| wrap_line(&printable(line), width)).collect()
}

/// Makes a text safe to draw: an escape sequence in a Pod's text must not reach the terminal, and characters that
/// change the text direction are made visible.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in unseen::shown(text).chars() {
        match char {
            '\t' => clean.push_str("    "),
            '\r' => {}
            char if char.is_control() => clean.push('\u{fffd}'),
            char => clean.push(char),
        }
    }
    clean
}

/// The beginning of a text as one line, with a mark if it is truncated.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let line = printable(&text.replace('\n', " "));
    if width_of(&line) <= width {
        return line;
    }
    let mut cut = String::new();
    let mut used = 1;
    for char in line.chars() {
        used += char_width(char);
        if used > width {
            break;
        }
        cut.push(char);
    }
    cut.push('…');
    cut
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let words = [Span::raw(line)];
    let text = |line: Vec<Span<'static>>| line.into_iter().map(|span| span.content.into_owned()).collect();
    wrap_styled(&words, width).into_iter().map(text).collect()
}

/// Like [`wrap`], for one line in several styles. The spans must contain no line ends and nothing unprintable.
pub(crate) fn wrap_styled(spans: &[Span<'_>], width: usize) -> Vec<Vec<Span<'static>>> {
    let width = width.max(1);
    let letters: Vec<(char, Style)> =
        spans.iter().flat_map(|span| span.content.chars().map(|char| (char, span.style))).collect();
    let mut lines = Lines { done: Vec::new(), line: Vec::new(), used: 0, width };
    for word in letters.split_inclusive(|(char, _)| *char == ' ') {
        let visible: usize = word.iter().filter(|(char, _)| *char != ' ').map(|(char, _)| char_width(*char)).sum();
        if lines.used > 0 && lines.used + visible > width {
            lines.end();
        }
        word.iter().for_each(|(char, style)| lines.put(*char, *style));
    }
    lines.end();
    lines.done
}

struct Lines {
    done: Vec<Vec<Span<'static>>>,
    line: Vec<(String, Style)>,
    used: usize,
    width: usize,
}

impl Lines {
    fn put(&mut self, char: char, style: Style) {
        let wide = char_width(char);
        if self.used + wide > self.width {
            // The line breaks at a space at the edge.
            if char == ' ' {
                return;
            }
            self.end();
        }
        match self.line.last_mut() {
            Some((text, of)) if *of == style => text.push(char),
            _ => self.line.push((char.into(), style)),
        }
        self.used += wide;
    }

    fn end(&mut self) {
        self.used = 0;
        self.done.push(self.line.drain(..).map(|(text, style)| Span::styled(text, style)).collect());
    }
}

fn char_width(char: char) -> usize {
    if char.is_ascii() { 1 } else { width_of(char.encode_utf8(&mut [0; 4])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_inside_those_that_do_not_fit() {
        let table = [
            ("", 5, vec![""]),
            ("one two three", 7, vec!["one two", "three"]),
            ("one two", 3, vec!["one", "two"]),
            ("abcdefgh", 3, vec!["abc", "def", "gh"]),
            ("漢字漢", 4, vec!["漢字", "漢"]),
            ("a\n\nb", 9, vec!["a", "", "b"]),
            ("  in  deep", 9, vec!["  in  ", "deep"]),
        ];
        for (text, width, expected) in table {
            assert_eq!(wrap(text, width), expected, "{text:?} in {width}");
        }
    }

    #[test]
    fn a_cut_line_is_marked_and_escapes_are_shown_and_not_obeyed() {
        assert_eq!(fit("one two", 5), "one …");
        assert_eq!(fit("a\u{1b}[2J\nb", 20), "a\u{fffd}[2J b");
        assert_eq!(fit("a\u{9b}2J\u{7f}", 20), "a\u{fffd}2J\u{fffd}");
        assert_eq!(fit("x\u{202e}sh.txt", 20), "x[U+202E]sh.txt");
    }
}
