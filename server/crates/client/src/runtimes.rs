//! The other servers that a server knows as runtimes.

use std::time::Duration;

use protocol::{AddRuntime, RuntimeId, RuntimeView};
use reqwest::Method;

use crate::{Client, ClientError};

/// The other server has 5 s to answer when it is added.
const ADD_TIMEOUT: Duration = Duration::from_secs(20);

impl Client {
    /// Adds another server as a runtime.
    pub async fn add_runtime(&self, add: &AddRuntime) -> Result<RuntimeView, ClientError> {
        self.call(Method::POST, "/api/v1/runtimes", &[])?.body(add).within(ADD_TIMEOUT).json().await
    }

    /// Removes another server's runtime; its Pods stay where they are.
    pub async fn remove_runtime(&self, runtime_id: &RuntimeId) -> Result<(), ClientError> {
        self.call(Method::DELETE, &format!("/api/v1/runtimes/{runtime_id}"), &[])?.done().await
    }
}
