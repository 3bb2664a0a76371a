//! Several hosts on one database (PostgreSQL alone): who serves it, whose Pod is whose, and how they reach each other.
//!
//! A host's number is its lease. Each commit looks for that number in its own transaction, so a host that was declared
//! dead can write nothing. What is notified carries no data: whoever is woken reads the tables.

use protocol::WorkerId;
use tokio::sync::watch;

use crate::{PodKey, StoredRecord};

/// Who a host is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostIdentity {
    /// The same after a restart, and nobody else's: who opens the database under it replaces the one before at once.
    pub uid: String,
    /// What people call it.
    pub name: String,
}

impl Default for HostIdentity {
    fn default() -> Self {
        Self { uid: "yoi".to_owned(), name: "yoi".to_owned() }
    }
}

/// A host that serves the database now. Its number is never used again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRow {
    pub id: i64,
    pub name: String,
}

/// A Pod of another host, in a batch: nothing of the batch is written unless that host still owns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignPod {
    pub pod: PodKey,
    pub host: i64,
}

/// Who runs a Pod, and where it ran last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Nobody runs it now when this is absent.
    pub owner: Option<HostRow>,
    /// Name of the host that ran it last.
    pub home: Option<String>,
}

/// One thing that another host asks of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    pub id: i64,
    pub body: String,
}

/// What has changed in the rows of Pods since a position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves {
    /// Where to look on from. Opaque.
    pub position: String,
    /// Each with the number of its last change: the same number was told before.
    pub changed: Vec<(PodKey, WorkerId, String)>,
    pub gone: Vec<WorkerId>,
}

/// New records of one Pod, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    pub pod: PodKey,
    pub records: Vec<StoredRecord>,
}

/// Counters that go up when there may be something to look at. They carry nothing else.
#[derive(Debug, Clone)]
pub struct WakeUps {
    /// Another host has written.
    pub moved: watch::Receiver<u64>,
    /// Somebody asks this host for something.
    pub called: watch::Receiver<u64>,
    /// Something that this host asked for was answered.
    pub answered: watch::Receiver<u64>,
}
