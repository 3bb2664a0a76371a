//! Journals: single records, and exports of whole journals.

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt, stream, stream::BoxStream};
use protocol::{ApiError, ErrorCode, PodName, PodRef, Record, Seq};
use runtime::{Export, Observation, RecordForm, RecordPage, heavy};
use serde::Deserialize;
use transcript::{Transcript, export_markdown};

use super::Backend;

/// The format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people: what the transcript shows.
    Markdown,
    /// For programs: all records, one per line.
    Jsonl,
}

/// A journal as one text.
pub struct ExportText {
    pub name: PodName,
    /// Read lazily: a slow reader holds up nobody, and one that goes away ends it.
    pub text: BoxStream<'static, Result<Bytes, ApiError>>,
}

impl std::fmt::Debug for ExportText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ExportText").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ExportFormat {
    pub const ALL: [Self; 2] = [Self::Markdown, Self::Jsonl];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Reads journals: live, in pages, as single records and as a whole.
#[derive(Debug, Clone, Copy)]
pub struct Journals<'a> {
    pub(super) backend: &'a Backend,
}

impl Journals<'_> {
    /// The newest records, or those before a seq: at most `limit` of them and about [`protocol::PAGE_BYTES_MAX`] bytes,
    /// but at least one if there is any.
    pub async fn page(
        self,
        pod: &PodRef,
        before: Option<&str>,
        limit: u32,
        form: RecordForm,
    ) -> Result<RecordPage, ApiError> {
        self.backend.port(&pod.runtime_id)?.transcript(&pod.worker_id, before, limit, form).await
    }

    /// A Pod's stream: a snapshot of the newest `tail` records and everything after it, or everything after a cursor.
    pub async fn observe(self, pod: &PodRef, after: Option<String>, tail: u32) -> Result<Observation, ApiError> {
        Ok(self.backend.port(&pod.runtime_id)?.observe(&pod.worker_id, after, tail).await)
    }

    /// One record in full, as JSON.
    pub async fn record(self, pod: &PodRef, seq: Seq) -> Result<Bytes, ApiError> {
        #[derive(Deserialize)]
        struct Place {
            seq: Seq,
        }
        let page = self.page(pod, Some(&seq.next().to_string()), 1, RecordForm::Whole).await?;
        let is_it = |record: &Bytes| serde_json::from_slice::<Place>(record).is_ok_and(|place| place.seq == seq);
        page.items.into_iter().next().filter(is_it).ok_or_else(|| {
            let sentence = format!(
                "the journal has no record {seq}; pieces of a block are gone once it has ended, and its last record has it whole"
            );
            ApiError::new(ErrorCode::NotFound, sentence)
        })
    }

    /// The full text of one record: what was said, a tool's arguments or its result.
    pub async fn record_text(self, pod: &PodRef, seq: Seq) -> Result<String, ApiError> {
        let body = self.record(pod, seq).await?;
        let size = body.len();
        let text = move || serde_json::from_slice(&body).map(|record| transcript::record_text(&record));
        heavy::work(size, text).await.map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("record {seq} of the journal cannot be read: {error}"))
        })
    }

    /// A Pod's whole journal.
    pub async fn export(self, pod: &PodRef, format: ExportFormat) -> Result<ExportText, ApiError> {
        let Export { name, pages } = self.backend.port(&pod.runtime_id)?.export(&pod.worker_id).await?;
        let text = match format {
            ExportFormat::Jsonl => pages.map_ok(lines).boxed(),
            ExportFormat::Markdown => stream::once(document(name.clone(), pages)).boxed(),
        };
        Ok(ExportText { name, text })
    }
}

fn lines(page: Vec<Bytes>) -> Bytes {
    let mut text = BytesMut::with_capacity(page.iter().map(|record| record.len() + 1).sum());
    for record in page {
        text.put(record);
        text.put_u8(b'\n');
    }
    text.freeze()
}

/// The transcript of a journal, built page by page without keeping the records.
async fn document(
    name: PodName,
    mut pages: BoxStream<'static, Result<Vec<Bytes>, ApiError>>,
) -> Result<Bytes, ApiError> {
    let mut transcript = Transcript::default();
    let mut size = 0;
    while let Some(page) = pages.try_next().await? {
        let bytes: usize = page.iter().map(Bytes::len).sum();
        size += bytes;
        transcript = heavy::work(bytes, move || with_page(transcript, &page)).await;
    }
    let written = move || format!("# {name}\n\n{}", export_markdown(transcript.blocks())).into();
    Ok(heavy::work(size, written).await)
}

fn with_page(mut transcript: Transcript, page: &[Bytes]) -> Transcript {
    for record in page.iter().filter_map(|body| serde_json::from_slice::<Record>(body).ok()) {
        transcript.apply(&record);
    }
    transcript
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::mpsc,
        task::{Context, Waker},
    };

    use serde_json::json;

    use super::*;

    fn page(seqs: std::ops::Range<i64>) -> Vec<Bytes> {
        let record = |seq: i64| {
            let text = format!("answer {seq} {}", "x".repeat(1_000));
            let event =
                json!({ "kind": "message_finished", "block": format!("b{seq}"), "text": text, "interrupted": false });
            json!({ "seq": seq, "at": "2026-11-23T00:00:00Z", "run_id": "run-1", "event": event })
        };
        seqs.map(|seq| serde_json::to_vec(&record(seq)).unwrap().into()).collect()
    }

    #[test]
    fn a_long_journal_is_drawn_beside_the_threads_that_others_wait_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let (go, wait) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || wait.recv());
        let pages = stream::iter([Ok(page(1..200)), Ok(page(200..203))]).boxed();
        let mut document = pin!(document("ada".parse().unwrap(), pages));
        {
            let _entered = runtime.enter();
            let polled = document.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending(), "every page is there already: it waits for a thread");
        }
        go.send(()).unwrap();
        let text = String::from_utf8(runtime.block_on(document).unwrap().to_vec()).unwrap();
        assert!(text.starts_with("# ada\n\n") && text.contains("answer 1 x") && text.contains("answer 202 x"));
    }
}
