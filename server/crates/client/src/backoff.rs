//! How long to wait before the next attempt to connect.

use std::time::Duration;

/// Before the first attempt after a loss.
const DELAY_MS_MIN: u64 = 250;
/// A server that comes back is noticed within this.
pub(crate) const DELAY_MS_MAX: u64 = 5_000;

/// Doubles from 250 ms to 5 s; the upper half is random, so that many clients do not come back at once.
pub(crate) fn delay(attempt: u32) -> Duration {
    let full = DELAY_MS_MIN.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(DELAY_MS_MAX);
    let random = u64::from_le_bytes(uuid::Uuid::new_v4().as_bytes()[..8].try_into().expect("a uuid has 16 bytes"));
    Duration::from_millis(full / 2 + random % (full / 2 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_seconds_and_are_spread() {
        for (attempt, full) in [(1, 250), (2, 500), (3, 1_000), (5, 4_000), (6, 5_000), (60, 5_000), (u32::MAX, 5_000)]
        {
            for _ in 0..50 {
                let delay = delay(attempt).as_millis() as u64;
                assert!((full / 2..=full).contains(&delay), "attempt {attempt} waits {delay} ms");
            }
        }
        let seen: std::collections::HashSet<_> = (0..50).map(|_| delay(6)).collect();
        assert!(seen.len() > 5, "the delays are not spread: {seen:?}");
    }
}
