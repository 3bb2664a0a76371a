//! Pages of what a search finds.

use jiff::Timestamp;
use serde::Deserialize;

use crate::{
    SearchFilter, SearchRow, Store, StoreError,
    search::{Hit, words_of},
};

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
