//! Small writes beside the journal. They go through the same writer, so a database has one writer and no more.

use jiff::Timestamp;
use protocol::Seq;

use crate::{PodKey, claims::ClaimChange, sessions::SessionChange};

#[derive(Debug, Clone)]
pub(crate) enum Chore {
    /// This host joins anew, owning nothing. Goes alone.
    Rejoin,
    /// Writes nothing that was not there, and is committed like anything else: to see whether the database can be written.
    Probe,
    Session(SessionChange),
    Claim(ClaimChange),
    /// Copies a journal row that is not what was written.
    Quarantine {
        pod: PodKey,
        seq: Seq,
        found_at: Timestamp,
        reason: &'static str,
    },
}
