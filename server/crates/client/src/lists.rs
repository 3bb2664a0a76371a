//! What was said, what was used, and whole journals.

use std::time::Duration;

use protocol::{BODY_BYTES_MAX, CommandId, Gathered, ImportCommand, PodRef, PodSummary, SearchHit, UsageReport};
use reqwest::{Method, Response};

use crate::{Client, ClientError, calls::pod_path};

/// A long journal over a slow line.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(3_600);

/// A large journal on a slow line, and a server that reads and writes all of it.
const IMPORT_TIMEOUT: Duration = Duration::from_secs(900);

/// What is looked for in journals; what is absent lets all through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SearchFilter<'a> {
    /// The last one may be the beginning of a word.
    pub words: &'a str,
    pub pod: Option<&'a PodRef>,
    /// In this runtime alone.
    pub runtime: Option<&'a str>,
    /// `next` of the page before.
    pub after: Option<&'a str>,
    /// As many as the server likes when absent.
    pub limit: Option<u32>,
}

/// A journal on its way; read it to its end.
#[derive(Debug)]
pub struct Download {
    client: Client,
    response: Response,
}

impl Client {
    /// Tokens over all, per Pod, day, tree and pair; of all runtimes.
    pub async fn usage(&self) -> Result<UsageReport, ClientError> {
        self.get("/api/v1/usage")?.json().await
    }

    /// As [`Client::usage`], of one runtime.
    pub async fn usage_of(&self, runtime: &str) -> Result<UsageReport, ClientError> {
        self.call(Method::GET, "/api/v1/usage", &[("runtime", Some(runtime))])?.json().await
    }

    /// Where all the words were said, newest first.
    pub async fn search(&self, words: &str) -> Result<Gathered<SearchHit>, ClientError> {
        self.search_of(SearchFilter { words, ..SearchFilter::default() }).await
    }

    /// As [`Client::search`], those hits alone that the filter lets through.
    pub async fn search_of(&self, filter: SearchFilter<'_>) -> Result<Gathered<SearchHit>, ClientError> {
        let SearchFilter { words, pod, runtime, after, limit } = filter;
        let (pod, limit) = (pod.map(PodRef::to_string), limit.map(|limit| limit.to_string()));
        let query = [
            ("q", Some(words)),
            ("pod", pod.as_deref()),
            ("runtime", runtime),
            ("after", after),
            ("limit", limit.as_deref()),
        ];
        self.call(Method::GET, "/api/v1/search", &query)?.json().await
    }

    /// A Pod's whole journal as a file; `format` is `markdown` or `jsonl`.
    pub async fn export(&self, pod: &PodRef, format: &str) -> Result<Download, ClientError> {
        let call = self.call(Method::GET, &format!("{}/export", pod_path(pod)), &[("format", Some(format))])?;
        Ok(Download { client: self.clone(), response: call.within(EXPORT_TIMEOUT).response().await? })
    }

    /// A stopped Pod with the history of another one.
    pub async fn import(&self, id: &CommandId, command: &ImportCommand) -> Result<PodSummary, ClientError> {
        // Small ones as every server knows it: text within JSON grows at most sixfold.
        let call = match command.jsonl.len() < BODY_BYTES_MAX / 8 {
            true => self.post("/api/v1/import")?.body(command),
            false => {
                let query = [("name", Some(command.name.as_str()))];
                self.call(Method::POST, "/api/v1/import", &query)?.lines(command.jsonl.clone())
            }
        };
        call.key(id).within(IMPORT_TIMEOUT).json().await
    }
}

impl Download {
    /// The next piece; none at the end. A file that broke off is an error.
    pub async fn chunk(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, ClientError> {
        self.response.chunk().await.map_err(|error| self.client.no_server(&error))
    }
}
