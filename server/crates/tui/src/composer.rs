//! A few lines of text with a cursor, and in it pasted pieces and files that are named.

mod chips;
mod mention;

pub(crate) use self::{
    chips::{Chip, words as paste_words},
    mention::FileWord,
};

use std::ops::Range;

/// What is being written. The cursor is a byte offset at a character's edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Composer {
    /// Each [`chips::CHIP`] in it stands for a piece that is moved over as one.
    text: String,
    cursor: usize,
    /// These pieces, in the order of the text.
    chips: Vec<Chip>,
}

impl Composer {
    pub(crate) fn with(text: impl Into<String>) -> Self {
        let mut composer = Self::default();
        composer.insert(&text.into());
        composer
    }

    /// The text; a pasted piece or a file is one character of it.
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

    pub(crate) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.remove(self.cursor..end);
    }

    pub(crate) fn delete(&mut self) {
        let start = self.cursor;
        self.right();
        self.remove(start..self.cursor);
    }

    /// Removes back to the beginning of the word.
    pub(crate) fn delete_word(&mut self) {
        let kept = self.text[..self.cursor].trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |at| at + next_len(&kept[at..]));
        self.remove(start..self.cursor);
    }

    /// Removes back to the beginning of the line.
    pub(crate) fn delete_line(&mut self) {
        let end = self.cursor;
        self.line_start();
        self.remove(self.cursor..end);
    }

    /// Removes up to the end of the line.
    pub(crate) fn delete_rest(&mut self) {
        let start = self.cursor;
        self.line_end();
        self.remove(start..self.cursor);
    }

    pub(crate) fn left(&mut self) {
        self.cursor -= self.text[..self.cursor].chars().next_back().map_or(0, char::len_utf8);
    }

    pub(crate) fn right(&mut self) {
        self.cursor += next_len(&self.text[self.cursor..]);
    }

    pub(crate) fn line_start(&mut self) {
        self.cursor = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
    }

    pub(crate) fn line_end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    /// To the line above; false when there is none.
    pub(crate) fn up(&mut self) -> bool {
        let Some(end) = self.text[..self.cursor].rfind('\n') else { return false };
        let column = self.text[end + 1..self.cursor].chars().count();
        let start = self.text[..end].rfind('\n').map_or(0, |at| at + 1);
        self.cursor = start + chars_len(&self.text[start..end], column);
        true
    }

    /// To the line below; false when there is none.
    pub(crate) fn down(&mut self) -> bool {
        let start = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
        let Some(end) = self.text[self.cursor..].find('\n').map(|at| self.cursor + at) else { return false };
        let column = self.text[start..self.cursor].chars().count();
        let line = self.text[end + 1..].split('\n').next().unwrap_or_default();
        self.cursor = end + 1 + chars_len(line, column);
        true
    }

    /// Empties it and returns what was there.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    fn remove(&mut self, range: Range<usize>) {
        let before = chips::count(&self.text[..range.start]);
        let inside = chips::count(&self.text[range.clone()]);
        self.chips.drain(before..before + inside);
        self.text.replace_range(range.clone(), "");
        self.cursor = range.start;
    }
}

fn next_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Bytes of the first so many characters.
fn chars_len(text: &str, count: usize) -> usize {
    text.chars().take(count).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_whole_wherever_the_cursor_goes() {
        let mut composer = Composer::with("aé漢");
        composer.left();
        composer.insert("x");
        assert_eq!(composer.text(), "aéx漢");
        composer.backspace();
        composer.backspace();
        composer.delete();
        composer.delete();
        assert_eq!(composer.text(), "a");
        composer.backspace();
        composer.backspace();
        assert!(composer.is_empty());
    }

    #[test]
    fn words_and_lines_are_moved_over_and_removed() {
        let mut composer = Composer::with("one two\nthree  ");
        composer.delete_word();
        assert_eq!(composer.text(), "one two\n");
        composer.left();
        composer.line_start();
        assert_eq!(composer.shown_before_cursor(), "");
        composer.line_end();
        composer.delete_word();
        assert_eq!(composer.text(), "one \n");
        composer.delete_line();
        assert_eq!(composer.text(), "\n");
        composer.insert("a b");
        composer.line_start();
        composer.delete_rest();
        assert_eq!(composer.text(), "\n");
    }

    #[test]
    fn the_cursor_keeps_its_column_over_lines_as_far_as_they_go() {
        let mut composer = Composer::with("länger\nab\nlast");
        assert!(composer.up());
        assert_eq!(composer.shown_before_cursor(), "länger\nab");
        assert!(composer.up());
        assert_eq!(composer.shown_before_cursor(), "lä");
        assert!(!composer.up());
        assert!(composer.down() && composer.down() && !composer.down());
        assert_eq!(composer.shown_before_cursor(), "länger\nab\nla");
    }

    #[test]
    fn what_is_put_in_holds_no_control_characters_but_line_ends_and_tabs() {
        let mut composer = Composer::default();
        composer.insert("a\r\nb\u{1b}[2J\tc\u{fffc}");
        assert_eq!(composer.text(), "a\nb[2J\tc");
    }
}
