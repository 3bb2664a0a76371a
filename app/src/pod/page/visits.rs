//! From one Pod to another: the pages that were left a moment ago are kept, whole and out of the document, and are
//! seen again in the next frame, with nothing asked of the server. There they draw nothing and hear nothing.

mod view;

use leptos::prelude::*;
use protocol::Seq;

pub(super) use self::view::Visit;
use crate::console::{Console, PodContext};

/// So many pages are kept beside the one that is seen,
const PAGES_MAX: usize = 5;
/// and so many blocks in all of them together.
const BLOCKS_MAX: usize = 10_000;
/// With more records that it has not seen, a page is read anew.
const BEHIND_MAX: i64 = 1_000;

/// What the address asks for: the Pod, before which record, around which record.
pub(super) type Wanted = (String, Option<Seq>, Option<Seq>);

/// Where the reader has gone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stop {
    pub(super) wanted: Wanted,
    /// That page was kept.
    pub(super) is_back: bool,
    /// What was read last, or has to be read now, and the number of this reading.
    pub(super) reading: (Wanted, u64),
}

/// A page that can be gone back to.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    wanted: Wanted,
    pod: PodContext,
}

/// The kept pages, the one that was left last at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visits {
    console: Console,
    kept: StoredValue<Vec<Kept>>,
    /// Whose name the window has. Giving it another one takes a browser as long as drawing some blocks, so a page that
    /// is seen again is drawn first.
    pub(super) titled: RwSignal<Option<PodContext>>,
}

impl Visits {
    pub(super) fn new(console: Console) -> Self {
        Self { console, kept: StoredValue::new(Vec::new()), titled: RwSignal::new(None) }
    }

    /// `link` is the id of the block that the address leads to; `finds` where it asks for words in the transcript.
    pub(super) fn stop(self, before: Option<&Stop>, wanted: Wanted, link: Option<&str>, finds: bool) -> Stop {
        match before {
            None => Stop { reading: (wanted.clone(), 0), wanted, is_back: false },
            Some(before) if !finds && self.is_kept(&wanted, link) => {
                Stop { wanted, is_back: true, reading: before.reading.clone() }
            }
            Some(before) => Stop { reading: (wanted.clone(), before.reading.1 + 1), wanted, is_back: false },
        }
    }

    fn is_kept(self, wanted: &Wanted, link: Option<&str>) -> bool {
        let kept = self.kept.with_value(|kept| kept.iter().find(|kept| kept.wanted == *wanted).map(|kept| kept.pod));
        let has = |pod: PodContext| link.is_none_or(|link| pod.rows.index_of(link).is_some());
        kept.is_some_and(|pod| self.is_fresh(pod) && has(pod))
    }

    /// It goes on, and is not so far behind that reading it anew is quicker.
    fn is_fresh(self, pod: PodContext) -> bool {
        let head =
            pod.pod.with_value(|pod| self.console.book.with_untracked(|book| Some(book.as_ref()?.get(pod)?.head_seq)));
        let seen = pod.rows.status.with_untracked(|(head, _)| *head);
        pod.closed.with_untracked(Option::is_none) && head.is_some_and(|head| head.0 - seen.0 <= BEHIND_MAX)
    }

    /// Only the newest records of a Pod are worth keeping: the others' pages lead to one place, and are left for good.
    fn is_worth_keeping(wanted: &Wanted, pod: Option<PodContext>) -> bool {
        let (_, before, at) = wanted;
        before.is_none() && at.is_none() && pod.is_some_and(|pod| pod.closed.with_untracked(Option::is_none))
    }

    /// How many of these pages, oldest first, have to go.
    fn surplus(kept: &[Kept]) -> usize {
        let mut blocks = 0;
        let fits = |page: &&Kept| {
            blocks += page.pod.rows.len();
            blocks <= BLOCKS_MAX
        };
        kept.len() - kept.iter().rev().take(PAGES_MAX).take_while(fits).count()
    }
}

#[cfg(test)]
mod tests;
