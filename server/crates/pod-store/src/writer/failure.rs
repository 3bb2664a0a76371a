//! Why a group was not written, and what a test can do about it.

use std::sync::Arc;

use crate::{Faults, Step, StoreError, txn::WriteError};

/// Why nothing of a group was written, and whose fault it was.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The batch at this index is wrong; the others may be tried again without it.
    One(usize, StoreError),
    /// The database refused a statement: some batch is wrong.
    Someone(WriteError),
    /// It stood in another host's way, and may be tried again as it is.
    Again(String),
    /// The database cannot be written now. It is tried again until it can; in doubt whether it was written, it is looked first.
    Away(String),
    /// As [`Failure::Away`], because the database is gone; it is looked for until it is put back.
    Lost(String),
    /// Trying again would not help.
    All(StoreError),
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Failed(sentence) => Self::Away(sentence),
            WriteError::Lost(sentence) => Self::Lost(sentence),
            WriteError::Again(sentence) => Self::Again(sentence),
            refused => Self::Someone(refused),
        }
    }
}

/// The steps of a commit, each of which a test can make fail.
pub(crate) struct Steps(pub(crate) Option<Arc<dyn Faults>>);

impl Steps {
    /// Before a step is done.
    pub(crate) fn reach(&self, step: Step) -> Result<(), Failure> {
        let failed = self.0.as_ref().map_or(Ok(()), |faults| faults.before(step));
        failed.map_err(|error| match error {
            StoreError::Away(why) => Failure::Away(why),
            error => Failure::All(error),
        })
    }
}
