//! Parses a program's output into styled spans. Escape sequences that move the cursor, clear the screen or query the
//! terminal are dropped.
//!
//! A carriage return starts the line over, so only the last state of a progress bar is left.

use serde::{Deserialize, Serialize};

/// The style of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Style {
    /// 0 to 7, and 8 to 15 for the bright ones; `None` for the surrounding colour. Colours beyond these are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<u8>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
}

/// Text in one style; may contain line breaks and tabs but no other control characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

/// The output as spans of different styles.
pub fn parse(output: &str) -> Vec<Span> {
    let mut screen = Screen::default();
    let mut letters = output.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => escape(&mut letters, &mut screen.style),
            '\u{9b}' => control_sequence(&mut letters, &mut screen.style),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => control_string(&mut letters),
            '\r' if letters.peek() != Some(&'\n') => screen.is_returned = true,
            '\n' => screen.end_line(),
            '\t' => screen.put('\t'),
            control if control.is_control() => (),
            letter => screen.put(letter),
        }
    }
    screen.end()
}

/// The output without styles.
pub fn strip(output: &str) -> String {
    parse(output).into_iter().map(|span| span.text).collect()
}

/// Splits parsed output before its last lines, at most `count` of them.
pub fn split_end(spans: Vec<Span>, count: usize) -> (Vec<Span>, Vec<Span>) {
    let breaks = spans.iter().map(|span| span.text.matches('\n').count()).sum::<usize>();
    let Some(mut above) = (breaks + 1).checked_sub(count).filter(|above| *above > 0) else {
        return (Vec::new(), spans);
    };
    let (mut before, mut end) = (Vec::new(), Vec::new());
    for span in spans {
        let here = span.text.matches('\n').count();
        if above == 0 {
            end.push(span);
        } else if here < above {
            above -= here;
            before.push(span);
        } else {
            let at = span.text.match_indices('\n').nth(above - 1).map_or(span.text.len(), |(at, _)| at + 1);
            above = 0;
            let (head, tail) = span.text.split_at(at);
            before.push(Span { text: head.to_owned(), style: span.style });
            if !tail.is_empty() {
                end.push(Span { text: tail.to_owned(), style: span.style });
            }
        }
    }
    (before, end)
}

#[derive(Default)]
struct Screen {
    done: Vec<Span>,
    /// Where the current line begins in `done`: span, and byte within it.
    line: (usize, usize),
    /// Whether the next character starts the line over.
    is_returned: bool,
    style: Style,
}

impl Screen {
    fn put(&mut self, letter: char) {
        if std::mem::take(&mut self.is_returned) {
            self.clear_line();
        }
        match self.done.last_mut() {
            Some(span) if span.style == self.style => span.text.push(letter),
            _ => self.done.push(Span { text: letter.into(), style: self.style }),
        }
    }

    fn clear_line(&mut self) {
        let (span, byte) = self.line;
        self.done.truncate(span + 1);
        if let Some(span) = self.done.get_mut(span) {
            span.text.truncate(byte);
        }
        self.done.pop_if(|span| span.text.is_empty());
    }

    fn end_line(&mut self) {
        self.is_returned = false;
        // A line break has no style: it joins the span before it.
        match self.done.last_mut() {
            Some(span) => span.text.push('\n'),
            None => self.done.push(Span { text: "\n".to_owned(), style: self.style }),
        }
        self.line = (self.done.len() - 1, self.done.last().map_or(0, |span| span.text.len()));
    }

    fn end(self) -> Vec<Span> {
        self.done
    }
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn escape(letters: &mut Letters<'_>, style: &mut Style) {
    match letters.next_if(|letter| *letter != '\n') {
        Some('[') => control_sequence(letters, style),
        Some('P' | 'X' | ']' | '^' | '_') => control_string(letters),
        // The others are intermediate characters and one final character.
        Some(' '..='/') => {
            while letters.next_if(|letter| matches!(letter, ' '..='/')).is_some() {}
            letters.next_if(|letter| matches!(letter, '0'..='~'));
        }
        _ => (),
    }
}

/// `CSI parameters intermediates final`; only `m` has a meaning here.
fn control_sequence(letters: &mut Letters<'_>, style: &mut Style) {
    let mut parameters = String::new();
    while let Some(letter) = letters.next_if(|letter| matches!(letter, ' '..='?')) {
        parameters.push(letter);
    }
    if letters.next_if(|letter| matches!(letter, '@'..='~')) == Some('m') {
        set_style(&parameters, style);
    }
}

/// A title, link or picture: up to its terminator, or to the end of the line if that is missing.
fn control_string(letters: &mut Letters<'_>) {
    while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
        match letter {
            '\x07' | '\u{9c}' => return,
            '\x1b' => {
                letters.next_if_eq(&'\\');
                return;
            }
            _ => (),
        }
    }
}

