//! Codes that log one browser in: each works once, for a minute. They stand where a token would be seen by others: in an
//! address, in a file that a browser opens.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use protocol::{ApiError, ErrorCode};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// How long a code is good for.
pub(crate) const CODE_LIFE: Duration = Duration::from_secs(60);
/// So many wait to be used; a new one takes the place of the oldest.
const CODES_MAX: usize = 64;

/// The codes that are good now. Only their hashes are held.
#[derive(Debug, Default)]
pub(crate) struct LoginCodes(Mutex<Vec<Code>>);

#[derive(Debug)]
struct Code {
    hash: [u8; 32],
    made: Instant,
}

impl LoginCodes {
    /// A new code: 256 random bits as 64 hex digits.
    pub(crate) fn issue(&self) -> Result<String, ApiError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("the system gave no random numbers: {error}"))
        })?;
        let code: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.put(&code, Instant::now());
        Ok(code)
    }

    /// Whether this code is good; it never is again.
    pub(crate) fn redeem(&self, attempt: &str) -> bool {
        self.take(attempt, Instant::now())
    }

    fn put(&self, code: &str, now: Instant) {
        let mut codes = self.codes();
        codes.retain(|code| code.is_good(now));
        if codes.len() >= CODES_MAX {
            codes.remove(0);
        }
        codes.push(Code { hash: Sha256::digest(code).into(), made: now });
    }

    fn take(&self, attempt: &str, now: Instant) -> bool {
        let hash: [u8; 32] = Sha256::digest(attempt).into();
        let mut codes = self.codes();
        codes.retain(|code| code.is_good(now));
        let before = codes.len();
        codes.retain(|code| !bool::from(code.hash.ct_eq(&hash)));
        codes.len() < before
    }

    fn codes(&self) -> MutexGuard<'_, Vec<Code>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Code {
    fn is_good(&self, now: Instant) -> bool {
        now.duration_since(self.made) < CODE_LIFE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_and_for_a_minute() {
        let (codes, now) = (LoginCodes::default(), Instant::now());
        codes.put("one", now);
        codes.put("two", now);
        assert!(!codes.take("three", now) && !codes.take("", now));
        assert!(codes.take("one", now + Duration::from_secs(59)));
        assert!(!codes.take("one", now + Duration::from_secs(59)));
        assert!(!codes.take("two", now + CODE_LIFE));
        let code = codes.issue().unwrap();
        assert_eq!(code.len(), 64);
        assert!(codes.redeem(&code) && !codes.redeem(&code));
    }

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let (codes, now) = (LoginCodes::default(), Instant::now());
        for number in 0..=CODES_MAX {
            codes.put(&number.to_string(), now);
        }
        assert!(!codes.take("0", now));
        assert!(codes.take("1", now) && codes.take(&CODES_MAX.to_string(), now));
    }
}
