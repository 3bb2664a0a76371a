//! Browser logins. The store holds only a hash of each secret.

use std::time::Duration;

use jiff::Timestamp;
use protocol::{ApiError, ErrorCode, SessionView};
use runtime::{Origin, SessionRow};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::{
    Backend,
    random::{hex, random_hex},
};

/// How long a login lasts: 30 days.
pub const SESSION_SECONDS: u64 = 30 * 24 * 3600;
/// That a login was used is noted at most so often.
const SEEN_EVERY: Duration = Duration::from_secs(60);
/// Of what a browser calls itself, so many characters are kept.
const CLIENT_CHARS_MAX: usize = 200;
/// Another yoi on the same database may end a login too, and each one ends by itself: this is how long an open stream
/// may outlive that.
const LOOK_EVERY: Duration = Duration::from_secs(30);

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

/// The login that a request came with.
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
    /// What people and programs call this login: derived from what the store holds, which cannot be derived from it.
    pub fn id(&self) -> String {
        let digest: [u8; 32] = Sha256::new_with_prefix(b"yoi session id").chain_update(self.hash).finalize().into();
        hex(&digest[..8])
    }
}

/// Tells open streams that some login has ended.
#[derive(Debug, Clone)]
pub(crate) struct Endings(watch::Sender<()>);

impl Endings {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl Backend {
    /// Begins a login. The caller has checked the token. `client` is what the browser calls itself.
    pub async fn session_open(&self, client: &str) -> Result<SessionSecret, ApiError> {
        let secret = random_hex::<32>()?;
        let now = Timestamp::now();
        let client = client.chars().filter(|letter| !letter.is_control()).take(CLIENT_CHARS_MAX).collect();
        let expires_at = now + Duration::from_secs(SESSION_SECONDS);
        let session = SessionRow { hash: hash(&secret), client, created_at: now, seen_at: now, expires_at };
        self.host.session_put(session).await?;
        Ok(SessionSecret(secret))
    }

    /// The login that this cookie stands for, while it is good.
    pub async fn session_of(&self, secret: &str) -> Result<Option<Session>, ApiError> {
        if secret.len() != 64 || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let session = Session { hash: hash(secret) };
        Ok(self.session_is_open(&session).await?.then_some(session))
    }

    /// Whether a login is still good; notes that it is used.
    pub(crate) async fn session_is_open(&self, session: &Session) -> Result<bool, ApiError> {
        let Some(row) = self.host.session_find(&session.hash).await? else { return Ok(false) };
        if row.seen_at + SEEN_EVERY <= Timestamp::now() {
            self.host.session_seen(&session.hash).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not note that a login is used");
            });
        }
        Ok(true)
    }

    /// Returns once the login is over: ended by somebody, or by time. A database that cannot be asked ends nothing.
    pub async fn session_ended(&self, session: &Session) {
        let mut endings = self.endings.0.subscribe();
        loop {
            match self.session_is_open(session).await {
                Ok(false) => return,
                Ok(true) => (),
                Err(error) => tracing::debug!(%error, "could not look at a login; looking again later"),
            }
            let _ = tokio::time::timeout(LOOK_EVERY, endings.changed()).await;
        }
    }

    /// The browsers that are logged in, the one that was seen last first. `this` is the one that asks, if it is one.
    pub async fn sessions(&self, this: Option<&Session>) -> Result<Vec<SessionView>, ApiError> {
        let view = |row: SessionRow| {
            let session = Session { hash: row.hash };
            SessionView {
                id: session.id(),
                client: row.client,
                created_at: row.created_at,
                seen_at: row.seen_at,
                expires_at: row.expires_at,
                is_this: this == Some(&session),
            }
        };
        Ok(self.host.sessions().await?.into_iter().map(view).collect())
    }

    /// Ends a login, and the streams that are open with it. One that is not there is `not_found`.
    pub async fn session_end(&self, origin: &Origin, id: &str) -> Result<(), ApiError> {
        let done = self.end_one(id).await;
        self.session_audit(origin, Some(id.chars().take(CLIENT_CHARS_MAX).collect()), &done).await;
        done
    }

    /// Ends every login but `this`; without one, all of them.
    pub async fn sessions_end_others(&self, origin: &Origin, this: Option<&Session>) -> Result<(), ApiError> {
        let done = self.host.sessions_delete_others(this.map(|session| &session.hash)).await;
        self.endings.0.send_replace(());
        self.session_audit(origin, Some("all others".to_owned()), &done).await;
        done
    }

    async fn end_one(&self, id: &str) -> Result<(), ApiError> {
        let sessions = self.host.sessions().await?;
        let Some(row) = sessions.into_iter().find(|row| Session { hash: row.hash }.id() == id) else {
            let sentence = "no login is called that, or not any more; GET /api/v1/sessions lists those that are";
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        };
        self.host.session_delete(&row.hash).await?;
        self.endings.0.send_replace(());
        Ok(())
    }

    async fn session_audit(&self, origin: &Origin, target: Option<String>, done: &Result<(), ApiError>) {
        let (result, code) = match done {
            Ok(()) => ("done", None),
            Err(error) if error.code.status() >= 500 => ("failed", Some(error.code)),
            Err(error) => ("refused", Some(error.code)),
        };
        self.record_audit(origin, "logout", target, result, code).await;
    }
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret).into()
}
