//! Small writes beside the journal. They go through the same writer, so a database has one writer and no more.

use jiff::Timestamp;
use protocol::Seq;

use crate::PodKey;

#[derive(Debug, Clone)]
pub(crate) enum Chore {
    SessionPut {
        hash: [u8; 32],
        expires_at: Timestamp,
    },
    SessionDelete {
        hash: [u8; 32],
    },
    SessionsPurge {
        now: Timestamp,
    },
    /// Copies a journal row that cannot be read.
    Quarantine {
        pod: PodKey,
        seq: Seq,
        found_at: Timestamp,
    },
}
