//! How long to wait before the next connection attempt, and how long a connection may be silent.

/// The wait before the first attempt after a loss, in milliseconds; it doubles from there.
const DELAY_MS_MIN: u64 = 250;
/// The longest wait, in milliseconds: a server that comes back is noticed within it. There is no last attempt.
pub const DELAY_MS_MAX: u64 = 5_000;
/// A connection without a byte for this long, in milliseconds, is dead. The server is never silent for more than 5 s.
pub const SILENCE_MS_MAX: u64 = 15_000;

/// The wait before this attempt, counted from 1, in milliseconds. `chance`, in `0..1`, decides half of it, so that a
/// thousand viewers do not reconnect at the same moment.
pub fn delay_ms(attempt: u32, chance: f64) -> u64 {
    let full = DELAY_MS_MIN.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(DELAY_MS_MAX);
    (full as f64 * (0.5 + chance.clamp(0.0, 1.0) / 2.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_five_seconds_and_half_of_each_is_left_to_chance() {
        for (attempt, full) in [(1, 250), (2, 500), (3, 1_000), (5, 4_000), (6, 5_000), (60, 5_000), (u32::MAX, 5_000)]
        {
            assert_eq!((delay_ms(attempt, 0.0), delay_ms(attempt, 1.0)), (full / 2, full), "attempt {attempt}");
            assert!((full / 2..full).contains(&delay_ms(attempt, 0.5)), "attempt {attempt}");
        }
    }
}
