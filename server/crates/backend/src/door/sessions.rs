//! Browser logins: opening, checking and ending them.

use std::time::Duration;

use jiff::Timestamp;
use protocol::{ApiError, ErrorCode, SessionView};
use runtime::{Origin, SessionRow};

use super::Backend;
use crate::{SESSION_SECONDS, Session, SessionSecret};

/// How often, at most, the use of a login is recorded.
const SEEN_EVERY: Duration = Duration::from_secs(60);
/// How many characters of a browser's description of itself are stored.
const CLIENT_CHARS_MAX: usize = 200;
/// Another yoi on the same database may also end a login, and each login expires: this is how long an open stream may
/// outlive that.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// Opens, checks, lists and ends browser logins.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    pub(super) backend: &'a Backend,
}

impl Sessions<'_> {
    /// Opens a login. The caller has checked the token. `client` is the browser's description of itself.
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

    /// The login that this cookie stands for, if it is valid.
    pub async fn of(self, secret: &str) -> Result<Option<Session>, ApiError> {
        if secret.len() != 64 || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let session = Session::of(secret);
        Ok(self.is_open(&session).await?.then_some(session))
    }

    /// Whether a login is still valid. Records that it is used.
    pub(super) async fn is_open(self, session: &Session) -> Result<bool, ApiError> {
        let Some(row) = self.backend.host.sessions().find(session.hash()).await? else { return Ok(false) };
        if row.seen_at + SEEN_EVERY <= Timestamp::now() {
            self.backend.host.sessions().seen(session.hash()).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not note that a login is used");
            });
        }
        Ok(true)
    }

    /// Returns when the login is over, whether somebody ended it or it expired. A database that cannot be read does not
    /// end it.
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

    /// The browsers that are logged in, most recently used first. `this` is the login of the caller, if it has one.
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

    /// Ends a login and the streams that are open with it. An unknown one is `not_found`.
    pub async fn end(self, origin: &Origin, id: &str) -> Result<(), ApiError> {
        let done = self.end_one(id).await;
        let target = id.chars().take(CLIENT_CHARS_MAX).collect();
        self.backend.audit().ended(origin, "logout", target, None, &done).await;
        done
    }

    /// Ends every login but `this`; all of them if there is none.
    pub async fn end_others(self, origin: &Origin, this: Option<&Session>) -> Result<(), ApiError> {
        let done = self.backend.host.sessions().delete_others(this.map(Session::hash)).await;
        self.backend.endings.tell();
        self.backend.audit().ended(origin, "logout", "all others".to_owned(), None, &done).await;
        done
    }

    async fn end_one(self, id: &str) -> Result<(), ApiError> {
        let sessions = self.backend.host.sessions().list().await?;
        let Some(row) = sessions.into_iter().find(|row| Session::from_hash(row.hash).id() == id) else {
            let sentence = "no login is called that, or not any more; GET /api/v1/sessions lists those that are";
            return Err(ApiError::new(ErrorCode::NotFound, sentence));
        };
        self.backend.host.sessions().delete(&row.hash).await?;
        self.backend.endings.tell();
        Ok(())
    }
}
