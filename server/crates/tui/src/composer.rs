//! A few lines of text and a cursor in them.

/// What is being written. The cursor is a byte offset at a character's edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Composer {
    text: String,
    cursor: usize,
}

impl Composer {
    pub(crate) fn with(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cursor: text.len(), text }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What stands before the cursor; the view finds its place from it.
    pub(crate) fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    pub(crate) fn insert(&mut self, text: &str) {
        // A pasted escape sequence is text here, and nothing that the terminal obeys.
        let clean: String = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String = clean.chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t')).collect();
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
    }

    pub(crate) fn backspace(&mut self) {
        let end = self.cursor;
        self.left();
        self.text.replace_range(self.cursor..end, "");
    }

    pub(crate) fn delete(&mut self) {
        let start = self.cursor;
        self.right();
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    /// Removes back to the beginning of the word.
    pub(crate) fn delete_word(&mut self) {
        let kept = self.before_cursor().trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(crate) fn left(&mut self) {
        self.cursor -= self.before_cursor().chars().next_back().map_or(0, char::len_utf8);
    }

    pub(crate) fn right(&mut self) {
        self.cursor += self.text[self.cursor..].chars().next().map_or(0, char::len_utf8);
    }

    pub(crate) fn line_start(&mut self) {
        self.cursor = self.before_cursor().rfind('\n').map_or(0, |at| at + 1);
    }

    pub(crate) fn line_end(&mut self) {
        self.cursor += self.text[self.cursor..].find('\n').unwrap_or(self.text.len() - self.cursor);
    }

    /// Empties it and returns what was there.
    pub(crate) fn take(&mut self) -> String {
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }
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
        assert_eq!(composer.before_cursor(), "");
        composer.line_end();
        composer.delete_word();
        assert_eq!(composer.text(), "one \n");
    }

    #[test]
    fn what_is_pasted_holds_no_control_characters_but_line_ends_and_tabs() {
        let mut composer = Composer::default();
        composer.insert("a\r\nb\u{1b}[2J\tc");
        assert_eq!(composer.text(), "a\nb[2J\tc");
    }
}
