//! Keeps the runtime's knowledge of other stores up to date: what they are called here, and whether their lines are up.

use std::time::Duration;

use jiff::Timestamp;
use protocol::RuntimeId;
use runtime::{FarName, FarNames};
use tokio::time::Instant;

use super::{super::Backend, Links};
use crate::{Entry, EntryKind};

/// How often to check for silent servers when no line is up.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Runs as long as the process. Servers that announced themselves are forgotten after a silence of `forget_after`.
pub(super) async fn keep(backend: Backend, forget_after: Duration) {
    remember(&backend).await;
    let (mut registry, mut lines) = (backend.registry.watch(), backend.lines.watch());
    let mut look = Instant::now();
    loop {
        if Instant::now() >= look {
            backend.links().forget_silent(forget_after).await;
            look = Instant::now() + forget_after / 10;
        }
        tell(&backend);
        let due = backend.lines.check_silence().unwrap_or_else(|| Instant::now() + LOOK_EVERY).min(look);
        tokio::select! {
            changed = registry.changed() => if changed.is_err() { return },
            changed = lines.changed() => if changed.is_err() { return },
            () = tokio::time::sleep_until(due) => (),
        }
    }
}

impl Links<'_> {
    /// Removes servers that announced themselves and have been silent for `limit`, except those with peers of Pods
    /// here: a person has to see why those do not answer. A server that speaks again announces itself again.
    pub async fn forget_silent(self, limit: Duration) {
        self.backend.lines.check_silence();
        let now = Timestamp::now();
        let silent = |entry: &Entry| {
            let store = entry.store_id.clone().filter(|_| entry.kind == EntryKind::Announced)?;
            let (is_up, since) = self.backend.lines.state(&store);
            let silence = now.duration_since(since.unwrap_or(self.backend.since)).unsigned_abs();
            (!is_up && silence >= limit).then_some(store)
        };
        let entries = self.backend.registry.entries().into_iter();
        let silent: Vec<_> = entries.filter_map(|(id, entry)| Some((id, silent(&entry)?))).collect();
        if silent.is_empty() {
            return;
        }
        let known = match self.backend.host.stores().named().await {
            Ok(known) => known,
            Err(error) => return tracing::warn!(%error, "silent servers could not be looked for"),
        };
        for (id, store) in silent.into_iter().filter(|(_, store)| known.iter().all(|(known, _)| known != store)) {
            tracing::info!(runtime_id = %id, "a server that announced itself has been silent and is forgotten");
            self.backend.registry.remove(&id);
            self.backend.lines.forget(&store);
        }
    }
}

/// Servers that announced themselves before the start and have not spoken yet.
async fn remember(backend: &Backend) {
    match backend.host.stores().named().await {
        Ok(named) => {
            for (store, name) in named {
                if backend.registry.by_store(&store).is_none() {
                    backend.links().put_announced(&store, &name);
                }
            }
        }
        Err(error) => tracing::warn!(%error, "how other runtimes were called is not known until they speak"),
    }
}

pub(super) fn tell(backend: &Backend) {
    let entries = backend.registry.entries();
    for (id, entry) in entries.iter().filter(|(_, entry)| entry.kind == EntryKind::Announced) {
        // It has been added by address meanwhile and is reached that way from now on.
        let is_added = entries
            .iter()
            .any(|(other, known)| other != id && known.kind == EntryKind::Remote && known.store_id == entry.store_id);
        if is_added {
            backend.registry.remove(id);
        }
    }
    let far = entries.into_iter().filter(|(id, _)| *id != RuntimeId::local());
    let names: FarNames = far
        .filter_map(|(runtime_id, entry)| {
            let store = entry.store_id?;
            let reachable = backend.lines.state(&store).0;
            Some((store, FarName { runtime_id, reachable }))
        })
        .collect();
    backend.host.stores().names().send_if_modified(|known| {
        let is_new = *known != names;
        *known = names;
        is_new
    });
}
