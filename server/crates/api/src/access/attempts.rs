//! Wrong tokens are answered more and more slowly. A request with the right token never gets here.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use protocol::{ApiError, ErrorCode};
use tokio::sync::Semaphore;

/// How many wrong tokens per minute are free, so that a person who pastes the wrong line need not wait.
const FREE: u32 = 20;
const FIRST_WAIT_MS: u64 = 50;
const WAIT_MS_MAX: u64 = 1_000;
/// After this long without a wrong token, everything is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// How many wrong tokens may wait at a time; further ones are told to come back later.
const WAITING_MAX: usize = 64;
/// How many wrong logins per hour get an audit row; the first one of the next hour says how many more there were.
const TOLD_MAX: u32 = 20;
const TOLD_EVERY: Duration = Duration::from_secs(3_600);

/// The record of wrong tokens in this process.
#[derive(Debug)]
pub(crate) struct Attempts {
    /// How many, and when the newest was.
    seen: Mutex<(u32, Option<Instant>)>,
    waiting: Semaphore,
    told: Mutex<Told>,
}

/// What the audit has been told about wrong logins.
#[derive(Debug, Default)]
struct Told {
    since: Option<Instant>,
    rows: u32,
    /// The number of wrong logins without an audit row.
    unsaid: u64,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { seen: Mutex::default(), waiting: Semaphore::new(WAITING_MAX), told: Mutex::default() }
    }
}

impl Attempts {
    /// Notes a wrong token and waits accordingly. `rate_limited` if too many are waiting already.
    pub(crate) async fn failed(&self) -> Result<(), ApiError> {
        let Ok(_place) = self.waiting.try_acquire() else {
            let mut error = ApiError::new(ErrorCode::RateLimited, "too many wrong tokens; wait a second");
            error.retry_after_ms = Some(WAIT_MS_MAX);
            return Err(error);
        };
        let wait = self.note(Instant::now());
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    /// Whether to audit a wrong login; if so, with the number of previous ones that were not audited. This keeps
    /// somebody without a login from filling the database with attempts.
    pub(crate) fn to_be_told(&self) -> Option<u64> {
        self.tell(Instant::now())
    }

    fn tell(&self, now: Instant) -> Option<u64> {
        let mut told = self.told.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if told.since.is_none_or(|since| now.duration_since(since) >= TOLD_EVERY) {
            (told.since, told.rows) = (Some(now), 0);
        }
        if told.rows == TOLD_MAX {
            told.unsaid += 1;
            return None;
        }
        told.rows += 1;
        Some(std::mem::take(&mut told.unsaid))
    }

    fn note(&self, now: Instant) -> Duration {
        let mut seen = self.seen.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let forgotten = seen.1.is_none_or(|newest| now.duration_since(newest) > FORGOTTEN_AFTER);
        let count = if forgotten { 1 } else { seen.0.saturating_add(1) };
        *seen = (count, Some(now));
        match count.checked_sub(FREE + 1) {
            None => Duration::ZERO,
            Some(over) => Duration::from_millis((FIRST_WAIT_MS << over.min(10)).min(WAIT_MS_MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_tokens_get_slower_up_to_a_second_and_are_forgotten_after_a_minute() {
        let attempts = Attempts::default();
        let now = Instant::now();
        for _ in 0..FREE {
            assert_eq!(attempts.note(now), Duration::ZERO);
        }
        assert_eq!(attempts.note(now), Duration::from_millis(50));
        assert_eq!(attempts.note(now), Duration::from_millis(100));
        for _ in 0..100 {
            attempts.note(now);
        }
        assert_eq!(attempts.note(now), Duration::from_secs(1));
        assert_eq!(attempts.note(now + Duration::from_secs(61)), Duration::ZERO);
    }

    #[test]
    fn the_audit_is_told_of_a_few_wrong_logins_an_hour_and_of_how_many_more_there_were() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..TOLD_MAX {
            assert_eq!(attempts.tell(now), Some(0));
        }
        for _ in 0..1_000 {
            assert_eq!(attempts.tell(now), None);
        }
        assert_eq!(attempts.tell(now + TOLD_EVERY), Some(1_000));
        assert_eq!(attempts.tell(now + TOLD_EVERY), Some(0));
    }
}
