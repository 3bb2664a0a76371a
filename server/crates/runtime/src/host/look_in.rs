//! Looking at what a Pod's commands serve.

use std::collections::BTreeSet;

use protocol::{ApiError, WorkerId};
use tokio::net::UnixStream;

use crate::Host;

impl Host {
    /// A connection to a port of the loopback of one of the Pod's running commands: of the newest that serves it. None: no command
    /// does now.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn look_in(&self, worker_id: &WorkerId, port: u16) -> Result<Option<UnixStream>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.connect(worker_id, port).await)
    }

    /// The ports that the Pod's running commands listen on, the lowest first.
    ///
    /// # Errors
    /// `pod_not_found`.
    pub async fn listening_ports(&self, worker_id: &WorkerId) -> Result<BTreeSet<u16>, ApiError> {
        self.inner.existing_row(worker_id).await?;
        Ok(self.inner.actors.ways_in.listening(worker_id).await)
    }
}
