//! Naming a file: `@` and what is typed after it.

use commands::{FileWord, file_word, rest_of_word};

use super::{Chip, Composer};

impl Composer {
    /// The file name that the cursor stands in or after.
    pub(crate) fn file_word(&self) -> Option<FileWord> {
        file_word(&self.text, self.cursor)
    }

    /// Replaces the whole word being typed, including the part after the cursor, by a file.
    pub(crate) fn take_file(&mut self, word: &FileWord, path: String) {
        self.remove(word.at..self.cursor + rest_of_word(&self.text, self.cursor));
        self.put(Chip::File(path));
        if !self.text[self.cursor..].starts_with(char::is_whitespace) {
            self.insert(" ");
        }
    }

    /// Puts `begun` in place of the whole word being typed, which goes on after it.
    pub(crate) fn begin_word(&mut self, word: &FileWord, begun: &str) {
        self.drop_word(word);
        self.insert(&format!("@{begun}"));
    }

    /// Removes the whole word being typed.
    pub(crate) fn drop_word(&mut self, word: &FileWord) {
        self.remove(word.at..self.cursor + rest_of_word(&self.text, self.cursor));
    }
}

#[cfg(test)]
mod tests {
    use protocol::Segment;

    use super::*;
    use crate::composer::To;

    #[test]
    fn a_file_takes_the_place_of_the_whole_word_and_the_cursor_stands_behind_it() {
        let mut composer = Composer::with("see @maxyz now");
        for _ in 0..7 {
            composer.go(To::Left);
        }
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
