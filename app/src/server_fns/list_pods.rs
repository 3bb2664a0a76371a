use leptos::prelude::*;
use protocol::PodSummary;

use crate::{UiError, codec::Json};

/// All Pods, newest change first.
#[server(prefix = "/fn", endpoint = "list_pods", input = Json, output = Json)]
pub async fn list_pods() -> Result<Vec<PodSummary>, UiError> {
    let (backend, _) = super::door::caller()?;
    let query = protocol::operations::Pods { limit: protocol::operation::Limit(1_000), ..Default::default() };
    super::door::answer(backend.read(query).await.map(|page| page.items))
}
