//! Previews of what a Pod's commands serve.

use leptos::prelude::*;
use protocol::{PodRef, Preview};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// The ports that a Pod's commands listen on, and those with an open preview.
#[server(prefix = "/fn", endpoint = "list_previews", input = Json, output = Json)]
pub async fn list_previews(pod: PodRef) -> Result<Vec<Preview>, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.previews().list(&pod).await)
}

/// Opens the preview of a port; returns the updated list.
#[server(prefix = "/fn", endpoint = "open_preview", input = Json, output = Json)]
pub async fn open_preview(pod: PodRef, port: u16) -> Result<Vec<Preview>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.previews().open(&origin, &pod, port).await)?;
    door::answer(backend.previews().list(&pod).await)
}

/// Closes the preview of a port; returns the updated list.
#[server(prefix = "/fn", endpoint = "close_preview", input = Json, output = Json)]
pub async fn close_preview(pod: PodRef, port: u16) -> Result<Vec<Preview>, UiError> {
    let (backend, origin) = door::caller()?;
    door::answer(backend.previews().close(&origin, &pod, port).await)?;
    door::answer(backend.previews().list(&pod).await)
}
