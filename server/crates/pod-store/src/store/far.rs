//! What is known of other stores.

use jiff::Timestamp;
use protocol::WorkerId;

use crate::{FarCardRow, FarMessageRow, FarPeerRow, FarPosition, PodKey, Store, StoreError};

impl Store {
    pub async fn far_position(&self, store: &str) -> Result<FarPosition, StoreError> {
        self.read(self.engine().far().far_position(store)).await
    }

    /// What stores were called here last, by id; those alone that Pods here know somebody in.
    pub async fn far_named(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(self.engine().far().far_named()).await
    }

    /// Items for a store after a number, in order.
    pub async fn far_out(&self, store: &str, after: i64, limit: u32) -> Result<Vec<(i64, String)>, StoreError> {
        self.read(self.engine().far().far_out(store, after, limit)).await
    }

    /// What a Pod is to Pods of other stores, oldest first.
    pub async fn far_peers(&self, pod: PodKey) -> Result<Vec<FarPeerRow>, StoreError> {
        self.read(self.engine().far().far_peers(pod)).await
    }

    /// The same of every Pod.
    pub async fn far_peers_all(&self) -> Result<Vec<FarPeerRow>, StoreError> {
        self.read(self.engine().far().far_peers_all()).await
    }

    pub async fn far_peer_of(&self, store: &str, handshake: &str) -> Result<Option<FarPeerRow>, StoreError> {
        self.read(self.engine().far().far_peer_of(store, handshake)).await
    }

    pub async fn far_cards(&self) -> Result<Vec<FarCardRow>, StoreError> {
        self.read(self.engine().far().far_cards()).await
    }

    pub async fn far_card(&self, store: &str, worker: &WorkerId) -> Result<Option<FarCardRow>, StoreError> {
        self.read(self.engine().far().far_card(store, worker)).await
    }

    pub async fn far_message(&self, pod: PodKey, id: &str) -> Result<Option<FarMessageRow>, StoreError> {
        self.read(self.engine().far().far_message(pod, id)).await
    }

    pub async fn far_message_of_call(&self, pod: PodKey, call_id: &str) -> Result<Option<FarMessageRow>, StoreError> {
        self.read(self.engine().far().far_message_of_call(pod, call_id)).await
    }

    /// What a Pod and a far one wrote to each other, newest first; `before` as for [`Store::messages_of_pair`].
    pub async fn far_messages(
        &self,
        pod: PodKey,
        store: &str,
        worker: &WorkerId,
        before: Option<(Timestamp, String)>,
        limit: u32,
    ) -> Result<Vec<FarMessageRow>, StoreError> {
        let before = before.unwrap_or((Timestamp::MAX, String::new()));
        self.read(self.engine().far().far_messages(pod, store, worker, before, limit)).await
    }
}
