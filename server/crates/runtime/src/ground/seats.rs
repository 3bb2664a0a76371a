//! The limit on the number of Pods. Whoever creates or restores a Pod takes a seat first and gives it up when that is
//! committed.

use std::sync::atomic::{AtomicU64, Ordering};

use protocol::{ApiError, ErrorCode};

use super::Ground;

#[derive(Debug)]
pub(super) struct Seats {
    max: u64,
    /// Seats of Pods that the store does not count yet.
    taken: AtomicU64,
}

impl Seats {
    pub(super) fn new(max: u64) -> Self {
        Self { max, taken: AtomicU64::new(0) }
    }
}

/// Room for one more Pod, until this is dropped.
#[derive(Debug)]
pub(crate) struct Seat<'a>(&'a Seats);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Ground {
    /// Takes a seat. Pods created at the same time cannot exceed the limit together. Between its commit and the release
    /// of its seat a Pod may be counted twice, so another one may be refused that would just have fitted, but never the
    /// reverse.
    pub(crate) async fn seat(&self) -> Result<Seat<'_>, ApiError> {
        let Seats { max, taken } = &self.seats;
        let being_made = taken.fetch_add(1, Ordering::AcqRel) + 1;
        let seat = Seat(&self.seats);
        let living = self.store.pods().living_count(*max).await?;
        if living.saturating_add(being_made) <= *max {
            return Ok(seat);
        }
        let sentence = format!(
            "this server has {max} Pods that are not stopped, and there may be no more; stop or delete one first, or ask a person to \
             raise max in [pods] of config.toml"
        );
        Err(ApiError::new(ErrorCode::RateLimited, sentence))
    }
}
