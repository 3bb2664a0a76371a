//! One-time codes that let one browser in to the console or a preview, each valid for a minute. They are used where a
//! token would be visible to others: in an address, in a file that a browser opens.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use protocol::ApiError;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::random::random_hex;

/// How long a code is valid.
pub const CODE_LIFE: Duration = Duration::from_secs(60);
/// The most codes that are valid at once; a new one replaces the oldest.
const CODES_MAX: usize = 64;

/// The valid codes, each with the purpose it was issued for. Only their hashes are kept.
#[derive(Debug)]
pub struct Codes<T>(Mutex<Vec<Code<T>>>);

#[derive(Debug)]
struct Code<T> {
    hash: [u8; 32],
    made: Instant,
    purpose: T,
}

impl<T> Default for Codes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Codes<T> {
    /// Issues a new code: 256 random bits as 64 hex digits.
    ///
    /// # Errors
    /// `internal`: the system gives no random numbers.
    pub fn issue(&self, purpose: T) -> Result<String, ApiError> {
        let code = random_hex::<32>()?;
        self.put(&code, purpose, Instant::now());
        Ok(code)
    }

    /// The purpose of a valid code, which becomes invalid with this call.
    pub fn redeem(&self, attempt: &str) -> Option<T> {
        self.take(attempt, Instant::now())
    }

    fn put(&self, code: &str, purpose: T, now: Instant) {
        let mut codes = self.codes();
        codes.retain(|code| code.is_good(now));
        if codes.len() >= CODES_MAX {
            codes.remove(0);
        }
        codes.push(Code { hash: Sha256::digest(code).into(), made: now, purpose });
    }

    fn take(&self, attempt: &str, now: Instant) -> Option<T> {
        let hash: [u8; 32] = Sha256::digest(attempt).into();
        let mut codes = self.codes();
        codes.retain(|code| code.is_good(now));
        let at = codes.iter().position(|code| bool::from(code.hash.ct_eq(&hash)))?;
        Some(codes.remove(at).purpose)
    }

    fn codes(&self) -> MutexGuard<'_, Vec<Code<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Code<T> {
    fn is_good(&self, now: Instant) -> bool {
        now.duration_since(self.made) < CODE_LIFE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let (codes, now) = (Codes::default(), Instant::now());
        codes.put("one", 1, now);
        codes.put("two", 2, now);
        assert_eq!((codes.take("three", now), codes.take("", now)), (None, None));
        assert_eq!(codes.take("one", now + Duration::from_secs(59)), Some(1));
        assert_eq!(codes.take("one", now + Duration::from_secs(59)), None);
        assert_eq!(codes.take("two", now + CODE_LIFE), None);
        let code = codes.issue(3).unwrap();
        assert_eq!(code.len(), 64);
        assert_eq!((codes.redeem(&code), codes.redeem(&code)), (Some(3), None));
    }
}
