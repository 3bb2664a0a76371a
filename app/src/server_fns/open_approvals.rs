use leptos::{prelude::*, server_fn::codec::Json};
use protocol::OpenApproval;

use crate::UiError;

/// The open questions of every Pod, oldest first.
#[server(prefix = "/fn", endpoint = "open_approvals", input = Json)]
pub async fn open_approvals() -> Result<Vec<OpenApproval>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.open_approvals().await.map(|page| page.items))
}
