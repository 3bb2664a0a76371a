//! Wrong tokens are answered more and more slowly. Whoever has the right token never comes here.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use protocol::{ApiError, ErrorCode};
use tokio::sync::Semaphore;

/// So many wrong tokens a minute cost nothing: a person who pastes the wrong line waits for nothing.
const FREE: u32 = 20;
const FIRST_WAIT_MS: u64 = 50;
const WAIT_MS_MAX: u64 = 1_000;
/// Without a wrong token for so long, all is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);
/// So many wrong tokens wait at a time; more are told to come back later.
const WAITING_MAX: usize = 64;

/// The memory of wrong tokens of one process.
#[derive(Debug)]
pub(crate) struct Attempts {
    /// How many, and when the newest was.
    seen: Mutex<(u32, Option<Instant>)>,
    waiting: Semaphore,
}

impl Default for Attempts {
    fn default() -> Self {
        Self { seen: Mutex::default(), waiting: Semaphore::new(WAITING_MAX) }
    }
}

impl Attempts {
    /// Notes a wrong token and waits as long as it costs. `rate_limited` when too many wait already.
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
}
