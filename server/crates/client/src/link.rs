//! What two servers tell each other.

use std::time::Duration;

use protocol::{LinkAnswer, LinkExchange};

use crate::{Client, ClientError};

/// Beyond what the other side is asked to wait.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

impl Client {
    /// One exchange of items with another server.
    pub async fn link(&self, exchange: &LinkExchange) -> Result<LinkAnswer, ClientError> {
        let limit = Duration::from_millis(exchange.wait_ms) + ANSWER_WAIT;
        self.post("/api/v1/link")?.within(limit).body(exchange).json().await
    }
}
