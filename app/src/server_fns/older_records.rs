use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{PodRef, Record, Seq};
use serde::{Deserialize, Serialize};

use crate::UiError;

/// A page of the past, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OlderPage {
    pub records: Vec<Record>,
    pub has_more: bool,
}

#[server(prefix = "/fn", endpoint = "older_records", input = Json)]
pub async fn older_records(pod: PodRef, before: Seq) -> Result<OlderPage, UiError> {
    let (backend, _) = super::door::caller()?;
    let page = backend.transcript(&pod, Some(&before.to_string()), super::TAIL_RECORDS).await;
    super::door::answer(
        page.and_then(|page| {
            Ok(OlderPage { records: super::door::decode(&page.items)?, has_more: page.next.is_some() })
        }),
    )
}
