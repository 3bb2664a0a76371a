//! Why a group was not written, and the steps at which a test can intervene.

use std::sync::Arc;

use crate::{Faults, Step, StoreError, txn::WriteError};

/// Why nothing of a group was written, and which batch is at fault.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The batch at this index is bad; the others may be retried without it.
    One(usize, StoreError),
    /// The database refused a statement: one of the batches is bad.
    Someone(WriteError),
    /// It conflicted with another host and may be retried unchanged.
    Again(String),
    /// The database cannot be written now. It is retried until it can; if it may have been written, that is checked
    /// first.
    Away(String),
    /// Like [`Failure::Away`], but the database is gone; it is looked for until it has been restored.
    Lost(String),
    /// Retrying would not help.
    All(StoreError),
}

impl Failure {
    /// For tracing.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::One(..) | Self::Someone(_) => "refused",
            Self::Again(_) => "conflict",
            Self::Away(_) => "away",
            Self::Lost(_) => "lost",
            Self::All(StoreError::Fenced) => "fenced",
            Self::All(_) => "failed",
        }
    }
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

/// The steps of a commit, at each of which a test can inject a failure.
pub(crate) struct Steps(pub(crate) Option<Arc<dyn Faults>>);

impl Steps {
    /// Called before a step is carried out.
    pub(crate) fn reach(&self, step: Step) -> Result<(), Failure> {
        let failed = self.0.as_ref().map_or(Ok(()), |faults| faults.before(step));
        failed.map_err(|error| match error {
            StoreError::Away(why) => Failure::Away(why),
            error => Failure::All(error),
        })
    }
}
