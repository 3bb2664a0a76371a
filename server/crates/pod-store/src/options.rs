//! Which database to open, and what a test may break in it.

use std::{path::PathBuf, str::FromStr, sync::Arc};

use jiff::Timestamp;
use protocol::Seq;

use crate::{Faults, StoreError};

/// Where the data lives.
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    Sqlite { path: PathBuf },
    Postgres { url: String },
}

// Implemented by hand: a PostgreSQL address may contain a password, and options end up in logs.
impl std::fmt::Debug for Database {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite { path } => formatter.debug_struct("Sqlite").field("path", path).finish(),
            Self::Postgres { .. } => formatter.debug_struct("Postgres").finish_non_exhaustive(),
        }
    }
}

impl Database {
    /// Accepts `sqlite://PATH` (relative or absolute), `postgres://…` and `postgresql://…`.
    pub fn parse(text: &str) -> Result<Self, StoreError> {
        match text.split_once("://") {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite { path: path.into() }),
            Some(("postgres" | "postgresql", rest)) if !rest.is_empty() => Ok(Self::Postgres { url: text.to_owned() }),
            _ => Err(StoreError::Database(
                "a database is given as sqlite://PATH or as postgres://USER:PASSWORD@HOST/NAME".to_owned(),
            )),
        }
    }
}

/// The version of a PostgreSQL server, and the damaged records in its database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// For example `15.18`.
    pub version: String,
    /// Those that were read and set aside.
    pub damaged: DamagedRecords,
}

/// Records that are not what was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DamagedRecords {
    pub count: u64,
    /// At most [`DamagedRecords::LISTED_MAX`] of them.
    pub listed: Vec<DamagedRecord>,
}

impl DamagedRecords {
    pub const LISTED_MAX: usize = 20;

    pub(crate) fn add(&mut self, record: impl FnOnce() -> DamagedRecord) {
        self.count += 1;
        if self.listed.len() < Self::LISTED_MAX {
            self.listed.push(record());
        }
    }
}

/// A damaged record: where it is, what is wrong with it, and when a reader first found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRecord {
    /// Its Pod's name, or the Pod's number if it has none.
    pub pod: String,
    pub seq: Seq,
    pub reason: String,
    pub set_aside_at: Option<Timestamp>,
}

/// The result of inspecting a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The number of migrations it has had, and how many this yoi has.
    pub version: usize,
    pub known_version: usize,
    /// What the database's own check found.
    pub damage: Vec<String>,
    /// All records were checked.
    pub damaged: DamagedRecords,
    /// The size of the write-ahead log.
    pub log_bytes: u64,
    /// Why it cannot be written now.
    pub unwritable: Option<String>,
}

impl FromStr for Database {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        Self::parse(text)
    }
}

/// How to open a [`crate::Store`].
#[derive(Debug, Clone)]
pub struct StoreOptions {
    pub database: Database,
    /// Files and folders that exist only where there was a database: beside any of them, no new one is created.
    pub remains: Vec<PathBuf>,
    /// For tests: consulted before each durable step.
    pub faults: Option<Arc<dyn Faults>>,
    /// For tests: the VFS through which SQLite reaches its files; `None`: its own.
    pub vfs: Option<&'static str>,
    /// For tests: this SQLite file stands for a database that several hosts share, and this is the way to it.
    #[cfg(feature = "shared-file")]
    pub way: Option<Arc<dyn crate::Way>>,
}

impl StoreOptions {
    pub fn new(database: Database) -> Self {
        Self {
            database,
            remains: Vec::new(),
            faults: None,
            vfs: None,
            #[cfg(feature = "shared-file")]
            way: None,
        }
    }

    /// A SQLite file. It and its folder are created if missing, accessible only to their owner.
    pub fn sqlite(path: impl Into<PathBuf>) -> Self {
        Self::new(Database::Sqlite { path: path.into() })
    }

    pub fn with_remains(self, remains: Vec<PathBuf>) -> Self {
        Self { remains, ..self }
    }

    pub fn with_faults(self, faults: Arc<dyn Faults>) -> Self {
        Self { faults: Some(faults), ..self }
    }

    pub fn with_vfs(self, name: &'static str) -> Self {
        Self { vfs: Some(name), ..self }
    }

    /// Several hosts serve the file, each over a way of its own.
    #[cfg(feature = "shared-file")]
    pub fn shared_over(self, way: Arc<dyn crate::Way>) -> Self {
        Self { way: Some(way), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file_or_an_address_and_nothing_else() {
        assert_eq!(Database::parse("sqlite:///var/yoi.db").unwrap(), Database::Sqlite { path: "/var/yoi.db".into() });
        assert_eq!(Database::parse("sqlite://yoi.db").unwrap(), Database::Sqlite { path: "yoi.db".into() });
        for url in ["postgres://me@host/yoi", "postgresql:///yoi?host=/run"] {
            assert_eq!(Database::parse(url).unwrap(), Database::Postgres { url: url.to_owned() });
        }
        for bad in ["", "sqlite://", "yoi.db", "mysql://x", "postgres://"] {
            let sentence = Database::parse(bad).unwrap_err().to_string();
            assert!(sentence.contains("sqlite://") && sentence.contains("postgres://"), "{bad}: {sentence}");
        }
    }

    #[test]
    fn a_password_is_not_in_the_debug_text() {
        let database = Database::parse("postgres://me:secret@host/yoi").unwrap();
        assert!(!format!("{database:?}").contains("secret"));
    }
}
