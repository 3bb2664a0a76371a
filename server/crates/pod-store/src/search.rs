//! Finding what was said: the words of a query, and what they find.

use crate::{PodKey, SearchRow, checksum::RawRecord, words};

/// Words of a query that are looked for; what follows them is left out.
const WORDS_MAX: usize = 16;
/// Letters of a word that are looked for: of a longer one, its beginning.
const WORD_CHARS_MAX: usize = 64;

/// Which hits are asked for; what is absent lets all through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchFilter {
    pub pod: Option<PodKey>,
    /// The number that the page before ended with.
    pub after: Option<i64>,
}

/// One word to be found: letters and digits in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// A longer word that begins like this is meant, too.
    pub(crate) is_beginning: bool,
}

/// What the index found, and the record that it found it in.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The number of the text in the index.
    pub(crate) id: i64,
    pub(crate) pod: PodKey,
    /// Without its time, which stands in the record alone.
    pub(crate) row: SearchRow,
    pub(crate) record: Option<RawRecord>,
}

/// The words that a person means, whatever stands between them.
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
