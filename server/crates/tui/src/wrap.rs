//! Text to lines that fit.

use ratatui::text::Span;

/// How many columns a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    Span::raw(text).width()
}

/// Breaks at line ends and between words; a word that is too long is broken where it has to be. Control characters
/// are shown as replaced, tabs as four spaces. Always at least one line.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    text.split('\n').flat_map(|line| wrap_line(&printable(line), width)).collect()
}

/// What may be drawn: an escape sequence in a Pod's text must not reach the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\t' => clean.push_str("    "),
            '\r' => {}
            char if char.is_control() => clean.push('\u{fffd}'),
            char => clean.push(char),
        }
    }
    clean
}

/// The beginning of a text on one line, marked when it is cut.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let line = printable(&text.replace('\n', " "));
    if width_of(&line) <= width {
        return line;
    }
    let mut cut = String::new();
    for char in line.chars() {
        if width_of(&cut) + width_of(char.encode_utf8(&mut [0; 4])) + 1 > width {
            break;
        }
        cut.push(char);
    }
    cut.push('…');
    cut
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let visible = width_of(word.trim_end_matches(' '));
        if used > 0 && used + visible > width {
            lines.push(String::new());
            used = 0;
        }
        for char in word.chars() {
            let wide = width_of(char.encode_utf8(&mut [0; 4]));
            if used + wide > width {
                if char == ' ' {
                    continue;
                }
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().expect("there is always a line").push(char);
            used += wide;
        }
    }
    lines
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
    }
}
