//! Lists to which each runtime contributes a part: newest first overall, in pages without gaps or duplicates. A runtime
//! that does not answer in time is left out and named.
//!
//! Each runtime is asked for a page after what was taken of it, and the pages are merged by their heads. The merged
//! cursor says where each runtime continues; a runtime that is exhausted is no longer in it. Pure.

mod places;

use std::{collections::VecDeque, future::Future, time::Duration};

use jiff::Timestamp;
use protocol::{ApiError, AuditRow, ErrorCode, Gathered, Listing, RuntimeId, SearchHit};
use tokio::time::timeout;

use self::places::Place;
pub(crate) use self::places::Places;

/// How long another runtime has to contribute its part. A later answer is missing from the result.
pub(crate) const PART_WAIT_MAX: Duration = Duration::from_secs(2);

/// One item of such a list.
pub(crate) trait Part {
    fn at(&self) -> Option<Timestamp>;
    /// The cursor after this item in its runtime's list.
    fn cursor(&self) -> Option<&str>;
}

impl Part for SearchHit {
    fn at(&self) -> Option<Timestamp> {
        self.at
    }

    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

impl Part for AuditRow {
    fn at(&self) -> Option<Timestamp> {
        Some(self.entry.at)
    }

    fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }
}

/// `None` if another runtime does not contribute its part now. If the query itself is wrong, our own runtime reports
/// that.
pub(crate) async fn part<T>(
    id: &RuntimeId,
    answer: impl Future<Output = Result<T, ApiError>>,
) -> Result<Option<T>, ApiError> {
    if *id == RuntimeId::local() {
        return answer.await.map(Some);
    }
    let late = || ApiError::new(ErrorCode::Timeout, "it did not answer in time");
    match timeout(PART_WAIT_MAX, answer).await.unwrap_or_else(|_| Err(late())) {
        Ok(page) => Ok(Some(page)),
        Err(error) if error.code == ErrorCode::CursorInvalid => Err(error),
        Err(error) => {
            tracing::debug!(%error, %id, "the part of a runtime is missing from a list");
            Ok(None)
        }
    }
}

/// Takes the newest head until the page is full. The order of `parts` decides between equals.
pub(crate) fn merge<T: Part>(mut places: Places, parts: Vec<(RuntimeId, Listing<T>)>, limit: usize) -> Gathered<T> {
    let mut heads: Vec<Head<T>> = Vec::new();
    for (id, page) in parts {
        // If its items have no cursors, the list could not be continued in the middle of its page.
        match page.items.iter().all(|item| item.cursor().is_some()) {
            true => heads.push(Head { id, left: page.items.into(), next: page.next, last: None }),
            false => places.leave_out(id),
        }
    }
    let mut items = Vec::new();
    while items.len() < limit {
        let newest = |best: Option<(usize, Timestamp)>, (index, head): (usize, &Head<T>)| match (best, head.at()) {
            (best, None) => best,
            (Some((_, at)), Some(other)) if at >= other => best,
            (_, Some(at)) => Some((index, at)),
        };
        let Some((index, _)) = heads.iter().enumerate().fold(None, newest) else { break };
        items.extend(heads[index].take());
        // Its next page may begin with something newer than what the others have left.
        if heads[index].is_unknown() {
            break;
        }
    }
    for head in heads {
        places.set(head.id.clone(), head.place());
    }
    let absent = places.absent();
    Gathered { items, next: places.write(), absent }
}

/// What is left of one runtime's page.
struct Head<T> {
    id: RuntimeId,
    left: VecDeque<T>,
    next: Option<String>,
    /// The cursor of the last item taken.
    last: Option<String>,
}

impl<T: Part> Head<T> {
    /// The time of the next item. An item without a time keeps its position.
    fn at(&self) -> Option<Timestamp> {
        self.left.front().map(|item| item.at().unwrap_or(Timestamp::MAX))
    }

    fn take(&mut self) -> Option<T> {
        let item = self.left.pop_front()?;
        self.last = item.cursor().map(str::to_owned);
        Some(item)
    }

    /// Its page is used up, and there are more.
    fn is_unknown(&self) -> bool {
        self.left.is_empty() && self.next.is_some()
    }

    /// Where it continues; `None` if it is exhausted.
    fn place(self) -> Option<Place> {
        match (self.left.front(), self.next, self.last) {
            (None, None, _) => None,
            (None, Some(next), _) => Some(Place::Behind(next)),
            (Some(_), _, Some(last)) => Some(Place::Behind(last)),
            (Some(first), _, None) => Some(first.cursor().map_or(Place::Newest, Place::at)),
        }
    }
}

#[cfg(test)]
mod tests;
