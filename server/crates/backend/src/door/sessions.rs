//! Logins of browsers: begun, looked at and ended.

use std::time::Duration;

use jiff::Timestamp;
use protocol::{ApiError, ErrorCode, SessionView};
use runtime::{Origin, SessionRow};

use super::Backend;
use crate::{SESSION_SECONDS, Session, SessionSecret};

/// That a login was used is noted at most so often.
const SEEN_EVERY: Duration = Duration::from_secs(60);
/// Of what a browser calls itself, so many characters are kept.
const CLIENT_CHARS_MAX: usize = 200;
/// Another yoi on the same database may end a login too, and each one ends by itself: this is how long an open stream
/// may outlive that.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// This part opens, checks, lists and ends the logins of browsers.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    pub(super) backend: &'a Backend,
}

impl Sessions<'_> {
    /// Begins a login. The caller has checked the token. `client` is what the browser calls itself.
    pub async fn open(self, client: &str) -> Result<SessionSecret, ApiError> {
        let secret = crate::random::random_hex::<32>()?;
        let now = Timestamp::now();
        let client = client.chars().filter(|letter| !letter.is_control()).take(CLIENT_CHARS_MAX).collect();
        let expires_at = now + Duration::from_secs(SESSION_SECONDS);
        let session =
            SessionRow { hash: *Session::of(&secret).hash(), client, created_at: now, seen_at: now, expires_at };
        self.backend.host.sessions().put(session).await?;
        Ok(SessionSecret::new(secret))
    }

    /// The login that this cookie stands for, while it is good.
    pub async fn of(self, secret: &str) -> Result<Option<Session>, ApiError> {
        if secret.len() != 64 || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let session = Session::of(secret);
        Ok(self.is_open(&session).await?.then_some(session))
    }

    /// Whether a login is still good; notes that it is used.
    pub(super) async fn is_open(self, session: &Session) -> Result<bool, ApiError> {
        let Some(row) = self.backend.host.sessions().find(session.hash()).await? else { return Ok(false) };
        if row.seen_at + SEEN_EVERY <= Timestamp::now() {
            self.backend.host.sessions().seen(session.hash()).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not record that a login is used");
            });
        }
        Ok(true)
    }

    /// Returns once the login is over: ended by somebody, or by time. A database that cannot be asked ends nothing.
    pub async fn ended(self, session: &Session) {
        let mut endings = self.backend.endings.watch();
        loop {
            match self.is_open(session).await {
                Ok(false) => return,
                Ok(true) => (),
                Err(error) => tracing::debug!(%error, "could not look at a login; looking again later"),
            }
            let _ = tokio::time::timeout(LOOK_EVERY, endings.changed()).await;
        }
    }

    /// The browsers that are logged in, the one that was seen last first. `this` is the one that asks, if it is one.
    pub async fn list(self, this: Option<&Session>) -> Result<Vec<SessionView>, ApiError> {
        let view = |row: SessionRow| {
            let session = Session::from_hash(row.hash);
            SessionView {
                id: session.id(),
                client: row.client,
                created_at: row.created_at,
                seen_at: row.seen_at,
                expires_at: row.expires_at,
                is_this: this == Some(&session),
            }
        };
        Ok(self.backend.host.sessions().list().await?.into_iter().map(view).collect())
    }

    /// Ends a login, and the streams that are open with it. One that is not there is `not_found`.
    pub async fn end(self, origin: &Origin, id: &str) -> Result<(), ApiError> {
        let done = self.end_one(id).await;
        let target = id.chars().take(CLIENT_CHARS_MAX).collect();
        self.backend.audit().ended(origin, "logout", target, None, &done).await;
        done
    }

    /// Ends every login but `this`; without one, all of them.
    pub async fn end_others(self, origin: &Origin, this: Option<&Session>) -> Result<(), ApiError> {
        let done = self.backend.host.sessions().delete_others(this.map(Session::hash)).await;
        self.backend.endings.tell();
        self.backend.audit().ended(origin, "logout", "all others".to_owned(), None, &done).await;
        done
    }

    async fn end_one(self, id: &str) -> Result<(), ApiError> {
        let sessions = self.backend.host.sessions().list().await?;
        let Some(row) = sessions.into_iter().find(|row| Session::from_hash(row.hash).id() == id) else {
            let sentence = "there is no such login, or it has ended; GET /api/v1/sessions lists the logins";
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        };
        self.backend.host.sessions().delete(&row.hash).await?;
        self.backend.endings.tell();
        Ok(())
    }
}
