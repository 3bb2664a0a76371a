//! What can be asked of a store about pairs and messages.

use jiff::Timestamp;

use crate::{MessageRow, PairRow, PeerLinkRow, PodKey, RequestRow, Store, StoreError, peer_plan::Pair};

impl Store {
    /// The Pods that a Pod knows, oldest link first.
    pub async fn peer_links(&self, pod: PodKey) -> Result<Vec<PeerLinkRow>, StoreError> {
        self.read(self.engine().peer_links(pod)).await
    }

    /// Whether two Pods know each other; the same from both sides.
    pub async fn peer_link(&self, a: PodKey, b: PodKey) -> Result<Option<PairRow>, StoreError> {
        self.read(self.engine().peer_link(Pair::of(a, b))).await
    }

    /// Requests that a Pod made and that were made to it, oldest first.
    pub async fn peer_requests(&self, pod: PodKey) -> Result<Vec<RequestRow>, StoreError> {
        self.read(self.engine().peer_requests(pod)).await
    }

    pub async fn peer_request(&self, id: &str) -> Result<Option<RequestRow>, StoreError> {
        self.read(self.engine().peer_request(id)).await
    }

    /// The request between two Pods, whoever asked.
    pub async fn peer_request_of(&self, a: PodKey, b: PodKey) -> Result<Option<RequestRow>, StoreError> {
        self.read(self.engine().peer_request_of(Pair::of(a, b))).await
    }

    /// Requests whose time was over at or before `now`, oldest first.
    pub async fn requests_expired(&self, now: Timestamp) -> Result<Vec<RequestRow>, StoreError> {
        self.read(self.engine().requests_expired(now)).await
    }

    pub async fn message(&self, id: &str) -> Result<Option<MessageRow>, StoreError> {
        self.read(self.engine().message(id)).await
    }

    /// The message that a Pod sent in one call, so that a call which is done again is not sent again.
    pub async fn message_of_call(&self, sender: PodKey, call_id: &str) -> Result<Option<MessageRow>, StoreError> {
        self.read(self.engine().message_of_call(sender, call_id)).await
    }

    /// What two Pods wrote to each other, newest first; `before` is `at` and id of the last one of the page before.
    pub async fn messages_of_pair(
        &self,
        a: PodKey,
        b: PodKey,
        before: Option<(Timestamp, String)>,
        limit: u32,
    ) -> Result<Vec<MessageRow>, StoreError> {
        let before = before.unwrap_or((Timestamp::MAX, String::new()));
        self.read(self.engine().messages_of_pair(Pair::of(a, b), before, limit)).await
    }

    /// Messages from and to a Pod that are held back, oldest first.
    pub async fn messages_held(&self, pod: PodKey) -> Result<Vec<MessageRow>, StoreError> {
        self.read(self.engine().messages_held(pod)).await
    }

    /// How many messages began a run of their receiver by themselves, of those put in at `since` or later.
    pub async fn messages_woke_count(&self, receiver: PodKey, since: Timestamp) -> Result<u64, StoreError> {
        self.read(self.engine().messages_woke_count(receiver, since)).await
    }
}
