//! Prepares texts and queries for the search index.

use std::borrow::Cow;

/// The most bytes of one record's text that are indexed. PostgreSQL refuses a `tsvector` of more than a megabyte.
const TEXT_BYTES_MAX: usize = 128 * 1024;

/// The text, cut to the limit and with each NUL, which PostgreSQL cannot store, replaced by a space.
pub(crate) fn bounded(text: &str) -> Cow<'_, str> {
    without_nul(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)])
}

/// The text with a space for each NUL.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', " ").into(),
        false => text.into(),
    }
}

/// Only the words, in lower case, separated by spaces; letters and digits belong to a word.
///
/// For PostgreSQL, whose own parser takes `Vec<String>` for a tag and `src/main.rs` for one word, and whose lower case
/// depends on how the database was created. SQLite's tokenizer does the same by itself.
pub(crate) fn plain(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_freed_of_nul() {
        assert_eq!(bounded("plain"), "plain");
        assert_eq!(bounded("a\0b"), "a b");
        let long = "é".repeat(TEXT_BYTES_MAX);
        assert_eq!(bounded(&long).len(), TEXT_BYTES_MAX);
        let odd = format!("x{long}");
        assert_eq!(bounded(&odd).len(), TEXT_BYTES_MAX - 1);
    }

    #[test]
    fn words_are_letters_and_digits() {
        assert_eq!(plain("Vec<String> in src/main.rs: 'ÄRGER' x2!"), "vec string in src main rs ärger x2");
        assert_eq!(plain("*** "), "");
    }
}
