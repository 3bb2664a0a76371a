//! Looks into a database that nobody needs to have open.

use std::path::PathBuf;

use crate::{Database, Inspection, Probe, StoreError, postgres, sqlite};

impl Database {
    /// Connects to a PostgreSQL and looks at it; changes nothing. None: the data is in a file.
    ///
    /// # Errors
    /// What the database, or the way to it, said; never the address, which may hold a password. It has no bound in time.
    pub async fn probe(&self) -> Result<Option<Probe>, StoreError> {
        match self {
            Self::Sqlite { .. } => Ok(None),
            Self::Postgres { url } => postgres::probe(url).await.map(Some),
        }
    }

    /// What is said at the start when the database is gone and something of it is left; None: it is there, or it never was.
    pub fn missed(&self, remains: &[PathBuf]) -> Option<String> {
        match self {
            Self::Sqlite { path } => sqlite::missed(path, remains),
            Self::Postgres { .. } => None,
        }
    }

    /// Opens a file for reading, checks it as a whole, and sees whether it could be written; changes nothing. None: the data is
    /// not in a file.
    ///
    /// # Errors
    /// What is there cannot be opened, or is no database.
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
