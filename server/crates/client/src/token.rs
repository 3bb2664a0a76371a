//! Where the token comes from.

use std::{fmt, sync::Arc};

use secrecy::{ExposeSecret, SecretString};

/// Gives the token anew for each request: a server that starts for the first time after its client writes one then.
#[derive(Clone)]
pub struct TokenSource(Arc<dyn Fn() -> Option<SecretString> + Send + Sync>);

impl TokenSource {
    /// A token that does not change.
    pub fn fixed(token: SecretString) -> Self {
        Self(Arc::new(move || Some(token.clone())))
    }

    /// Asks `read` before each request. None: the request goes without a token and is refused by the server.
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
