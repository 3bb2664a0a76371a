//! This server's side of the lines that it opens: one task listens with a long poll, another sends what there is to
//! send at once. Both run forever; whatever fails is tried again, and nothing counts until it is acknowledged.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use protocol::{ApiError, LINK_WAIT_MS_MAX, LinkAnswer, LinkExchange, LinkItem, PROTOCOL_VERSION, RuntimeId};
use tokio::{sync::Mutex, task::JoinSet, time::sleep};

use super::super::Backend;
use crate::{EntryKind, LinkFailure, LinkWay, Terms};

/// The first pause after a failure, doubled with each further one …
const PAUSE_FIRST: Duration = Duration::from_millis(200);
/// … up to this: both servers may be up already, and then the line should recover soon.
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// How often to look for something to send without a signal.
const IDLE: Duration = Duration::from_secs(15);

/// Opens a line for each server that was added as soon as its store is known, and closes it when the entry is removed.
pub(super) async fn keep(backend: Backend) {
    let mut changed = backend.registry.watch();
    let mut lines: BTreeMap<(RuntimeId, String), JoinSet<()>> = BTreeMap::new();
    loop {
        let wanted: BTreeMap<_, _> = backend
            .registry
            .entries()
            .into_iter()
            .filter(|(_, entry)| entry.kind == EntryKind::Remote)
            .filter_map(|(id, entry)| Some(((id, entry.store_id?), (entry.link?, entry.terms?))))
            .collect();
        // Dropping its tasks ends a line.
        lines.retain(|key, _| wanted.contains_key(key));
        for (key, (way, terms)) in wanted {
            lines.entry(key.clone()).or_insert_with(|| begin(&backend, key.1, way, terms));
        }
        if changed.changed().await.is_err() {
            return;
        }
    }
}

fn begin(backend: &Backend, store: String, way: Arc<dyn LinkWay>, terms: Arc<Terms>) -> JoinSet<()> {
    let line = Arc::new(Line { backend: backend.clone(), store, way, terms, told: Mutex::new(()) });
    let mut tasks = JoinSet::new();
    tasks.spawn({
        let line = line.clone();
        async move { line.listen().await }
    });
    tasks.spawn(async move { line.tell().await });
    tasks
}

struct Line {
    backend: Backend,
    store: String,
    way: Arc<dyn LinkWay>,
    terms: Arc<Terms>,
    /// Answers are processed one after the other.
    told: Mutex<()>,
}

impl Line {
    async fn listen(&self) {
        let mut pause = PAUSE_FIRST;
        loop {
            // The first exchange only finds out whether anybody is there.
            let wait = match self.backend.lines.state(&self.store).0 {
                true => Duration::from_millis(LINK_WAIT_MS_MAX),
                false => Duration::ZERO,
            };
            match self.exchange(Vec::new(), wait).await {
                Ok(()) => pause = PAUSE_FIRST,
                Err(failure) => self.failed(&failure, &mut pause).await,
            }
        }
    }

    async fn tell(&self) {
        let mut pause = PAUSE_FIRST;
        loop {
            match self.tell_once().await {
                Ok(()) => pause = PAUSE_FIRST,
                Err(failure) => self.failed(&failure, &mut pause).await,
            }
        }
    }

    async fn tell_once(&self) -> Result<(), LinkFailure> {
        let host = &self.backend.host;
        let acked = host.stores().acked(&self.store).await.map_err(LinkFailure::Refused)?;
        let items = host.stores().outgoing(&self.store, acked, IDLE).await.map_err(LinkFailure::Refused)?;
        match items.is_empty() {
            true => Ok(()),
            false => self.exchange(items, Duration::ZERO).await,
        }
    }

    async fn exchange(&self, items: Vec<LinkItem>, wait: Duration) -> Result<(), LinkFailure> {
        let host = &self.backend.host;
        let exchange = LinkExchange {
            protocol: PROTOCOL_VERSION,
            store_id: host.stores().own_id().to_owned(),
            name: self.backend.name().clone(),
            after: host.stores().taken(&self.store).await.map_err(LinkFailure::Refused)?,
            items,
            wait_ms: wait.as_millis().try_into().unwrap_or(LINK_WAIT_MS_MAX),
        };
        self.take(self.way.exchange(exchange).await?).await
    }

    async fn take(&self, answer: LinkAnswer) -> Result<(), LinkFailure> {
        let LinkAnswer { store_id, runtime_id, taken, items } = answer;
        if store_id != self.store {
            // The registry learns of it by itself, and another line begins.
            return Err(LinkFailure::Refused(ApiError::invalid("another database answers at this address now")));
        }
        let _mine = self.told.lock().await;
        self.terms.set_ours_there(runtime_id);
        self.backend.lines.heard(&self.store, Duration::from_millis(LINK_WAIT_MS_MAX)).answered();
        let host = &self.backend.host;
        // An answer that was overtaken by a later one is out of date.
        if taken > host.stores().acked(&self.store).await.map_err(LinkFailure::Refused)? {
            host.stores().outgoing(&self.store, taken, Duration::ZERO).await.map_err(LinkFailure::Refused)?;
        }
        host.stores().take_in(&self.store, items).await.map_err(LinkFailure::Refused)?;
        Ok(())
    }

    async fn failed(&self, failure: &LinkFailure, pause: &mut Duration) {
        self.backend.lines.lost(&self.store);
        let id = self.terms.id();
        match failure {
            LinkFailure::Away(error) => tracing::debug!(%error, %id, "the line to a runtime is down"),
            LinkFailure::Refused(error) if *pause == PAUSE_FIRST => {
                tracing::warn!(%error, %id, "the line to a runtime does not work");
            }
            LinkFailure::Refused(error) => tracing::debug!(%error, %id, "the line to a runtime does not work"),
        }
        sleep(*pause).await;
        *pause = (*pause * 2).min(PAUSE_MAX);
    }
}
