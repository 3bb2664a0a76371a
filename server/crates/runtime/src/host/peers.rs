//! Pods that know each other: introductions, and messages between them.

use protocol::{
    ApiError, ErrorCode, ExchangeMessage, HeldDecision, Listing, MessageAnswer, OpenRequest, PeerAnswer, PeerView,
    PodRef, RequestDecision, WorkerId,
};

use super::Inner;
use crate::{
    CommandKey, FarPod, Introduced, Origin,
    asked::Asked,
    peers::{self, Cause, Outgoing, far},
};

/// Pods that know each other: introductions, and messages between them.
#[derive(Debug, Clone, Copy)]
pub struct Peers<'a> {
    pub(super) inner: &'a Inner,
}

impl Peers<'_> {
    /// Introduces two Pods of this runtime to each other, or asks the other side, by its policy.
    pub async fn introduce(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        target: &WorkerId,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        self.inner.count_command();
        peers::introduce(&self.inner.peers, &Asked { key, origin }, worker_id, target, note).await
    }

    /// Introduces a Pod of this runtime to one of another store; waits a moment for what comes of it.
    pub async fn introduce_far(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        target: FarPod,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        self.inner.count_command();
        far::introduce(&self.inner.peers, &Asked { key, origin }, worker_id, &target, note).await
    }

    /// Introduces a Pod of another store to one of this runtime that is asked first; it is pending until it has answered.
    pub async fn invite_far(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        source: FarPod,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        self.inner.count_command();
        far::invite(&self.inner.peers, &Asked { key, origin }, worker_id, &source, note).await
    }

    /// Ends a link, or a request that waits. What is not there needs no end.
    pub async fn unlink(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &PodRef,
    ) -> Result<(), ApiError> {
        self.inner.count_command();
        peers::unlink(&self.inner.peers, &Asked { key, origin }, worker_id, peer, None).await
    }

    /// Whom a Pod knows, and the requests between it and others.
    pub async fn of_pod(self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        peers::of_pod(&self.inner.peers, worker_id).await
    }

    /// Every request that waits for an answer, oldest first.
    pub async fn open_requests(self) -> Result<Vec<OpenRequest>, ApiError> {
        peers::open_requests(&self.inner.peers).await
    }

    /// Accepts or declines a request that was made to this Pod.
    pub async fn decide_request(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        request_id: &str,
        decision: RequestDecision,
    ) -> Result<PeerAnswer, ApiError> {
        self.inner.count_command();
        peers::decide_request(&self.inner.peers, &Asked { key, origin }, worker_id, request_id, decision).await
    }

    /// A message from a Pod to its peer, by a person.
    pub async fn send(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &WorkerId,
        text: &str,
    ) -> Result<MessageAnswer, ApiError> {
        self.inner.count_command();
        let cause = Cause::Person(Asked { key, origin });
        let outgoing = Outgoing { sender: worker_id, receiver: peer, text, cause };
        Ok(peers::send(&self.inner.peers, outgoing).await?.0)
    }

    /// A message from a Pod to its peer in another store, by a person.
    pub async fn send_far(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        peer: &PodRef,
        text: &str,
    ) -> Result<MessageAnswer, ApiError> {
        self.inner.count_command();
        let own = self.inner.existing_row(worker_id).await?;
        let Some(row) = far::row_at(&self.inner.peers, own.key, peer).await? else {
            let sentence = format!("{peer} is not a peer of \"{}\"; make them peers first", own.name);
            return Err(ApiError::new(ErrorCode::NotVisible, sentence));
        };
        let cause = Cause::Person(Asked { key, origin });
        Ok(far::send(&self.inner.peers, worker_id, &row, text, cause).await?.answer)
    }

    /// Releases or drops a message that is held; on either side.
    pub async fn decide_held(
        self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        message_id: &str,
        decision: HeldDecision,
    ) -> Result<MessageAnswer, ApiError> {
        self.inner.count_command();
        peers::decide_held(&self.inner.peers, &Asked { key, origin }, worker_id, message_id, decision).await
    }

    /// What two Pods wrote to each other, newest first.
    pub async fn exchange(
        self,
        worker_id: &WorkerId,
        peer: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        peers::exchange(&self.inner.peers, worker_id, peer, before, limit).await
    }

    /// What a Pod and one of another store wrote to each other, newest first.
    pub async fn exchange_far(
        self,
        worker_id: &WorkerId,
        peer: &PodRef,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        let own = self.inner.existing_row(worker_id).await?;
        far::exchange(&self.inner.peers, &own, peer, before, limit).await
    }
}