fn set_style(parameters: &str, style: &mut Style) {
    if !parameters.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':')) {
        return;
    }
    let mut groups = parameters.split(';');
    while let Some(group) = groups.next() {
        let mut parts = group.split(':').map(|number| number.parse::<u8>().unwrap_or(0));
        match parts.next().unwrap_or(0) {
            0 => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            3 => style.italic = true,
            4 => style.underline = parts.next() != Some(0),
            21 => style.underline = true,
            22 => (style.bold, style.dim) = (false, false),
            23 => style.italic = false,
            24 => style.underline = false,
            code @ 30..=37 => style.color = Some(code - 30),
            code @ 90..=97 => style.color = Some(code - 82),
            39 => style.color = None,
            // With colons the colour is in the same group, with semicolons in the groups that follow.
            38 if group.contains(':') => style.color = extended_color(parts),
            38 => style.color = extended_color(groups.by_ref().map(|number| number.parse().unwrap_or(0))),
            48 | 58 if !group.contains(':') => {
                extended_color(groups.by_ref().map(|number| number.parse().unwrap_or(0)));
            }
            _ => (),
        }
    }
}

/// Reads `5;n` or `2;r;g;b` and no further.
fn extended_color(mut numbers: impl Iterator<Item = u8>) -> Option<u8> {
    match numbers.next()? {
        5 => numbers.next().filter(|color| *color < 16),
        2 => {
            numbers.nth(2);
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn span(text: &str, style: Style) -> Span {
        Span { text: text.to_owned(), style }
    }

    #[test]
    fn colours_and_weights_become_spans() {
        let red = Style { color: Some(1), bold: true, ..Style::default() };
        let plain = Style::default();
        assert_eq!(parse("a\x1b[1;31mb\x1b[0mc"), vec![span("a", plain), span("b", red), span("c", plain)]);
        let bright = Style { color: Some(10), underline: true, ..plain };
        assert_eq!(parse("\x1b[92;4mx"), vec![span("x", bright)]);
        assert_eq!(
            parse("\x1b[38;5;3mx\x1b[38;2;1;1;1my\x1b[m"),
            vec![span("x", Style { color: Some(3), ..plain }), span("y", plain)]
        );
        assert_eq!(parse("\x1b[48;5;1;3mx"), vec![span("x", Style { italic: true, ..plain })]);
        assert_eq!(parse("\x1b[38:5:4mx"), vec![span("x", Style { color: Some(4), ..plain })]);
    }

    #[test]
    fn every_other_sequence_is_dropped() {
        for (output, text) in [
            ("a\x1b[2J\x1b[1;1Hb", "ab"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;https://a.b\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b]0;no end\nnext", "\nnext"),
            ("\x1b(Bx\x1b=y\x1b[?25lz", "xyz"),
            ("bell\x07 back\x08 nul\0", "bell back nul"),
            ("\u{9b}31mx", "x"),
            ("half \x1b[3", "half "),
            ("tab\tline\r\nnext", "tab\tline\nnext"),
        ] {
            assert_eq!(strip(output), text, "{output:?}");
        }
    }

    #[test]
    fn the_last_lines_are_split_off_with_their_colours() {
        let (text, styles) = ("a\nb\x1b[31mc\nd\x1b[m\ne", |spans: &[Span]| {
            spans.iter().map(|span| (span.text.clone(), span.style.color)).collect::<Vec<_>>()
        });
        let split = |count| {
            let (before, end) = split_end(parse(text), count);
            (styles(&before), styles(&end))
        };
        let piece = |text: &str, color| (text.to_owned(), color);
        let red = Some(1);
        assert_eq!(split(4), (vec![], styles(&parse(text))));
        assert_eq!(split(2), (vec![piece("a\nb", None), piece("c\n", red)], vec![piece("d\n", red), piece("e", None)]));
        assert_eq!(split(1).1, vec![piece("e", None)]);
        assert_eq!(split_end(Vec::new(), 3), (vec![], vec![]));
    }

    #[test]
    fn a_carriage_return_begins_the_line_anew() {
        assert_eq!(strip("ok\n10%\r20%\r100%\nend"), "ok\n100%\nend");
        assert_eq!(strip("\x1b[31m10%\x1b[32m..\r\x1b[0mdone\n"), "done\n");
        assert_eq!(strip("kept\r"), "kept");
        assert_eq!(strip("a\n\x1b[1mb\rc"), "a\nc");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_control_character_is_left(output in "([\\x00-\\x7f\u{80}-\u{a5}é]|\x1b[\\[\\]P]?[0-9;:?]{0,5}[mKHh]?){0,60}") {
            let spans = parse(&output);
            let is_clean = |letter: char| matches!(letter, '\n' | '\t') || !letter.is_control();
            prop_assert!(spans.iter().all(|span| span.text.chars().all(is_clean)), "{spans:?}");
            prop_assert!(spans.windows(2).all(|pair| pair[0].style != pair[1].style));
            prop_assert!(spans.iter().all(|span| !span.text.is_empty()));
        }
    }
}
