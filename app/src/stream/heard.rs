//! A server frame as the socket reads it: what every page needs of it.
//!
//! Of records only their seq is read here. The page that draws them decodes them from the text (`PodFeed`), because
//! that decoder is a large part of that page and other pages do not need it.

use protocol::{PodRef, PodSummary, Record, Seq};
use serde::Deserialize;

use crate::codec;

/// The union of all frame kinds' fields; those that a kind lacks are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Heard {
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The subscription's id.
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

/// A record's position in its journal.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    pub(super) seq: Seq,
}

/// The text of a frame, until its records are decoded.
#[derive(Debug, Clone)]
pub(crate) struct Written(pub(super) String);

#[derive(Deserialize)]
struct Records {
    records: Vec<Record>,
}

impl Written {
    /// Decodes the records. Returns none, and logs to the browser's console, if a newer server writes them
    /// differently.
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
