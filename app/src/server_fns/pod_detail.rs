use leptos::{prelude::*, server_fn::codec::Json};
use protocol::{PodDetail, PodRef};

use crate::UiError;

/// What the stream does not carry: the queue, the policies.
#[server(name = PodDetailCall, prefix = "/fn", endpoint = "pod_detail", input = Json)]
pub async fn pod_detail(pod: PodRef) -> Result<PodDetail, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.pod(&pod).await)
}
