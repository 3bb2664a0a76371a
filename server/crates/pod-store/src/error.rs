//! Errors, classified by what a caller can do about them.

use protocol::{ApiError, ErrorCode, PodName};

#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another host has taken over; this one must not write any more.
    #[error("another yoi process has taken over this database; stop this one")]
    Fenced,
    /// Another host runs the Pod; nothing was written.
    #[error("the Pod is run by the host \"{}\"", .0.name)]
    Elsewhere(crate::HostRow),
    /// The name is taken by another Pod.
    #[error("a Pod called \"{0}\" is already there; choose another name")]
    NameTaken(PodName),
    /// The Pod was deleted or never existed, or that is so for its intended parent, its peer, or the other side of its
    /// message.
    #[error("the Pod is not in the database")]
    PodGone,
    /// The records do not follow the journal's head, or something that was to be new already exists.
    #[error("the database has moved on since this change was made")]
    Conflict,
    /// The writer has stopped; the process is shutting down.
    #[error("the store is closed")]
    Closed,
    /// Injected by a test.
    #[error("fault injected at {0:?}")]
    Injected(crate::Step),
    /// The database cannot be written now; nothing was written. May be retried.
    #[error("the database cannot be written: {0}")]
    Away(String),
    /// The database went away during the commit: the change was written once or not at all.
    #[error("the database went away, and it is not known whether this was written: {0}")]
    Unknown(String),
    /// The database is gone: it was deleted, moved, emptied or replaced. Nothing was written. The message says what is
    /// left and what to do.
    #[error("{0}")]
    Lost(String),
    /// Part of the file cannot be read, and retrying does not help. The message names the operation, the file and what
    /// to do.
    #[error("{0}")]
    Damaged(String),
    /// A read failed and may succeed in a moment; the message names what was to be read.
    #[error("{0}")]
    Unread(String),
    /// A permanent failure of the database itself; the message names the operation.
    #[error("{0}")]
    Database(String),
}

/// The error that a caller sees, without internals of the store.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NameTaken(name) => Self::new(
                ErrorCode::NameTaken,
                format!("a Pod called \"{name}\" is already there; choose another name"),
            ),
            StoreError::PodGone => Self::new(ErrorCode::PodNotFound, "the Pod was deleted"),
            StoreError::Closed => {
                Self::new(ErrorCode::RuntimeUnavailable, "yoi is stopping; try again when it is back")
            }
            StoreError::Fenced => Self::new(
                ErrorCode::RuntimeUnavailable,
                "another yoi has taken over what this one ran; talk to that one, or try again in a moment",
            ),
            StoreError::Elsewhere(host) => Self::new(
                ErrorCode::RuntimeUnavailable,
                format!("the host \"{}\" has just taken the Pod over; try again", host.name),
            ),
            StoreError::Away(why) => Self::new(
                ErrorCode::RuntimeUnavailable,
                format!("yoi cannot write to its database now, so nothing was done ({why}); send it again in a moment"),
            ),
            StoreError::Unknown(why) => Self::new(
                ErrorCode::RuntimeUnavailable,
                format!(
                    "yoi lost its database in the middle of this, so it was stored or not ({why}); send it again with the same \
                     idempotency key: it happens once"
                ),
            ),
            StoreError::Lost(why) => {
                Self::new(ErrorCode::RuntimeUnavailable, format!("yoi's database is gone, so nothing was done: {why}"))
            }
            StoreError::Damaged(why) => {
                tracing::error!(why, "the database is damaged");
                let sentence = "yoi's database is damaged in this place, so nothing was done; `yoi doctor` and the log name the \
                    file and what to do";
                Self::new(ErrorCode::Internal, sentence)
            }
            StoreError::Unread(why) => {
                tracing::error!(why, "the store could not be read");
                Self::new(
                    ErrorCode::RuntimeUnavailable,
                    format!("yoi could not read its database, so nothing was done ({why}); try again in a moment"),
                )
            }
            StoreError::Conflict | StoreError::Injected(_) | StoreError::Database(_) => {
                tracing::error!(%error, "the store failed");
                Self::new(ErrorCode::Internal, "yoi's database failed, so nothing was done; its log says why")
            }
        }
    }
}
