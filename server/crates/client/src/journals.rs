//! Journals: pages of records, exports and imports.

use std::time::Duration;

use protocol::{BODY_BYTES_MAX, CommandId, ImportCommand, ImportFormat, Listing, PodRef, PodSummary, Record, Seq};
use reqwest::{Method, Response};

use crate::{Client, ClientError, RawPage, raw};

/// Enough for a long journal over a slow line.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Enough for a large journal over a slow line, and for the server to read and write all of it.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(900);

/// A journal being downloaded; read it to its end.
#[derive(Debug)]
pub struct Download {
    client: Client,
    response: Response,
}

impl Client {
    /// One page of records in seq order: the newest, or those before `before`. Large ones are truncated.
    pub async fn transcript(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<Listing<Record>, ClientError> {
        self.records(pod, before, limit, false).await
    }

    /// Like [`Client::transcript`], without truncation.
    pub async fn whole_transcript(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
    ) -> Result<Listing<Record>, ClientError> {
        self.records(pod, before, limit, true).await
    }

    async fn records(
        &self,
        pod: &PodRef,
        before: Option<Seq>,
        limit: u32,
        is_whole: bool,
    ) -> Result<Listing<Record>, ClientError> {
        let before = before.map(|seq| seq.to_string());
        let text = self.page(pod, before.as_deref(), limit, is_whole).await?;
        serde_json::from_slice(&text).map_err(|error| self.protocol(error))
    }

    /// One page of encoded records: the newest, or those before `before`.
    pub async fn raw_transcript(
        &self,
        pod: &PodRef,
        before: Option<&str>,
        limit: u32,
        is_whole: bool,
    ) -> Result<RawPage, ClientError> {
        let text = self.page(pod, before, limit, is_whole).await?;
        raw::page(text).ok_or_else(|| self.protocol("a page is an object with `items` and `next`"))
    }

    async fn page(
        &self,
        pod: &PodRef,
        before: Option<&str>,
        limit: u32,
        is_whole: bool,
    ) -> Result<bytes::Bytes, ClientError> {
        let limit = limit.to_string();
        let query = [("before", before), ("limit", Some(limit.as_str())), ("whole", is_whole.then_some("true"))];
        let call = self.call(Method::GET, &format!("{}/transcript", pod_path(pod)), &query)?;
        Ok(call.reply().await?.body)
    }

    /// One record, not truncated.
    pub async fn record(&self, pod: &PodRef, seq: Seq) -> Result<Record, ClientError> {
        self.get(&format!("{}/records/{seq}", pod_path(pod)))?.json().await
    }

    /// A Pod's whole journal as a file; `format` is `markdown` or `jsonl`.
    pub async fn export(&self, pod: &PodRef, format: &str) -> Result<Download, ClientError> {
        let call = self.call(Method::GET, &format!("{}/export", pod_path(pod)), &[("format", Some(format))])?;
        Ok(Download { client: self.clone(), response: call.within(EXPORT_TIMEOUT).response().await? })
    }

    /// Creates a stopped Pod with the history of another one, or of a session of another agent.
    pub async fn import(&self, id: &CommandId, command: &ImportCommand) -> Result<PodSummary, ClientError> {
        // Small ones in the form that every server accepts: text grows at most sixfold inside JSON.
        let call = match command.jsonl.len() < BODY_BYTES_MAX / 8 {
            true => self.call(Method::POST, "/api/v1/import", &[])?.body(command),
            false => {
                let query = [
                    ("name", Some(command.name.as_str())),
                    ("format", command.format.map(ImportFormat::as_str)),
                    ("cwd", command.cwd.as_deref()),
                ];
                self.call(Method::POST, "/api/v1/import", &query)?.lines(command.jsonl.clone())
            }
        };
        call.key(id).within(IMPORT_TIMEOUT).json().await
    }
}

impl Download {
    /// The next chunk; `None` at the end. An incomplete file is an error.
    pub async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ClientError> {
        self.response.chunk().await.map_err(|error| self.client.no_server(&error))
    }
}

/// Ids consist of URL-safe characters only, so nothing is escaped.
fn pod_path(pod: &PodRef) -> String {
    format!("/api/v1/runtimes/{}/workers/{}", pod.runtime_id, pod.worker_id)
}
