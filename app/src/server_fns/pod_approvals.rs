use leptos::prelude::*;
use protocol::{Approval, PodRef};

use crate::{UiError, codec::Json};

/// Every question that a Pod has put to a person, answered ones too.
#[server(prefix = "/fn", endpoint = "pod_approvals", input = Json, output = Json)]
pub async fn pod_approvals(pod: PodRef) -> Result<Vec<Approval>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(
        backend
            .read(protocol::operations::Approvals { pod: pod.clone(), all: true, page: Default::default() })
            .await
            .map(|page| page.items),
    )
}
