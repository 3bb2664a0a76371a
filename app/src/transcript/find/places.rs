//! The matches of a search in one transcript, and which of them is next.

use protocol::{PodRef, Seq};
use serde::{Deserialize, Serialize};

use crate::{UiError, server_fns::search};

/// At most this many pages of matches are read, the newest ones.
const PAGES_MAX: usize = 4;

/// The positions of the matches, oldest first.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Places {
    pub(super) words: String,
    pub(super) seqs: Vec<Seq>,
    /// Whether there are older ones.
    has_more: bool,
}

impl Places {
    /// The index of the match to start with: the one in the address, else the newest, because reading usually starts
    /// at the end.
    pub(super) fn first(&self, at: Option<Seq>) -> usize {
        let linked = at.and_then(|at| self.seqs.iter().position(|seq| *seq == at));
        linked.unwrap_or(self.seqs.len().saturating_sub(1))
    }

    /// Wraps around at both ends.
    pub(super) fn beside(&self, index: usize, step: isize) -> usize {
        let len = self.seqs.len().max(1);
        (index + len).saturating_add_signed(step) % len
    }

    /// `3 of 17 blocks`; `in 17 blocks` before you have gone to one.
    pub(super) fn told(&self, index: Option<usize>) -> String {
        let more = if self.has_more { "+" } else { "" };
        match (self.words.is_empty(), self.seqs.len(), index) {
            (true, ..) => String::new(),
            (false, 0, _) => "no matches".to_owned(),
            (false, count, Some(index)) => format!("{} of {count}{more} {}", index + 1, blocks(count)),
            (false, count, None) => format!("in {count}{more} {}", blocks(count)),
        }
    }
}

fn blocks(count: usize) -> &'static str {
    if count == 1 { "block" } else { "blocks" }
}

/// All matches of these words in one Pod, as far back as [`PAGES_MAX`] pages reach.
pub(super) async fn find(words: String, pod: PodRef) -> Result<Places, UiError> {
    let mut places = Places { words, ..Places::default() };
    let mut after = None;
    for _ in 0..PAGES_MAX {
        if places.words.is_empty() {
            break;
        }
        let page = search(places.words.clone(), Some(pod.to_string()), after).await?;
        places.seqs.extend(page.items.iter().filter(|hit| hit.pod == pod).map(|hit| hit.seq));
        places.has_more = page.next.is_some();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    places.seqs.sort_unstable();
    places.seqs.dedup();
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(seqs: &[i64]) -> Places {
        Places { words: "lease".to_owned(), seqs: seqs.iter().copied().map(Seq).collect(), has_more: false }
    }

    #[test]
    fn a_search_begins_at_the_end_or_where_the_address_says_and_goes_round() {
        let three = places(&[4, 9, 12]);
        assert_eq!((three.first(None), three.first(Some(Seq(9))), three.first(Some(Seq(5)))), (2, 1, 2));
        assert_eq!((three.beside(2, 1), three.beside(0, -1), three.beside(0, 1)), (0, 2, 1));
        assert_eq!((places(&[]).beside(0, -1), three.beside(1, 0)), (0, 1));
    }

    #[test]
    fn it_is_told_where_the_reader_is() {
        assert_eq!(places(&[4, 9, 12]).told(Some(2)), "3 of 3 blocks");
        assert_eq!(Places { has_more: true, ..places(&[4, 9]) }.told(Some(0)), "1 of 2+ blocks");
        assert_eq!((places(&[]).told(None), Places::default().told(None)), ("no matches".to_owned(), String::new()));
        assert_eq!(
            (places(&[4, 9]).told(None), places(&[4]).told(None)),
            ("in 2 blocks".to_owned(), "in 1 block".to_owned())
        );
        assert_eq!(Places { has_more: true, ..places(&[4, 9]) }.told(None), "in 2+ blocks");
    }
}
