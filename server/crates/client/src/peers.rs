//! The calls about Pods that know each other.

use protocol::{
    CommandId, ExchangeMessage, HeldCommand, Listing, MessageAnswer, MessageCommand, OpenRequest, PeerAnswer,
    PeerCommand, PeerView, PodRef, RequestCommand,
};
use reqwest::{Method, StatusCode};

use crate::{
    Client, ClientError,
    calls::{pod_path, segment},
};

impl Client {
    /// Whom a Pod knows, then the requests between it and others.
    pub async fn peers(&self, pod: &PodRef) -> Result<Listing<PeerView>, ClientError> {
        self.get(&format!("{}/peers", pod_path(pod)))?.json().await
    }

    /// Introduces a Pod to another one, or asks the other side.
    pub async fn introduce(
        &self,
        id: &CommandId,
        pod: &PodRef,
        command: &PeerCommand,
    ) -> Result<PeerAnswer, ClientError> {
        self.post(&format!("{}/peers", pod_path(pod)))?.key(id).body(command).json().await
    }

    /// As [`Client::introduce`]; says also whether they knew each other before.
    pub async fn introduce_told(
        &self,
        id: &CommandId,
        pod: &PodRef,
        command: &PeerCommand,
    ) -> Result<(PeerAnswer, bool), ClientError> {
        let call = self.post(&format!("{}/peers", pod_path(pod)))?.key(id).body(command);
        let (answer, status) = call.json_and_status().await?;
        Ok((answer, status == StatusCode::OK))
    }

    /// Ends what the two are to each other. What is not there needs no end.
    pub async fn unlink(&self, id: &CommandId, pod: &PodRef, peer: &PodRef) -> Result<(), ClientError> {
        self.call(Method::DELETE, &pair_path(pod, peer), &[])?.key(id).done().await
    }

    /// Every request that waits for an answer, oldest first.
    pub async fn open_requests(&self) -> Result<Listing<OpenRequest>, ClientError> {
        self.get("/api/v1/requests")?.json().await
    }

    /// As [`Client::open_requests`], of the server's own Pods alone.
    pub async fn own_open_requests(&self) -> Result<Listing<OpenRequest>, ClientError> {
        self.call(Method::GET, "/api/v1/requests", &[("runtime", Some("local"))])?.json().await
    }

    /// Accepts or declines a request that was made to this Pod.
    pub async fn decide_request(
        &self,
        id: &CommandId,
        pod: &PodRef,
        request_id: &str,
        command: RequestCommand,
    ) -> Result<PeerAnswer, ClientError> {
        let path = format!("{}/peers/requests/{}", pod_path(pod), segment(request_id)?);
        self.post(&path)?.key(id).body(&command).json().await
    }

    /// Sends a message from this Pod to a peer. It is then on the disk at the receiver, or held.
    pub async fn send_message(
        &self,
        id: &CommandId,
        pod: &PodRef,
        command: &MessageCommand,
    ) -> Result<MessageAnswer, ClientError> {
        self.post(&format!("{}/messages", pod_path(pod)))?.key(id).body(command).json().await
    }

    /// Releases or drops a message that is held, on either side.
    pub async fn decide_held(
        &self,
        id: &CommandId,
        pod: &PodRef,
        message_id: &str,
        command: HeldCommand,
    ) -> Result<MessageAnswer, ClientError> {
        let path = format!("{}/messages/{}", pod_path(pod), segment(message_id)?);
        self.post(&path)?.key(id).body(&command).json().await
    }

    /// What two Pods wrote to each other, newest first.
    pub async fn exchange(
        &self,
        pod: &PodRef,
        peer: &PodRef,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ClientError> {
        let limit = limit.to_string();
        let query = [("before", before), ("limit", Some(limit.as_str()))];
        self.call(Method::GET, &format!("{}/messages", pair_path(pod, peer)), &query)?.json().await
    }
}

fn pair_path(pod: &PodRef, peer: &PodRef) -> String {
    format!("{}/peers/{}/{}", pod_path(pod), peer.runtime_id, peer.worker_id)
}
