//! Ports of a Pod's commands that are shown in a browser.

use protocol::{Listing, PodRef, Preview, PreviewCommand};
use reqwest::Method;

use crate::{Client, ClientError, calls::pod_path};

impl Client {
    /// Those that are open.
    pub async fn previews(&self, pod: &PodRef) -> Result<Listing<Preview>, ClientError> {
        self.get(&format!("{}/previews", pod_path(pod)))?.json().await
    }

    /// Opens one. Its address lets one browser in, once and within a minute.
    pub async fn open_preview(&self, pod: &PodRef, port: u16) -> Result<Preview, ClientError> {
        self.post(&format!("{}/previews", pod_path(pod)))?.body(&PreviewCommand { port }).json().await
    }

    pub async fn close_preview(&self, pod: &PodRef, port: u16) -> Result<(), ClientError> {
        self.call(Method::DELETE, &format!("{}/previews/{port}", pod_path(pod)), &[])?.done().await
    }
}
