//! Browser logins. A login is identified only by a hash of its secret.

use jiff::Timestamp;

/// The most logins that are listed, most recently used first.
pub const SESSIONS_LISTED_MAX: u32 = 200;

/// One login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub hash: [u8; 32],
    /// The browser's description of itself, bounded by the writer.
    pub client: String,
    pub created_at: Timestamp,
    /// Coarse: it is not updated with every request.
    pub seen_at: Timestamp,
    pub expires_at: Timestamp,
}

/// A small write to the logins.
#[derive(Debug, Clone)]
pub(crate) enum SessionChange {
    Put(SessionRow),
    /// Never moves back, and never revives a login that has ended.
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
