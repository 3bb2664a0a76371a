//! Finding what was said: the words of a query, and pages of what they find.

use jiff::Timestamp;
use serde::Deserialize;

use crate::{PodKey, SearchRow, Store, StoreError, checksum::RawRecord, words};

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

/// What of a record says when it was.
#[derive(Deserialize)]
struct Dated {
    at: Timestamp,
}

impl Store {
    /// Records that hold all the words, newest first; the last word may be the beginning of one. Any text will do; one
    /// without a word finds nothing.
    pub async fn search(&self, query: &str, limit: u32) -> Result<Vec<SearchRow>, StoreError> {
        let found = self.search_page(query, SearchFilter::default(), limit).await?;
        Ok(found.into_iter().map(|(_, row)| row).collect())
    }

    /// As [`Store::search`], those alone that the filter lets through, with their numbers.
    pub async fn search_page(
        &self,
        query: &str,
        filter: SearchFilter,
        limit: u32,
    ) -> Result<Vec<(i64, SearchRow)>, StoreError> {
        let words = words_of(query);
        match words.is_empty() {
            true => Ok(Vec::new()),
            false => {
                let mut rows = Vec::new();
                for hit in self.read(self.engine().search(&words, filter, limit)).await? {
                    rows.push((hit.id, self.dated(hit).await));
                }
                Ok(rows)
            }
        }
    }

    async fn dated(&self, Hit { pod, mut row, record, .. }: Hit) -> SearchRow {
        if let Some(record) = record {
            match record.damage(pod) {
                Some(damage) => drop(self.set_aside(pod, record.seq, damage).await),
                None => row.at = serde_json::from_slice(&record.body).ok().map(|Dated { at }| at),
            }
        }
        row
    }
}

/// The words that a person means, whatever stands between them.
fn words_of(query: &str) -> Vec<Word> {
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
