use leptos::prelude::*;
use protocol::{PodRef, Record, Seq};
use serde::{Deserialize, Serialize};

use crate::{UiError, codec::Json};

/// A page of the past, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OlderPage {
    pub records: Vec<Record>,
    pub has_more: bool,
}

/// The page before `before`; where `is_whole` the one record before it alone, with all that is cut in pages.
#[server(prefix = "/fn", endpoint = "older_records", input = Json, output = Json)]
pub async fn older_records(pod: PodRef, before: Seq, is_whole: bool) -> Result<OlderPage, UiError> {
    let (backend, _) = super::door::caller()?;
    let past = match is_whole {
        true => super::read_back::whole_before(&backend, &pod, before).await,
        false => super::read_back::page_before(&backend, &pod, before).await,
    };
    super::door::answer(past.map(|past| OlderPage { records: past.records, has_more: past.has_more }))
}
