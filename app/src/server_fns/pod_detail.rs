use leptos::prelude::*;
use protocol::{PodDetail, PodRef};

use crate::{UiError, codec::Json};

/// What the stream does not carry: the queue, the policies.
#[server(name = PodDetailCall, prefix = "/fn", endpoint = "pod_detail", input = Json, output = Json)]
pub async fn pod_detail(pod: PodRef) -> Result<PodDetail, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.pod(&pod).await)
}
