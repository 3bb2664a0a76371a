//! How many Pods there may be at once. Whoever makes a Pod, or brings one back, takes a seat first and leaves it when that is committed.

use std::sync::atomic::{AtomicU64, Ordering};

use protocol::{ApiError, ErrorCode};

use super::Ground;

#[derive(Debug)]
pub(super) struct Seats {
    max: u64,
    /// Of Pods that are not counted by the store yet.
    taken: AtomicU64,
}

impl Seats {
    pub(super) fn new(max: u64) -> Self {
        Self { max, taken: AtomicU64::new(0) }
    }
}

/// A place for one more Pod, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat<'a>(&'a Seats);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Ground {
    /// Of Pods that are made at the same time none gets past the limit. One may be counted twice for the instant between its commit and
    /// the end of its seat: then another one is refused that would just have fitted, never the other way round.
    pub(crate) async fn seat(&self) -> Result<Seat<'_>, ApiError> {
        let Seats { max, taken } = &self.seats;
        let being_made = taken.fetch_add(1, Ordering::AcqRel) + 1;
        let seat = Seat(&self.seats);
        let living = self.store.pods().living_count(*max).await?;
        if living.saturating_add(being_made) <= *max {
            return Ok(seat);
        }
        let sentence = format!(
            "this server has {max} Pods that are not stopped, which is the maximum; stop or delete one first, or ask a person to \
             raise max in [pods] of config.toml"
        );
        Err(ApiError::new(ErrorCode::RateLimited, sentence))
    }
}
