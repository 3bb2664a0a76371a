//! Searching the transcripts.

use leptos::prelude::*;
use protocol::{Gathered, SearchHit};

#[cfg(feature = "ssr")]
use super::door;
use crate::{UiError, codec::Json};

/// The newest matches of these words, in all Pods of all runtimes or in the one at `pod`; those following the cursor
/// `after`. Markdown prose is returned as plain text.
#[server(prefix = "/fn", endpoint = "search", input = Json, output = Json)]
pub async fn search(words: String, pod: Option<String>, after: Option<String>) -> Result<Gathered<SearchHit>, UiError> {
    let (backend, _) = door::caller()?;
    door::answer(reader::find(&backend, words, pod.as_deref(), after).await)
}

#[cfg(feature = "ssr")]
mod reader {
    use backend::Backend;
    use protocol::{
        ApiError, ErrorCode, Gathered, SearchHit,
        operation::{Filled, Limit, Loose},
        operations::Search,
    };
    use transcript::{ansi, snippet_words};

    const PAGE_HITS: u32 = 50;

    pub(super) async fn find(
        backend: &Backend,
        words: String,
        pod: Option<&str>,
        after: Option<String>,
    ) -> Result<Gathered<SearchHit>, ApiError> {
        let pod = pod.map(str::parse).transpose();
        let pod = pod.map_err(|error| ApiError::new(ErrorCode::PodNotFound, format!("no such Pod: {error}")))?;
        let mut page = backend
            .read(Search { pod: Filled(pod), after: Loose(after), limit: Limit(PAGE_HITS), ..Search::of(words) })
            .await?;
        for hit in &mut page.items {
            hit.snippet = snippet_words(&hit.kind, &ansi::strip(&hit.snippet));
        }
        Ok(page)
    }
}
