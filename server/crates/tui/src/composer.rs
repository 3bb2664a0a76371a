//! A few lines of text with a cursor, containing pasted pieces and named files as single characters.

mod chips;
mod mention;

use std::ops::Range;

pub(crate) use self::chips::{Chip, words as paste_words};

/// The message being written. The cursor is a byte offset at a character boundary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Composer {
    /// Each [`commands::PIECE`] in it stands for a chip, over which the cursor moves as over one character.
    text: String,
    cursor: usize,
    /// The chips, in the order of the text.
    chips: Vec<Chip>,
}

/// A destination relative to the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    Left,
    Right,
    /// The beginning of the word.
    WordStart,
    LineStart,
    LineEnd,
    /// The line above, in the same column or as close as the line allows.
    Above,
    Below,
}

impl Composer {
    pub(crate) fn with(text: impl Into<String>) -> Self {
        let mut composer = Self::default();
        composer.insert(&text.into());
        composer
    }

    /// The text; each pasted piece or file is one character of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn insert(&mut self, text: &str) {
        let clean = chips::clean(text);
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
    }

    /// Moves the cursor; returns false if there is no such place.
    pub(crate) fn go(&mut self, to: To) -> bool {
        let place = place(&self.text, self.cursor, to);
        self.cursor = place.unwrap_or(self.cursor);
        place.is_some()
    }

    /// Removes the text between the cursor and `to`.
    pub(crate) fn cut(&mut self, to: To) {
        if let Some(place) = place(&self.text, self.cursor, to) {
            self.remove(place.min(self.cursor)..place.max(self.cursor));
        }
    }

    /// Empties it and returns what was there.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Removes what was sent, if the text begins with it. What was written since stays, and so does the cursor in it.
    pub(crate) fn remove_sent(&mut self, sent: &Self) {
        if self.text.starts_with(&sent.text) && self.chips.starts_with(&sent.chips) {
            let cursor = self.cursor.saturating_sub(sent.text.len());
            self.remove(0..sent.text.len());
            self.cursor = cursor;
        }
    }

    fn remove(&mut self, range: Range<usize>) {
        let before = chips::count(&self.text[..range.start]);
        let inside = chips::count(&self.text[range.clone()]);
        self.chips.drain(before..before + inside);
        self.text.replace_range(range.clone(), "");
        self.cursor = range.start;
    }
}

/// The byte offset of a destination.
fn place(text: &str, cursor: usize, to: To) -> Option<usize> {
    let (before, behind) = text.split_at(cursor);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[line..].chars().count();
    match to {
        To::Left => Some(before.char_indices().next_back()?.0),
        To::Right => Some(cursor + behind.chars().next()?.len_utf8()),
        To::WordStart => {
            let kept = before.trim_end();
            Some(kept.rfind(char::is_whitespace).map_or(0, |at| at + chars_len(&kept[at..], 1)))
        }
        To::LineStart => Some(line),
        To::LineEnd => Some(cursor + behind.find('\n').unwrap_or(behind.len())),
        To::Above => {
            let end = line.checked_sub(1)?;
            let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
            Some(start + chars_len(&text[start..end], column))
        }
        To::Below => {
            let start = cursor + behind.find('\n')? + 1;
            let below = text[start..].split('\n').next().unwrap_or_default();
            Some(start + chars_len(below, column))
        }
    }
}

/// Length in bytes of the first `count` characters.
fn chars_len(text: &str, count: usize) -> usize {
    text.chars().take(count).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_wherever_the_cursor_goes() {
        let mut composer = Composer::with("aé漢");
        composer.go(To::Left);
        composer.insert("x");
        assert_eq!(composer.text(), "aéx漢");
        composer.cut(To::Left);
        composer.cut(To::Left);
        composer.cut(To::Right);
        composer.cut(To::Right);
        assert_eq!(composer.text(), "a");
        composer.cut(To::Left);
        composer.cut(To::Left);
        assert!(composer.is_empty());
    }

    #[test]
    fn words_and_lines_are_moved_over_and_removed() {
        let mut composer = Composer::with("one two\nthree  ");
        composer.cut(To::WordStart);
        assert_eq!(composer.text(), "one two\n");
        composer.go(To::Left);
        composer.go(To::LineStart);
        assert_eq!(composer.shown_before_cursor(), "");
        composer.go(To::LineEnd);
        composer.cut(To::WordStart);
        assert_eq!(composer.text(), "one \n");
        composer.cut(To::LineStart);
        assert_eq!(composer.text(), "\n");
        composer.insert("a b");
        composer.go(To::LineStart);
        composer.cut(To::LineEnd);
        assert_eq!(composer.text(), "\n");
    }

    #[test]
    fn the_cursor_keeps_its_column_over_lines_as_far_as_they_go() {
        let mut composer = Composer::with("länger\nab\nlast");
        assert!(composer.go(To::Above));
        assert_eq!(composer.shown_before_cursor(), "länger\nab");
        assert!(composer.go(To::Above));
        assert_eq!(composer.shown_before_cursor(), "lä");
        assert!(!composer.go(To::Above));
        assert!(composer.go(To::Below) && composer.go(To::Below) && !composer.go(To::Below));
        assert_eq!(composer.shown_before_cursor(), "länger\nab\nla");
    }

    #[test]
    fn what_is_put_in_holds_no_control_characters_but_line_ends_and_tabs() {
        let mut composer = Composer::default();
        composer.insert("a\r\nb\u{1b}[2J\tc\u{fffc}");
        assert_eq!(composer.text(), "a\nb[2J\tc");
    }
}
