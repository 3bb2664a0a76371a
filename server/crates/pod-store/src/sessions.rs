//! Browser logins. A login is known by a hash of its secret, and by nothing else.

use jiff::Timestamp;

/// So many logins are listed at most; those that were seen last.
pub const SESSIONS_LISTED_MAX: u32 = 200;

/// One login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub hash: [u8; 32],
    /// What the browser called itself, bounded by whoever writes it.
    pub client: String,
    pub created_at: Timestamp,
    /// Coarse: it is not written with each request.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A small write to the logins.
#[derive(Debug, Clone)]
pub(crate) enum SessionChange {
    Put(SessionRow),
    /// Never goes back, and brings no login back that has ended.
    Seen {
        hash: [u8; 32],
        at: Timestamp,
    },
    Delete {
        hash: [u8; 32],
    },
    /// All but this one.
    DeleteOthers {
        kept: Option<[u8; 32]>,
    },
    Purge {
        now: Timestamp,
    },
}
