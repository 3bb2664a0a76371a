use leptos::prelude::*;
use protocol::PodRef;

use crate::{UiError, codec::Json};

/// Files that the Pod may read and whose path fits what was `begun`, the best first.
#[server(prefix = "/fn", endpoint = "fitting_files", input = Json, output = Json)]
pub async fn fitting_files(pod: PodRef, begun: String) -> Result<Vec<String>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(
        backend
            .read(protocol::operations::Files { pod, q: protocol::operation::Loose(Some(begun)) })
            .await
            .map(|found| found.items),
    )
}
