//! Search: the words of a query, and the hits.

use crate::{PodKey, SearchRow, checksum::RawRecord, words};

/// The most words of a query that are used; the rest are ignored.
const WORDS_MAX: usize = 16;
/// The most characters of a word that are used; a longer one is cut.
const WORD_CHARS_MAX: usize = 64;

/// Selects hits; absent fields select all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchFilter {
    pub pod: Option<PodKey>,
    /// The last number of the previous page.
    pub after: Option<i64>,
}

/// A word to be found: letters and digits in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Longer words with this prefix match too.
    pub(crate) is_beginning: bool,
}

/// A hit in the index, with the record it was found in.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The number of the text in the index.
    pub(crate) id: i64,
    pub(crate) pod: PodKey,
    /// Without its time, which is only in the record.
    pub(crate) row: SearchRow,
    pub(crate) record: Option<RawRecord>,
}

/// The words of a query, ignoring whatever separates them.
pub(crate) fn words_of(query: &str) -> Vec<Word> {
    let plain = words::plain(&words::bounded(query));
    let mut words: Vec<Word> = plain.split_whitespace().take(WORDS_MAX).map(Word::of).collect();
    if let Some(last) = words.last_mut() {
        last.is_beginning = true;
    }
    words
}

impl Word {
    fn of(text: &str) -> Self {
        match text.char_indices().nth(WORD_CHARS_MAX) {
            Some((end, _)) => Self { text: text[..end].to_owned(), is_beginning: true },
            None => Self { text: text.to_owned(), is_beginning: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_its_words_and_the_last_may_be_a_beginning() {
        let words = |query: &str| {
            let words = words_of(query).into_iter();
            words.map(|word| format!("{}{}", word.text, if word.is_beginning { "*" } else { "" })).collect::<Vec<_>>()
        };
        assert_eq!(words("Vec<String> in src/Stre"), ["vec", "string", "in", "src", "stre*"]);
        assert_eq!(words("  \"AND\" (x:*) "), ["and", "x*"]);
        assert!(words(" *** \0 -- ").is_empty());
        assert_eq!(words(&"é".repeat(100)), [format!("{}*", "é".repeat(64))]);
        assert_eq!(words(&"a ".repeat(100)).len(), WORDS_MAX);
    }
}
