use leptos::prelude::*;
use protocol::OpenApproval;

use crate::{UiError, codec::Json};

/// The open questions of every Pod, oldest first.
#[server(prefix = "/fn", endpoint = "open_approvals", input = Json, output = Json)]
pub async fn open_approvals() -> Result<Vec<OpenApproval>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.open_approvals().await.map(|page| page.items))
}
