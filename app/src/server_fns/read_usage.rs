use leptos::prelude::*;
use protocol::UsageReport;

use crate::{UiError, codec::Json};

/// Tokens and cost of all Pods: in total, per day, per Pod, tree and pair of peers.
#[server(prefix = "/fn", endpoint = "read_usage", input = Json, output = Json)]
pub async fn read_usage() -> Result<UsageReport, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.read(protocol::operations::Usage { runtime: Default::default() }).await)
}
