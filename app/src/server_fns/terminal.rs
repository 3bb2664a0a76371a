//! Terminals. They themselves go over a socket; see `GET P/terminal` of the API.

use leptos::prelude::*;
use protocol::{PodRef, TerminalPlace};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// Which shell a terminal for this Pod would run, and where; or why there can be none.
#[server(prefix = "/fn", endpoint = "find_terminal", input = Json, output = Json)]
pub async fn find_terminal(pod: PodRef) -> Result<TerminalPlace, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(backend.terminals().place(&pod).await)
}
