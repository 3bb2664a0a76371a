//! Browser logins. The store holds only a hash of each secret.

use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::random::hex;

/// How long a login lasts: 30 days.
pub const SESSION_SECONDS: u64 = 30 * 24 * 3600;
/// The value of a login cookie: 256 random bits as 64 hex digits.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionSecret(String);

impl std::fmt::Debug for SessionSecret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SessionSecret(…)")
    }
}

impl SessionSecret {
    pub(crate) fn new(secret: String) -> Self {
        Self(secret)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The login of a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Session {
    hash: [u8; 32],
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Session({})", self.id())
    }
}

impl Session {
    pub(crate) fn of(secret: &str) -> Self {
        Self { hash: Sha256::digest(secret).into() }
    }

    pub(crate) fn from_hash(hash: [u8; 32]) -> Self {
        Self { hash }
    }

    pub(crate) fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The public id of this login. It is derived from what the store holds, which cannot be derived from it.
    pub fn id(&self) -> String {
        let digest: [u8; 32] = Sha256::new_with_prefix(b"yoi session id").chain_update(self.hash).finalize().into();
        hex(&digest[..8])
    }
}

/// Tells open streams that a login has ended.
#[derive(Debug, Clone)]
pub(crate) struct Endings(watch::Sender<()>);

impl Endings {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(()))
    }

    pub(crate) fn tell(&self) {
        self.0.send_replace(());
    }

    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}
