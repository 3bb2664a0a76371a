//! The server's token, of which only the hash is kept.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The token for the server. Only its SHA-256 is stored, and it is compared in constant time.
#[derive(Clone)]
pub struct Token([u8; 32]);

impl Token {
    pub fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Whether this is the token. The empty string never is.
    pub(crate) fn is(&self, attempt: &str) -> bool {
        let hash: [u8; 32] = Sha256::digest(attempt).into();
        bool::from(hash.ct_eq(&self.0)) && !attempt.is_empty()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_fits_and_it_is_never_shown() {
        let token = Token::new("right");
        assert!(token.is("right"));
        for wrong in ["", "Right", "righ", "right "] {
            assert!(!token.is(wrong), "{wrong:?}");
        }
        assert!(!Token::new("").is(""));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
