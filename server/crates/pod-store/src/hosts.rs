//! Several hosts on one database (PostgreSQL only): which hosts serve it, which Pod belongs to which, and how they
//! reach each other.
//!
//! A host's number is its lease. Each commit checks for that number in its own transaction, so a host that was declared
//! dead can write nothing. Notifications carry no data: whoever is woken reads the tables.

use protocol::WorkerId;
use tokio::sync::watch;

use crate::{PodKey, StoredRecord};

/// The identity of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostIdentity {
    /// Unique, and stable across restarts: opening the database under the same id immediately replaces the previous
    /// host.
    pub uid: String,
    /// Its name for people.
    pub name: String,
}

impl Default for HostIdentity {
    fn default() -> Self {
        Self { uid: "yoi".to_owned(), name: "yoi".to_owned() }
    }
}

/// A host that serves the database now. Its number is never reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    pub id: i64,
    pub name: String,
}

/// A Pod of another host in a batch: nothing of the batch is written unless that host still owns the Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignPod {
    pub pod: PodKey,
    pub host: i64,
}

/// Which host runs a Pod, and which ran it last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// `None` if no host runs it now.
    pub owner: Option<HostRow>,
    /// The name of the host that ran it last.
    pub home: Option<String>,
}

/// A call from another host to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    pub id: i64,
    pub body: String,
}

/// What has changed in the rows of Pods since a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves {
    /// Where to continue. Opaque.
    pub position: String,
    /// Each with the number of its last change: a number that was seen before is a duplicate.
    pub changed: Vec<(PodKey, WorkerId, String)>,
    pub gone: Vec<WorkerId>,
}

/// New records of one Pod, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    pub pod: PodKey,
    pub records: Vec<StoredRecord>,
}

/// Counters that increase when there may be something to look at. They carry no other data.
#[derive(Debug, Clone)]
pub struct WakeUps {
    /// Another host has written.
    pub moved: watch::Receiver<u64>,
    /// Another host calls this one.
    pub called: watch::Receiver<u64>,
    /// A call of this host was answered.
    pub answered: watch::Receiver<u64>,
}
