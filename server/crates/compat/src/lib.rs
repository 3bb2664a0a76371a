//! Older Pods behind Unix sockets, as the runtime `compat`: a debugging feature, enabled by a flag of its own.
//!
//! Each older Pod is one process with one socket. Its events become records in memory, with seqs of our own; cursors
//! are valid for one connection and report when they have expired. Nothing of it is stored, and no path of a socket
//! leaves this crate. Nothing else in yoi knows the older protocol.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod ask;
mod commands;
mod connection;
mod folder;
mod journal;
mod lines;
mod list;
mod listed;
mod names;
mod once;
mod pod;
mod port;
mod scrub;
mod session;
mod task;
mod translate;
mod values;
mod viewer;

use std::{fmt, path::Path, sync::Arc};

use protocol::{ApiError, RuntimeId};
use runtime::Host;
use tokio::task::JoinSet;

use crate::{folder::Folder, once::Answers};

/// The runtime of the older Pods. Dropping it closes all connections to them.
pub struct CompatSockets {
    folder: Arc<Folder>,
    answers: Arc<Answers>,
    /// The task that scans the folder.
    _watch: JoinSet<()>,
}

// Written by hand, because a folder contains a path.
impl fmt::Debug for CompatSockets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CompatSockets").finish_non_exhaustive()
    }
}

impl CompatSockets {
    /// Starts connecting to the older Pods in a folder; waits a moment for those that exist already. The host's
    /// database stores which commands were sent, and nothing else about them.
    ///
    /// # Errors
    /// If the database cannot be asked which commands were sent before.
    pub async fn start(folder: &Path, host: Host) -> Result<Self, ApiError> {
        let answers = Arc::new(Answers::of(host).await?);
        let folder = Arc::new(Folder::new(folder));
        folder.look().await;
        folder.settled().await;
        let mut watch = JoinSet::new();
        watch.spawn(folder.clone().watch());
        Ok(Self { folder, answers, _watch: watch })
    }

    /// The id of the runtime.
    pub fn runtime_id() -> RuntimeId {
        names::runtime_id()
    }
}
