//! A frame of the server as the socket reads it: what all pages need of it.
//!
//! Records are only looked at for their place. The page that draws them reads them from the text (`PodFeed`); what reads
//! them is a large part of the page and no part of the others.

use protocol::{PodRef, PodSummary, Record, Seq};
use serde::Deserialize;

use crate::codec;

/// All fields of all kinds; each kind has its own, and a kind without one leaves it empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Heard {
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The subscription.
    pub(super) id: Option<String>,
    pub(super) server: String,
    pub(super) build: Option<String>,
    pub(super) after: String,
    pub(super) cursor: String,
    pub(super) summary: Option<Box<PodSummary>>,
    pub(super) records: Vec<Place>,
    pub(super) has_more: bool,
    pub(super) snapshot: bool,
    pub(super) upserts: Vec<PodSummary>,
    pub(super) removed: Vec<PodRef>,
    pub(super) code: String,
    pub(super) reason: String,
}

/// Where a record is in its journal.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) seq: Seq,
}

/// The text of a frame, until somebody reads its records.
#[derive(Debug, Clone)]
pub(crate) struct Written(pub(super) String);

#[derive(Deserialize)]
struct Records {
    records: Vec<Record>,
}

impl Written {
    /// The records; none, with a word in the browser's console, when a newer server writes them in another way.
    pub(crate) fn read(&self) -> Vec<Record> {
        match codec::read::<Records>(&self.0) {
            Ok(Records { records }) => records,
            Err(error) => {
                leptos::logging::warn!("records of the event stream are not understood: {error}");
                Vec::new()
            }
        }
    }
}
