//! Browser logins. The store holds only a hash of each secret.

use std::time::Duration;

use jiff::Timestamp;
use protocol::{ApiError, ErrorCode};
use sha2::{Digest, Sha256};

use crate::Backend;

/// How long a login lasts: 30 days.
pub const SESSION_SECONDS: u64 = 30 * 24 * 3600;

/// What the cookie of a login holds: 256 random bits as 64 hex digits.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionSecret(String);

impl std::fmt::Debug for SessionSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SessionSecret(…)")
    }
}

impl SessionSecret {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Backend {
    /// Begins a login. The caller has checked the token.
    pub async fn session_open(&self) -> Result<SessionSecret, ApiError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("the system gave no random numbers: {error}"))
        })?;
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.host.session_put(hash(&secret), Timestamp::now() + Duration::from_secs(SESSION_SECONDS)).await?;
        Ok(SessionSecret(secret))
    }

    /// Whether this cookie stands for a login that has not expired.
    pub async fn session_is_open(&self, secret: &str) -> Result<bool, ApiError> {
        match secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => self.host.session_find(&hash(secret)).await,
            false => Ok(false),
        }
    }

    /// Ends a login; ending one that is not there is no error.
    pub async fn session_close(&self, secret: &str) -> Result<(), ApiError> {
        self.host.session_delete(&hash(secret)).await
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}
