//! The open transaction, for statements that both databases share.

use sqlx::{PgConnection, Row, SqliteConnection};

use crate::{
    StoreError,
    statement::{Argument, Statement, Text},
};

/// Why a step failed.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The unique name of a Pod. The database does not say which.
    NameTaken,
    /// Another unique key: a seq, a worker id.
    Conflict,
    /// What was to be written is at fault; the message names the operation.
    Refused(String),
    /// The database is at fault or out of reach, and may recover in a moment. From a commit: it is not known whether it
    /// was written.
    Failed(String),
    /// The database is gone and may be restored. The message says what is left of it and what to do.
    Lost(String),
    /// Part of the file cannot be read, and retrying does not help.
    Damaged(String),
    /// Another host's transaction conflicted; nothing was written, and it may be retried.
    Again(String),
}

/// The meaning for a caller whose batch was alone in its transaction.
impl From<WriteError> for StoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused(sentence) | WriteError::Failed(sentence) | WriteError::Again(sentence) => {
                Self::Database(sentence)
            }
            WriteError::Lost(sentence) => Self::Lost(sentence),
            WriteError::Damaged(sentence) => Self::Damaged(sentence),
            WriteError::NameTaken | WriteError::Conflict => Self::Conflict,
        }
    }
}

/// The connection that writes.
pub(crate) enum Txn<'c> {
    Sqlite(&'c mut SqliteConnection, Explain),
    Postgres(&'c mut PgConnection, Explain),
}

/// Explains a failed write; the operation completes "cannot …".
pub(crate) type Explain = fn(&'static str, sqlx::Error) -> WriteError;

/// A statement being built.
#[must_use]
pub(crate) struct Change<'c> {
    statement: Statement<&'c mut SqliteConnection, &'c mut PgConnection>,
    explain: Explain,
}

impl Txn<'_> {
    pub(crate) fn sql(&mut self, text: impl Into<Text>) -> Change<'_> {
        let text = text.into();
        match self {
            Self::Sqlite(connection, explain) => {
                Change { statement: Statement::Sqlite(sqlx::query(text.sqlite), connection), explain: *explain }
            }
            Self::Postgres(connection, explain) => {
                Change { statement: Statement::Postgres(sqlx::query(text.postgres), connection), explain: *explain }
            }
        }
    }
}

impl Change<'_> {
    pub(crate) fn bind<'t>(self, value: impl Argument<'t>) -> Self {
        Self { statement: self.statement.bind(value), ..self }
    }

    /// Returns the number of rows that changed.
    pub(crate) async fn run(self, operation: &'static str) -> Result<u64, WriteError> {
        let done = match self.statement {
            Statement::Sqlite(query, connection) => query.execute(connection).await.map(|done| done.rows_affected()),
            Statement::Postgres(query, connection) => query.execute(connection).await.map(|done| done.rows_affected()),
        };
        done.map_err(|error| (self.explain)(operation, error))
    }

    /// Returns the number that the statement selects.
    pub(crate) async fn number(self, operation: &'static str) -> Result<i64, WriteError> {
        let number = match self.statement {
            Statement::Sqlite(query, connection) => query.fetch_one(connection).await.and_then(|row| row.try_get(0)),
            Statement::Postgres(query, connection) => query.fetch_one(connection).await.and_then(|row| row.try_get(0)),
        };
        number.map_err(|error| (self.explain)(operation, error))
    }
}
