//! Tokens and cost.

use leptos::prelude::*;
use protocol::UsageReport;

#[cfg(feature = "ssr")]
use super::door::{self, operations};
use crate::{UiError, codec::Json};

/// Tokens and cost of all Pods: in total, per day, per Pod, per tree and per pair of peers.
#[server(prefix = "/fn", endpoint = "read_usage", input = Json, output = Json)]
pub async fn read_usage() -> Result<UsageReport, UiError> {
    door::read(operations::Usage { runtime: Default::default() }).await
}
