//! Other stores, for the server that carries what they tell each other.

use std::time::Duration;

use pod_store::{Batch, FarChange};
use protocol::{ApiError, LinkCard, LinkItem, RuntimeId};
use tokio::sync::watch;

use super::Inner;
use crate::{FarNames, peers::far};

/// Other stores, for the server that carries what they tell each other.
#[derive(Debug, Clone, Copy)]
pub struct Stores<'a> {
    pub(super) inner: &'a Inner,
}

impl<'a> Stores<'a> {
    /// Names the database, for other servers; it stays as long as the database does.
    pub fn own_id(self) -> &'a str {
        self.inner.store.epoch()
    }

    /// How this server calls other stores, and which of them answer: to be kept true by whoever knows.
    pub fn names(self) -> &'a watch::Sender<FarNames> {
        &self.inner.peers.far.names
    }

    /// Takes in what another store tells, in order; gives the number of the last item that was taken, now or before.
    pub async fn take_in(self, store: &str, items: Vec<LinkItem>) -> Result<i64, ApiError> {
        far::take_in(&self.inner.peers, store, items).await
    }

    /// What there is to tell another store after the last item that it has; when there is nothing, waits for it.
    pub async fn outgoing(self, store: &str, after: i64, wait: Duration) -> Result<Vec<LinkItem>, ApiError> {
        far::outgoing(&self.inner.peers, store, after, wait).await
    }

    /// The last item of another store that was taken in.
    pub async fn taken(self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far().position(store).await?.taken)
    }

    /// The last item for another store that it said to have.
    pub async fn acked(self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far().position(store).await?.acked)
    }

    /// The Pods of a store that Pods here know, or that ask to be known, as that store told of them last.
    pub async fn cards(self, store: &str) -> Result<Vec<(LinkCard, jiff::Timestamp)>, ApiError> {
        let rows = self.inner.store.far().cards().await?;
        let of_store = rows.into_iter().filter(|row| row.store == store);
        Ok(of_store.filter_map(|row| Some((serde_json::from_str(&row.body).ok()?, row.at))).collect())
    }

    /// Notes what a store is called here, so that its Pods have the same address after a restart.
    pub async fn name(self, store: &str, name: &RuntimeId) -> Result<(), ApiError> {
        let far = vec![FarChange::Named { store: store.to_owned(), name: name.to_string() }];
        let batch = Batch { far, ..Batch::default() };
        Ok(self.inner.store.commit(batch).await.map(drop)?)
    }

    /// What stores were called here last, of those in which Pods here know somebody.
    pub async fn named(self) -> Result<Vec<(String, RuntimeId)>, ApiError> {
        let rows = self.inner.store.far().named().await?;
        Ok(rows.into_iter().filter_map(|(store, name)| Some((store, RuntimeId::parse(&name).ok()?))).collect())
    }

    /// Moves when something may have been told to or by another store.
    pub fn moved(self) -> watch::Receiver<()> {
        self.inner.store.far().moved()
    }
}
