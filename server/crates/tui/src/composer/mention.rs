//! A file that is being named: `@` and what is typed behind it.

use super::{Chip, Composer, chips::CHIP};

/// A name that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileWord {
    /// Where the `@` is, in bytes of the text.
    pub(crate) at: usize,
    /// What stands between it and the cursor.
    pub(crate) begun: String,
}

impl Composer {
    /// The name that the cursor stands behind or in.
    pub(crate) fn file_word(&self) -> Option<FileWord> {
        let before = &self.text[..self.cursor];
        let at = before.rfind('@').filter(|at| may_begin(&before[..*at]))?;
        let begun = &before[at + 1..];
        let is_name = !begun.contains(|letter: char| letter.is_whitespace() || letter == CHIP);
        is_name.then(|| FileWord { at, begun: begun.to_owned() })
    }

    /// Puts a file into the place of the name that is being typed, with what is left of the word behind the cursor.
    pub(crate) fn take_file(&mut self, word: &FileWord, path: String) {
        let is_rest = |letter: char| !letter.is_whitespace() && letter != CHIP;
        let rest = self.text[self.cursor..].find(|letter| !is_rest(letter)).unwrap_or(self.text.len() - self.cursor);
        self.remove(word.at..self.cursor + rest);
        self.put(Chip::File(path));
        if !self.text[self.cursor..].starts_with(char::is_whitespace) {
            self.insert(" ");
        }
    }
}

/// An `@` within a word, as in an address, names no file.
fn may_begin(before: &str) -> bool {
    before
        .chars()
        .next_back()
        .is_none_or(|letter| letter.is_whitespace() || letter == CHIP || "([{\"'".contains(letter))
}

#[cfg(test)]
mod tests {
    use protocol::Segment;

    use super::*;

    fn word(text: &str) -> Option<(usize, String)> {
        Composer::with(text).file_word().map(|word| (word.at, word.begun))
    }

    #[test]
    fn a_name_begins_at_an_at_sign_that_begins_a_word() {
        assert_eq!(word("@"), Some((0, String::new())));
        assert_eq!(word("look at @src/ma"), Some((8, "src/ma".to_owned())));
        assert_eq!(word("é (@ü"), Some((4, "ü".to_owned())));
        for none in ["", "ada@example.org", "@a b", "x@", "@a\n"] {
            assert_eq!(word(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_file_takes_the_place_of_the_whole_word_and_the_cursor_stands_behind_it() {
        let mut composer = Composer::with("see @maxyz now");
        (0..7).for_each(|_| composer.left());
        let word = composer.file_word().unwrap();
        assert_eq!(word.begun, "ma");
        composer.take_file(&word, "src/main.rs".to_owned());
        assert_eq!(
            (composer.shown().as_str(), composer.shown_before_cursor().as_str()),
            ("see @src/main.rs now", "see @src/main.rs")
        );
        let mut composer = Composer::with("@");
        let word = composer.file_word().unwrap();
        composer.take_file(&word, "a b".to_owned());
        composer.insert("?");
        assert_eq!(composer.segments(), [Segment::FileRef { path: "a b".into() }, Segment::text(" ?")]);
        assert_eq!(composer.file_word(), None, "a file that was chosen is no question any more");
    }
}
