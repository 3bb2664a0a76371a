//! Which server this is, and the other servers that it reaches.

use std::time::Duration;

use protocol::{About, AddRuntime, PodRef, RuntimeId, RuntimeView};
use reqwest::Method;

use crate::{Client, ClientError, RawPage, calls::pod_path, raw};

/// Another server has 5 s to answer when it is added.
const ADD_TIMEOUT: Duration = Duration::from_secs(20);
/// Who asks which server this is wants to know it soon.
const ABOUT_TIMEOUT: Duration = Duration::from_secs(5);

impl Client {
    /// Which server this is.
    pub async fn about(&self) -> Result<About, ClientError> {
        self.get("/api/v1/about")?.within(ABOUT_TIMEOUT).json().await
    }

    /// Adds another server's runtime.
    pub async fn add_runtime(&self, add: &AddRuntime) -> Result<RuntimeView, ClientError> {
        self.post("/api/v1/runtimes")?.body(add).within(ADD_TIMEOUT).json().await
    }

    /// Forgets another server's runtime; its Pods stay where they are.
    pub async fn remove_runtime(&self, runtime_id: &RuntimeId) -> Result<(), ClientError> {
        self.call(Method::DELETE, &format!("/api/v1/runtimes/{runtime_id}"), &[])?.done().await
    }

    /// One page of records as they were encoded: the newest, or those before `before`.
    pub async fn raw_transcript(
        &self,
        pod: &PodRef,
        before: Option<&str>,
        limit: u32,
        is_whole: bool,
    ) -> Result<RawPage, ClientError> {
        let limit = limit.to_string();
        let query = [("before", before), ("limit", Some(limit.as_str())), ("whole", is_whole.then_some("true"))];
        let text = self.call(Method::GET, &format!("{}/transcript", pod_path(pod)), &query)?.bytes().await?;
        raw::page(text).ok_or_else(|| self.protocol("a page is an object with `items` and `next`"))
    }
}
