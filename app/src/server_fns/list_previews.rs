use leptos::prelude::*;
use protocol::{PodRef, Preview};

use crate::{UiError, codec::Json};

/// The ports that a Pod's commands listen on, and those that are shown.
#[server(prefix = "/fn", endpoint = "list_previews", input = Json, output = Json)]
pub async fn list_previews(pod: PodRef) -> Result<Vec<Preview>, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(backend.previews(&pod).await)
}
