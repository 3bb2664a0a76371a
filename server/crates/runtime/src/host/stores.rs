//! Other stores, for the server that carries messages between them.

use std::time::Duration;

use pod_store::{Batch, FarChange};
use protocol::{ApiError, LinkCard, LinkItem, RuntimeId};
use tokio::sync::watch;

use super::Inner;
use crate::{FarNames, peers::far};

/// Other stores, for the server that carries messages between them.
#[derive(Debug, Clone, Copy)]
pub struct Stores<'a> {
    pub(super) inner: &'a Inner,
}

impl<'a> Stores<'a> {
    /// The id of the database for other servers; it lasts as long as the database.
    pub fn own_id(self) -> &'a str {
        self.inner.store.epoch()
    }

    /// What this server calls other stores, and which of them answer. The caller keeps it up to date.
    pub fn names(self) -> &'a watch::Sender<FarNames> {
        &self.inner.peers.far.names
    }

    /// Takes in items from another store, in order. Returns the number of the last item taken, now or before.
    pub async fn take_in(self, store: &str, items: Vec<LinkItem>) -> Result<i64, ApiError> {
        far::take_in(&self.inner.peers, store, items).await
    }

    /// The items for another store after the last one that it has; waits for one if there are none.
    pub async fn outgoing(self, store: &str, after: i64, wait: Duration) -> Result<Vec<LinkItem>, ApiError> {
        far::outgoing(&self.inner.peers, store, after, wait).await
    }

    /// The number of the last item taken from another store.
    pub async fn taken(self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far().position(store).await?.taken)
    }

    /// The number of the last item that another store has confirmed.
    pub async fn acked(self, store: &str) -> Result<i64, ApiError> {
        Ok(self.inner.store.far().position(store).await?.acked)
    }

    /// The Pods of a store that are peers of Pods here or have open requests, as that store last described them.
    pub async fn cards(self, store: &str) -> Result<Vec<(LinkCard, jiff::Timestamp)>, ApiError> {
        let rows = self.inner.store.far().cards().await?;
        let of_store = rows.into_iter().filter(|row| row.store == store);
        Ok(of_store.filter_map(|row| Some((serde_json::from_str(&row.body).ok()?, row.at))).collect())
    }

    /// Records what a store is called here, so that its Pods keep their addresses after a restart.
    pub async fn name(self, store: &str, name: &RuntimeId) -> Result<(), ApiError> {
        let far = vec![FarChange::Named { store: store.to_owned(), name: name.to_string() }];
        let batch = Batch { far, ..Batch::default() };
        Ok(self.inner.store.commit(batch).await.map(drop)?)
    }

    /// What stores were last called here, for those with peers of Pods here.
    pub async fn named(self) -> Result<Vec<(String, RuntimeId)>, ApiError> {
        let rows = self.inner.store.far().named().await?;
        Ok(rows.into_iter().filter_map(|(store, name)| Some((store, RuntimeId::parse(&name).ok()?))).collect())
    }

    /// Signalled when there may be something new to or from another store.
    pub fn moved(self) -> watch::Receiver<()> {
        self.inner.store.far().moved()
    }
}
