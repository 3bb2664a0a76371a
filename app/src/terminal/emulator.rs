//! The screen of a terminal: what was printed, as rows of pieces with classes. Pure.

use std::num::NonZeroU16;

use protocol::TerminalSize;
use vt100::{Callbacks, Cell, Color, Parser, Screen};

use super::typing::Modes;

/// How many lines above the screen are kept.
const SCROLLBACK_MAX: usize = 1_000;
/// The most bytes that the screen answers to what was printed at once.
const REPLY_BYTES_MAX: usize = 1_024;

/// The 16 colours, as terminals usually mix them; others are drawn as the nearest of these, because a theme may change
/// these and has to keep them readable.
const COLOURS: [[u8; 3]; 16] = [
    [0, 0, 0],
    [205, 0, 0],
    [0, 205, 0],
    [205, 205, 0],
    [0, 0, 238],
    [205, 0, 205],
    [0, 205, 205],
    [229, 229, 229],
    [127, 127, 127],
    [255, 0, 0],
    [0, 255, 0],
    [255, 255, 0],
    [92, 92, 255],
    [255, 0, 255],
    [0, 255, 255],
    [255, 255, 255],
];

/// A piece of a row in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) text: String,
    /// CSS classes; empty for plain text.
    pub(super) class: String,
}

/// A row of the screen, without the blanks at its end.
pub(super) type Row = Vec<Piece>;

/// How a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Look {
    front: Option<u8>,
    back: Option<u8>,
    is_inverse: bool,
    is_bold: bool,
    is_dim: bool,
    is_italic: bool,
    is_underlined: bool,
    is_wide: bool,
    is_cursor: bool,
}

/// The screen, and what programs have set on it.
pub(super) struct Emulator(Parser<Replies>);

/// What the screen answers to programs that ask it something.
#[derive(Debug, Default)]
struct Replies(Vec<u8>);

impl Emulator {
    pub(super) fn new(size: TerminalSize) -> Self {
        let (rows, columns) = measures(size);
        Self(Parser::new_with_callbacks(rows, columns, SCROLLBACK_MAX, Replies::default()))
    }

    /// Takes what was printed. Returns what the terminal answers, which the program reads as if it had been typed.
    pub(super) fn take(&mut self, printed: &[u8]) -> Vec<u8> {
        self.0.process(printed);
        std::mem::take(&mut self.0.callbacks_mut().0)
    }

    pub(super) fn resize(&mut self, size: TerminalSize) {
        let (rows, columns) = measures(size);
        self.0.set_size(rows, columns);
    }

    /// How many lines there are above the screen.
    pub(super) fn lines_above(&self) -> usize {
        self.0.screen().scrollback_len()
    }

    /// Shows the lines this far above the newest ones.
    pub(super) fn scroll_to(&mut self, lines: usize) {
        self.0.screen_mut().set_scrollback(lines);
    }

    /// What programs have set about input.
    pub(super) fn modes(&self) -> Modes {
        let screen = self.0.screen();
        Modes {
            has_own_arrows: screen.application_cursor(),
            brackets_pastes: screen.bracketed_paste(),
            is_whole_screen: screen.alternate_screen(),
        }
    }

    /// What is shown now, top to bottom.
    pub(super) fn rows(&self) -> Vec<Row> {
        let screen = self.0.screen();
        let (rows, columns) = screen.size();
        let cursor = (!screen.hide_cursor() && screen.scrollback() == 0).then(|| screen.cursor_position());
        let cursor = cursor.map(|(row, column)| (row, column.min(columns.get() - 1)));
        let row = |row: u16| {
            let at = cursor.filter(|cursor| cursor.0 == row).map(|cursor| cursor.1);
            row_of(screen, row, columns.get(), at)
        };
        (0..rows.get()).map(row).collect()
    }
}

impl Callbacks for Replies {
    fn unhandled_csi(&mut self, screen: &mut Screen, first: Option<u8>, _: Option<u8>, numbers: &[&[u16]], last: char) {
        let number = numbers.first().and_then(|number| number.first()).copied().unwrap_or_default();
        let reply = match (first, last, number) {
            (None, 'n', 5) => "\x1b[0n".to_owned(),
            (None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, column + 1)
            }
            (None, 'c', 0) => "\x1b[?6c".to_owned(),
            (Some(b'>'), 'c', 0) => "\x1b[>0;0;0c".to_owned(),
            _ => return,
        };
        if self.0.len() + reply.len() <= REPLY_BYTES_MAX {
            self.0.extend_from_slice(reply.as_bytes());
        }
    }
}

fn measures(size: TerminalSize) -> (NonZeroU16, NonZeroU16) {
    let at_least_one = |number: u16| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    (at_least_one(size.rows), at_least_one(size.columns))
}

fn row_of(screen: &Screen, row: u16, columns: u16, cursor: Option<u16>) -> Row {
    let mut pieces: Vec<(Look, String)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
        let look = look_of(cell, cursor == Some(column));
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match pieces.last_mut().filter(|(before, _)| *before == look && !look.is_wide) {
            Some((_, before)) => before.push_str(text),
            None => pieces.push((look, text.to_owned())),
        }
    }
    while let Some((_, text)) = pieces.last_mut().filter(|(look, _)| *look == Look::default()) {
        text.truncate(text.trim_end_matches(' ').len());
        if !text.is_empty() {
            break;
        }
        pieces.pop();
    }
    pieces.into_iter().map(|(look, text)| Piece { text, class: look.classes() }).collect()
}

fn look_of(cell: &Cell, is_cursor: bool) -> Look {
    Look {
        front: index(cell.fgcolor()),
        back: index(cell.bgcolor()),
        is_inverse: cell.inverse(),
        is_bold: cell.bold(),
        is_dim: cell.dim(),
        is_italic: cell.italic(),
        is_underlined: cell.underline(),
        is_wide: cell.is_wide(),
        is_cursor,
    }
}

