//! What is asked of all Pods at once, and whole journals on their way out and in.

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt, future::join_all, stream, stream::BoxStream};
use protocol::{
    ApiError, CommandId, Gathered, ImportCommand, PodName, PodRef, PodSummary, Record, RuntimeId, SearchHit,
    UsageReport,
};
use runtime::{Export, Origin, heavy};
use transcript::{Transcript, export_markdown};

use crate::{Backend, Entry, command_key, gathered::part, sums::Sum};

/// What is looked for in journals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// As a person typed them; the last one may be the beginning of a word.
    pub words: String,
    /// In this Pod's journal alone.
    pub pod: Option<PodRef>,
    /// In the journals of this runtime alone; of all when absent.
    pub runtime: Option<RuntimeId>,
    /// `next` of the page before.
    pub after: Option<String>,
    pub limit: u32,
}

/// What a journal is given out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people: what the transcript shows.
    Markdown,
    /// For programs: one record a line, all of them.
    Jsonl,
}

/// A journal as one text.
pub struct ExportText {
    pub name: PodName,
    /// Read as it is taken: a slow reader holds up nobody, and one that goes away ends it.
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

impl Backend {
    /// Tokens over all, per Pod, day, tree and pair: of all runtimes that answer, or of one.
    pub async fn usage(&self, runtime: Option<&RuntimeId>) -> Result<UsageReport, ApiError> {
        if let Some(runtime) = runtime {
            return self.port(runtime)?.usage().await;
        }
        let asked = self.askable().into_iter().map(|(id, entry)| async move {
            let answer = part(&id, async { entry.port.usage().await }).await;
            (id, answer)
        });
        let mut sum = Sum::default();
        for (id, answer) in join_all(asked).await {
            sum.add(id, answer?);
        }
        Ok(sum.report())
    }

    /// Where all the words were said, newest first: in all runtimes that answer, in one, or in one Pod wherever it is.
    pub async fn search(&self, query: SearchQuery) -> Result<Gathered<SearchHit>, ApiError> {
        let SearchQuery { words, pod, runtime, after, limit } = query;
        let only = match (&pod, runtime) {
            (Some(pod), Some(runtime)) if pod.runtime_id != runtime => {
                return Err(ApiError::invalid(format!("the Pod {pod} does not live in the runtime \"{runtime}\"")));
            }
            (Some(pod), _) => Some(pod.runtime_id.clone()),
            (None, runtime) => runtime,
        };
        let pod = pod.map(|pod| pod.worker_id);
        let ask = |entry: Entry, after| {
            let query = runtime::SearchQuery { words: words.clone(), pod: pod.clone(), after, limit };
            async move { entry.port.search(query).await }
        };
        self.gather(only.as_ref(), after.as_deref(), limit, ask).await
    }

    /// A Pod's whole journal.
    pub async fn export(&self, pod: &PodRef, format: ExportFormat) -> Result<ExportText, ApiError> {
        let Export { name, pages } = self.port(&pod.runtime_id)?.export(&pod.worker_id).await?;
        let text = match format {
            ExportFormat::Jsonl => pages.map_ok(lines).boxed(),
            ExportFormat::Markdown => stream::once(document(name.clone(), pages)).boxed(),
        };
        Ok(ExportText { name, text })
    }

    /// A stopped Pod with the journal of another one, as its export has it.
    pub async fn import(&self, origin: &Origin, id: CommandId, command: ImportCommand) -> Result<PodSummary, ApiError> {
        let key = command_key(id, "import", None, &command);
        let target = command.name.to_string();
        let local = RuntimeId::local();
        let work = async { self.port(&local)?.import(key.clone(), origin, command).await };
        self.carry_out(origin, "import", &key, (&local, target), work).await
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

/// The transcript of a journal. It is built page by page; of the records nothing is kept.
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
