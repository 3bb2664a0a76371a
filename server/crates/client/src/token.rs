//! The source of the token.

use std::{fmt, sync::Arc};

use secrecy::{ExposeSecret, SecretString};

/// Provides the token for each request anew, because a server that starts for the first time after its client writes
/// one only then.
#[derive(Clone)]
pub struct TokenSource(Arc<dyn Fn() -> Option<SecretString> + Send + Sync>);

impl TokenSource {
    /// A token that does not change.
    pub fn fixed(token: SecretString) -> Self {
        Self(Arc::new(move || Some(token.clone())))
    }

    /// Calls `read` before each request. If it returns `None`, the request has no token and the server refuses it.
    pub fn reading(read: impl Fn() -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The value of the `Authorization` header.
    pub(crate) fn bearer(&self) -> Option<String> {
        (self.0)().map(|token| format!("Bearer {}", token.expose_secret()))
    }
}

impl From<&str> for TokenSource {
    fn from(token: &str) -> Self {
        Self::fixed(SecretString::from(token))
    }
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("TokenSource(…)")
    }
}