impl Look {
    fn classes(self) -> String {
        let (front, back) = if self.is_inverse { (self.back, self.front) } else { (self.front, self.back) };
        let front = match front {
            Some(front) => Some(format!("ansi-{front}")),
            None => self.is_inverse.then(|| "ansi-ground".to_owned()),
        };
        let back = match back {
            Some(back) => Some(format!("ansi-on-{back}")),
            None => self.is_inverse.then(|| "ansi-on-text".to_owned()),
        };
        let flags = [
            (self.is_bold, "ansi-bold"),
            (self.is_dim, "ansi-dim"),
            (self.is_italic, "ansi-italic"),
            (self.is_underlined, "ansi-underline"),
            (self.is_wide, "ansi-wide"),
            (self.is_cursor, "is-cursor"),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, class)| class.to_owned());
        front.into_iter().chain(back).chain(flags).collect::<Vec<_>>().join(" ")
    }
}

/// The number of the colour that is drawn; `None` for the usual one.
fn index(color: Color) -> Option<u8> {
    match color {
        Color::Default => None,
        Color::Idx(number @ 0..=15) => Some(number),
        Color::Idx(number @ 16..=231) => {
            let number = number - 16;
            let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
            Some(nearest([level(number / 36), level(number / 6 % 6), level(number % 6)]))
        }
        Color::Idx(number) => Some(nearest([8 + (number - 232) * 10; 3])),
        Color::Rgb(red, green, blue) => Some(nearest([red, green, blue])),
    }
}

fn nearest(color: [u8; 3]) -> u8 {
    let distance = |other: &[u8; 3]| -> u32 {
        color.iter().zip(other).map(|(one, other)| u32::from(one.abs_diff(*other)).pow(2)).sum()
    };
    let found = COLOURS.iter().enumerate().min_by_key(|(_, other)| distance(other));
    found.and_then(|(at, _)| u8::try_from(at).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(columns: u16, rows: u16, printed: &str) -> Emulator {
        let mut emulator = Emulator::new(TerminalSize { columns, rows });
        emulator.take(printed.as_bytes());
        emulator
    }

    /// The rows as text, each piece with classes in brackets after it.
    fn shown(emulator: &Emulator) -> Vec<String> {
        let piece = |piece: &Piece| match piece.class.as_str() {
            "" => piece.text.clone(),
            class => format!("{}<{class}>", piece.text),
        };
        emulator.rows().iter().map(|row| row.iter().map(piece).collect()).collect()
    }

    #[test]
    fn what_is_printed_stands_in_rows_with_its_colours_and_the_cursor() {
        let printed = "\x1b[?25la \x1b[1;31mred\x1b[0m\r\n\x1b[7mturned\x1b[0m \x1b[30;42mx\x1b[0m";
        assert_eq!(
            shown(&screen(20, 2, printed)),
            ["a red<ansi-1 ansi-bold>", "turned<ansi-ground ansi-on-text> x<ansi-0 ansi-on-2>"]
        );
        assert_eq!(shown(&screen(9, 2, "$ ")), ["$  <is-cursor>", ""]);
        assert_eq!(shown(&screen(3, 1, "abc")), ["abc<is-cursor>"], "it waits at the last column");
        assert_eq!(shown(&screen(9, 1, "\x1b[?25l日b")), ["日<ansi-wide>b"]);
    }

    #[test]
    fn other_colours_are_the_nearest_of_the_sixteen() {
        let of = |number| index(Color::Idx(number));
        assert_eq!([of(196), of(16), of(231), of(240), of(255)], [Some(9), Some(0), Some(15), Some(8), Some(7)]);
        assert_eq!(index(Color::Rgb(0, 250, 5)), Some(10));
        assert_eq!(index(Color::Default), None);
    }

    #[test]
    fn lines_that_leave_the_screen_can_be_looked_at_and_there_are_at_most_a_thousand() {
        let lines: String = (1..=1_500).map(|number| format!("\r\n{number}")).collect();
        let mut emulator = screen(9, 2, &lines);
        assert_eq!(emulator.lines_above(), SCROLLBACK_MAX);
        emulator.scroll_to(10);
        assert_eq!(shown(&emulator), ["1489", "1490"]);
        emulator.take(b"\r\nmore");
        assert_eq!(shown(&emulator), ["1489", "1490"], "it stays where one looks");
        emulator.scroll_to(0);
        assert_eq!(shown(&emulator), ["1500", "more <is-cursor>"]);
        emulator.take(b"\x1b[?1049h");
        assert_eq!((emulator.lines_above(), emulator.modes().is_whole_screen), (0, true));
    }

    #[test]
    fn a_program_that_asks_is_answered_and_not_without_end() {
        let mut emulator = screen(9, 3, "\r\nab");
        assert_eq!(emulator.take(b"\x1b[6n"), b"\x1b[2;3R");
        assert_eq!(emulator.take(b"\x1b[c\x1b[5n"), b"\x1b[?6c\x1b[0n");
        assert_eq!(emulator.take(b"plain"), b"");
        assert!(emulator.take(&b"\x1b[c".repeat(10_000)).len() <= REPLY_BYTES_MAX);
    }

    #[test]
    fn a_screen_of_another_size_has_as_many_rows() {
        let mut emulator = screen(80, 24, "one\r\ntwo");
        emulator.resize(TerminalSize { columns: 20, rows: 5 });
        assert_eq!(shown(&emulator), ["one", "two <is-cursor>", "", "", ""]);
        emulator.resize(TerminalSize { columns: 0, rows: 0 });
        assert_eq!(emulator.rows().len(), 1);
    }
}
