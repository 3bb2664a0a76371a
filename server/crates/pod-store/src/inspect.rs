//! Inspects a database without opening it for use.

use std::path::PathBuf;

use crate::{Database, Inspection, Probe, StoreError, postgres, sqlite};

impl Database {
    /// Connects to PostgreSQL and inspects it without changing anything. `None`: the data is in a file.
    ///
    /// # Errors
    /// The message of the database or of the connection, but never the address, which may contain a password. There is
    /// no time limit.
    pub async fn probe(&self) -> Result<Option<Probe>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres { url } => postgres::probe(url).await.map(Some),
        }
    }

    /// The message at the start if the database is gone while something of it is left. `None`: it exists, or it never
    /// did.
    pub fn missed(&self, remains: &[PathBuf]) -> Option<String> {
        match self {
            Self::Sqlite { path } => sqlite::missed(path, remains),
            Self::Postgres { .. } => None,
        }
    }

    /// Opens a file for reading, checks all of it, and tests whether it could be written; changes nothing. `None`: the
    /// data is not in a file.
    ///
    /// # Errors
    /// The file cannot be opened, or is no database.
    pub async fn inspect(&self) -> Result<Option<Inspection>, StoreError> {
        match self {
            Self::Sqlite { path } => {
                let found = sqlite::inspect(path).await;
                found.map(Some).map_err(|error| sqlite::in_file(error, path))
            }
            Self::Postgres { .. } => Ok(None),
        }
    }
}
