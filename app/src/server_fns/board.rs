//! What the board shows: what needs you, what each Pod did since you last looked, and what today cost.

#[cfg(feature = "ssr")]
mod allowance;
#[cfg(feature = "ssr")]
mod drawing;
#[cfg(feature = "ssr")]
mod looked;
#[cfg(feature = "ssr")]
mod reader;
#[cfg(feature = "ssr")]
mod strip;

use leptos::prelude::*;
use protocol::{OpenApproval, OpenRequest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{UiError, codec::Json};

/// The board as it was read. What only changes as a whole is drawn by the server, so that the browser needs no code
/// for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoardFound {
    /// `Good morning.`, by your clock.
    pub greeting: String,
    /// When you last looked.
    pub since: Timestamp,
    /// What happened since, in one sentence.
    pub lede: String,
    /// What today cost, as HTML.
    pub cost: String,
    /// What each Pod did, as HTML.
    pub rows: String,
    /// The open approvals, oldest first.
    pub questions: Vec<OpenApproval>,
    /// The open peer requests, oldest first.
    pub requests: Vec<OpenRequest>,
}

/// Reads the board for whoever asks; their cookies say when they last looked, and their time zone.
#[server(prefix = "/fn", endpoint = "read_board", input = Json, output = Json)]
pub async fn read_board() -> Result<BoardFound, UiError> {
    let (backend, _) = super::door::caller()?;
    super::door::answer(reader::read(&backend, looked::since(), looked::zone()).await)
}
