//! Commands of a person's own.

use leptos::prelude::*;
use protocol::{OwnMessage, PodRef};

#[cfg(feature = "ssr")]
use super::door::{self, operation, operations};
use crate::{UiError, codec::Json};

/// The message that one of them stands for.
#[server(prefix = "/fn", endpoint = "expand_own", input = Json, output = Json)]
pub async fn expand_own(pod: PodRef, name: String, arguments: String) -> Result<OwnMessage, UiError> {
    door::read(operations::OwnMessageOf { pod, name, arguments: operation::Loose(Some(arguments)) }).await
}
