//! Peers: how Pods become peers, and messages between them.

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

/// Peers: how Pods become peers, and messages between them.
#[derive(Debug, Clone, Copy)]
pub struct Peers<'a> {
    pub(super) inner: &'a Inner,
}

impl Peers<'_> {
    /// Makes two Pods of this runtime peers, or sends a peer request to the target, according to its policy.
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

    /// Makes a Pod of this runtime and one of another store peers; waits a moment for the outcome.
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

    /// Asks a Pod of this runtime to become a peer of one in another store; pending until it has answered.
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

    /// Ends a pair of peers or an open peer request. If there is neither, does nothing.
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

    /// The peers of a Pod, and the open peer requests from and to it.
    pub async fn of_pod(self, worker_id: &WorkerId) -> Result<Vec<PeerView>, ApiError> {
        peers::of_pod(&self.inner.peers, worker_id).await
    }

    /// Every open peer request, oldest first.
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

    /// Sends a person's message from a Pod to its peer.
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

    /// Sends a person's message from a Pod to its peer in another store.
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

    /// Releases or drops a held message; either side may do so.
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

    /// The messages between two Pods, newest first.
    pub async fn exchange(
        self,
        worker_id: &WorkerId,
        peer: &WorkerId,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        peers::exchange(&self.inner.peers, worker_id, peer, before, limit).await
    }

    /// The messages between a Pod and one in another store, newest first.
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
