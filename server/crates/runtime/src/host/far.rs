//! What a host does for Pods that know one of another store, and for the server that carries what the stores tell
//! each other.

use std::time::Duration;

use pod_store::{Batch, FarChange};
use protocol::{
    ApiError, ErrorCode, ExchangeMessage, LinkCard, LinkItem, Listing, MessageAnswer, PodRef, RuntimeId, WorkerId,
};
use tokio::sync::watch;

use super::Host;
use crate::{
    CommandKey, FarNames, FarPod, Introduced, Origin,
    asked::Asked,
    error,
    peers::{Cause, far},
};

impl Host {
    /// How this server calls other stores, and which of them answer: to be kept true by whoever knows.
    pub fn far_names(&self) -> &watch::Sender<FarNames> {
        &self.inner.peers.far.names
    }

    /// Introduces a Pod of this runtime to one of another store; waits a moment for what comes of it.
    pub async fn introduce_far(
        &self,
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
        &self,
        key: CommandKey,
        origin: &Origin,
        worker_id: &WorkerId,
        source: FarPod,
        note: Option<String>,
    ) -> Result<Introduced, ApiError> {
        self.inner.count_command();
        far::invite(&self.inner.peers, &Asked { key, origin }, worker_id, &source, note).await
    }

    /// A message from a Pod to its peer in another store, by a person.
    pub async fn send_message_far(
        &self,
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

    /// What a Pod and one of another store wrote to each other, newest first.
    pub async fn exchange_far(
        &self,
        worker_id: &WorkerId,
        peer: &PodRef,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Listing<ExchangeMessage>, ApiError> {
        let own = self.inner.existing_row(worker_id).await?;
        far::exchange(&self.inner.peers, &own, peer, before, limit).await
    }

    /// Takes in what another store tells, in order; gives the number of the last item that was taken, now or before.
    pub async fn take_in(&self, store: &str, items: Vec<LinkItem>) -> Result<i64, ApiError> {
        far::take_in(&self.inner.peers, store, items).await
    }

    /// What there is to tell another store after the last item that it has; when there is nothing, waits for it.
    pub async fn outgoing(&self, store: &str, after: i64, wait: Duration) -> Result<Vec<LinkItem>, ApiError> {
        far::outgoing(&self.inner.peers, store, after, wait).await
    }

    /// The last item of another store that was taken in.
    pub async fn taken(&self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far_position(store).await.map_err(error::store_failed)?.taken)
    }

    /// The last item for another store that it said to have.
    pub async fn acked(&self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far_position(store).await.map_err(error::store_failed)?.acked)
    }

    /// The Pods of a store that Pods here know, or that ask to be known, as that store told of them last.
    pub async fn far_cards(&self, store: &str) -> Result<Vec<(LinkCard, jiff::Timestamp)>, ApiError> {
        let rows = self.inner.store.far_cards().await.map_err(error::store_failed)?;
        let of_store = rows.into_iter().filter(|row| row.store == store);
        Ok(of_store.filter_map(|row| Some((serde_json::from_str(&row.body).ok()?, row.at))).collect())
    }

    /// Notes what a store is called here, so that its Pods have the same address after a restart.
    pub async fn name_store(&self, store: &str, name: &RuntimeId) -> Result<(), ApiError> {
        let far = vec![FarChange::Named { store: store.to_owned(), name: name.to_string() }];
        let batch = Batch { far, ..Batch::default() };
        self.inner.store.commit(batch).await.map(drop).map_err(error::store_failed)
    }

    /// What stores were called here last, of those in which Pods here know somebody.
    pub async fn named_stores(&self) -> Result<Vec<(String, RuntimeId)>, ApiError> {
        let rows = self.inner.store.far_named().await.map_err(error::store_failed)?;
        Ok(rows.into_iter().filter_map(|(store, name)| Some((store, RuntimeId::parse(&name).ok()?))).collect())
    }

    /// Moves when something may have been told to or by another store.
    pub fn far_moved(&self) -> watch::Receiver<()> {
        self.inner.store.far_moved()
    }
}
