//! A file that is being named in a message: `@` and what is typed behind it.

/// Stands in a text for a piece that is no text: a file that was chosen, a paste. No word goes over it.
pub const PIECE: char = '\u{fffc}';

/// A name that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWord {
    /// Where the `@` is, in bytes of the text.
    pub at: usize,
    /// What stands between it and the cursor.
    pub begun: String,
}

/// The name that the cursor, at this byte of the text, stands behind or in.
pub fn file_word(text: &str, cursor: usize) -> Option<FileWord> {
    let before = text.get(..cursor)?;
    let at = before.rfind('@').filter(|at| may_begin_mention(&before[..*at]))?;
    let begun = &before[at + 1..];
    (!begun.contains(ends_word)).then(|| FileWord { at, begun: begun.to_owned() })
}

/// Bytes that are left of the word behind the cursor.
pub fn rest_of_word(text: &str, cursor: usize) -> usize {
    let rest = text.get(cursor..).unwrap_or_default();
    rest.find(ends_word).unwrap_or(rest.len())
}

/// An `@` within a word, as in an address, names no file.
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
