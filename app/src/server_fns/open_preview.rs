use leptos::prelude::*;
use protocol::{PodRef, Preview};

use crate::{UiError, codec::Json};

/// Opens the preview of a port; all that there are then.
#[server(prefix = "/fn", endpoint = "open_preview", input = Json, output = Json)]
pub async fn open_preview(pod: PodRef, port: u16) -> Result<Vec<Preview>, UiError> {
    let (backend, origin) = super::door::caller()?;
    super::door::answer(backend.preview_open(&origin, &pod, port).await)?;
    super::door::answer(backend.previews(&pod).await)
}
