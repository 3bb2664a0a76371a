//! Naming a file in a message: `@` and what is typed after it.

/// Stands in a text for something that is not text: a chosen file, a paste. It ends a word.
pub const PIECE: char = '\u{fffc}';

/// A file name being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWord {
    /// Byte offset of the `@` in the text.
    pub at: usize,
    /// The text between it and the cursor.
    pub begun: String,
}

/// The file name that the cursor (a byte offset) stands in or after.
pub fn file_word(text: &str, cursor: usize) -> Option<FileWord> {
    let before = text.get(..cursor)?;
    let at = before.rfind('@').filter(|at| may_begin_mention(&before[..*at]))?;
    let begun = &before[at + 1..];
    (!begun.contains(ends_word)).then(|| FileWord { at, begun: begun.to_owned() })
}

/// How many bytes of the word follow the cursor.
pub fn rest_of_word(text: &str, cursor: usize) -> usize {
    let rest = text.get(cursor..).unwrap_or_default();
    rest.find(ends_word).unwrap_or(rest.len())
}

/// Whether an `@` after this text can begin a file name; one within a word, as in an e-mail address, cannot.
pub fn may_begin_mention(before: &str) -> bool {
    before.chars().next_back().is_none_or(|letter| ends_word(letter) || "([{\"'".contains(letter))
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || letter == PIECE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_at_an_at_sign_that_begins_a_word() {
        let word = |text: &str| file_word(text, text.len()).map(|word| (word.at, word.begun));
        assert_eq!(word("@"), Some((0, String::new())));
        assert_eq!(word("look at @src/ma"), Some((8, "src/ma".to_owned())));
        assert_eq!(word("é (@ü"), Some((4, "ü".to_owned())));
        assert_eq!(word("\u{fffc}@a"), Some((3, "a".to_owned())));
        for none in ["", "ada@example.org", "@a b", "x@", "@a\n", "@\u{fffc}"] {
            assert_eq!(word(none), None, "{none:?}");
        }
        assert_eq!(file_word("@abc", 2), Some(FileWord { at: 0, begun: "a".to_owned() }));
        assert_eq!((rest_of_word("@abc d", 2), rest_of_word("@abc", 4)), (2, 0));
        assert_eq!(file_word("é", 1), None, "no place between letters");
    }
}
