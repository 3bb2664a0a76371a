//! Commands of a person's own.

use leptos::prelude::*;
use protocol::{OwnCommand, OwnMessage, PodRef};

#[cfg(feature = "ssr")]
use protocol::ErrorCode;

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// All of them for this Pod, nearest first.
#[server(prefix = "/fn", endpoint = "list_own", input = Json, output = Json)]
pub async fn list_own(pod: PodRef) -> Result<Vec<OwnCommand>, UiError> {
    Ok(door::read(operations::OwnCommands { pod, page: operation::Page::default() }).await?.items)
}

/// The message that one of them stands for; `None` if none has that name.
#[server(prefix = "/fn", endpoint = "expand_own", input = Json, output = Json)]
pub async fn expand_own(pod: PodRef, name: String, arguments: String) -> Result<Option<OwnMessage>, UiError> {
    let (backend, _) = door::caller()?;
    let asked = operations::OwnMessageOf { pod, name, arguments: operation::Loose(Some(arguments)) };
    match backend.read(asked).await {
        Err(error) if error.code == ErrorCode::NotFound => Ok(None),
        found => door::answer(found.map(Some)),
    }
}
