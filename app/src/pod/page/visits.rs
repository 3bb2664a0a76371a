//! Navigation between Pods: pages that were left a moment ago are kept whole, outside the document, and are shown
//! again in the next frame without a request to the server. While kept they draw nothing and receive nothing.

mod view;

use leptos::prelude::*;
use protocol::Seq;

pub(super) use self::view::Visit;
use crate::console::{Console, PodContext};

/// How many pages are kept besides the one on screen.
const PAGES_MAX: usize = 5;
/// How many blocks all kept pages may have together.
const BLOCKS_MAX: usize = 10_000;
/// A kept page that has missed more records than this is read again.
const BEHIND_MAX: i64 = 1_000;

/// What the address asks for: the Pod, records before this one, records around this one.
pub(super) type Wanted = (String, Option<Seq>, Option<Seq>);

/// The page that navigation has led to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stop {
    pub(super) wanted: Wanted,
    /// Whether that page was kept.
    pub(super) is_back: bool,
    /// The last thing that was read, or is to be read now, and its number.
    pub(super) reading: (Wanted, u64),
}

/// A kept page.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    wanted: Wanted,
    pod: PodContext,
}

/// The kept pages, the one left last at the end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visits {
    console: Console,
    kept: StoredValue<Vec<Kept>>,
    /// The Pod that the window's title names. Changing the title takes a browser as long as drawing some blocks, so a
    /// page that is shown again is drawn first.
    pub(super) titled: RwSignal<Option<PodContext>>,
}

impl Visits {
    pub(super) fn new(console: Console) -> Self {
        Self { console, kept: StoredValue::new(Vec::new()), titled: RwSignal::new(None) }
    }

    /// Decides where navigation leads. `link` is the id of the block in the address; `finds` is set if the address
    /// searches the transcript.
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

    /// Whether the page can resume, and is not so far behind that reading it again would be quicker.
    fn is_fresh(self, pod: PodContext) -> bool {
        let head =
            pod.pod.with_value(|pod| self.console.book.with_untracked(|book| Some(book.as_ref()?.get(pod)?.head_seq)));
        let seen = pod.rows.status.with_untracked(|(head, _)| *head);
        pod.closed.with_untracked(Option::is_none) && head.is_some_and(|head| head.0 - seen.0 <= BEHIND_MAX)
    }

    /// Only pages with the newest records are kept; others lead to a single place and are discarded when left.
    fn is_worth_keeping(wanted: &Wanted, pod: Option<PodContext>) -> bool {
        let (_, before, at) = wanted;
        before.is_none() && at.is_none() && pod.is_some_and(|pod| pod.closed.with_untracked(Option::is_none))
    }

    /// How many of these pages, oldest first, have to be discarded.
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
