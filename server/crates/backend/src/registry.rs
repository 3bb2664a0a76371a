//! The runtimes that this server reaches, by id. The one inside this process comes first and is always there.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, RwLock},
};

use client::Client;
use protocol::{ApiError, ErrorCode, RuntimeId};
use tokio::sync::watch;

use crate::{LinkWay, RuntimePort, Terms};

/// How a runtime came into the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// The one inside this process.
    Embedded,
    /// Another server, added by a person with its address and token.
    Remote,
    /// Another server that added this one, and speaks over its own connection.
    Announced,
    /// Pods behind the older sockets.
    Compat,
}

/// One runtime.
#[derive(Clone)]
pub struct Entry {
    pub kind: EntryKind,
    pub port: Arc<dyn RuntimePort>,
    /// The id of its database, once known. It identifies the store whatever it is called where.
    pub store_id: Option<String>,
    /// The client for its server; only for [`EntryKind::Remote`].
    pub client: Option<Client>,
    /// The way to its store; only for [`EntryKind::Remote`].
    pub link: Option<Arc<dyn LinkWay>>,
    /// What its server calls us and others; only for servers.
    pub terms: Option<Arc<Terms>>,
}

impl Entry {
    pub fn new(kind: EntryKind, port: Arc<dyn RuntimePort>) -> Self {
        Self { kind, port, store_id: None, client: None, link: None, terms: None }
    }
}

// Implemented by hand because a client contains an address.
impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("kind", &self.kind).field("store_id", &self.store_id).finish()
    }
}

/// The ordered map of runtimes. Clones share it.
#[derive(Clone)]
pub struct Registry(Arc<Shared>);

struct Shared {
    /// `local` is an entry like the others, but is never removed.
    entries: RwLock<BTreeMap<RuntimeId, Entry>>,
    /// Changes when an entry is added or removed, or its store becomes known.
    changed: watch::Sender<u64>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.entries()).finish()
    }
}

impl Registry {
    pub(crate) fn new(embedded: Entry) -> Self {
        let entries = RwLock::new(BTreeMap::from([(RuntimeId::local(), embedded)]));
        Self(Arc::new(Shared { entries, changed: watch::Sender::new(0) }))
    }

    /// Adds a runtime.
    ///
    /// # Errors
    /// `name_taken` if another one has this id.
    pub fn insert(&self, runtime_id: RuntimeId, entry: Entry) -> Result<(), ApiError> {
        let mut entries = self.0.entries.write().expect("no holder of the registry panics");
        if entries.contains_key(&runtime_id) {
            let sentence = format!("a runtime called \"{runtime_id}\" already exists; choose another name");
            return Err(ApiError::new(ErrorCode::NameTaken, sentence));
        }
        entries.insert(runtime_id, entry);
        drop(entries);
        self.tell_changed();
        Ok(())
    }

    /// Removes a runtime, except `local`.
    pub fn remove(&self, runtime_id: &RuntimeId) -> Option<Entry> {
        if *runtime_id == RuntimeId::local() {
            return None;
        }
        let taken = self.0.entries.write().expect("no holder of the registry panics").remove(runtime_id);
        if taken.is_some() {
            self.tell_changed();
        }
        taken
    }

    pub fn get(&self, runtime_id: &RuntimeId) -> Option<Entry> {
        self.0.entries.read().expect("no holder of the registry panics").get(runtime_id).cloned()
    }

    /// Like [`Registry::get`], but returns `runtime_not_found`.
    pub(crate) fn entry(&self, runtime_id: &RuntimeId) -> Result<Entry, ApiError> {
        self.get(runtime_id).ok_or_else(|| {
            let sentence = format!("no runtime is called \"{runtime_id}\"; GET /api/v1/runtimes lists the runtimes");
            ApiError::new(ErrorCode::RuntimeNotFound, sentence)
        })
    }

    /// The port of a runtime, or `runtime_not_found`.
    pub fn port(&self, runtime_id: &RuntimeId) -> Result<Arc<dyn RuntimePort>, ApiError> {
        Ok(self.entry(runtime_id)?.port)
    }

    /// All entries: `local` first, then by id.
    pub fn entries(&self) -> Vec<(RuntimeId, Entry)> {
        let entries = self.0.entries.read().expect("no holder of the registry panics");
        let mut all: Vec<_> = entries.iter().map(|(id, entry)| (id.clone(), entry.clone())).collect();
        all.sort_by_key(|(id, _)| *id != RuntimeId::local());
        all
    }

    /// What the store is called here, if it is known.
    pub fn by_store(&self, store_id: &str) -> Option<RuntimeId> {
        let entries = self.0.entries.read().expect("no holder of the registry panics");
        entries.iter().find(|(_, entry)| entry.store_id.as_deref() == Some(store_id)).map(|(id, _)| id.clone())
    }

    /// Records which store is behind a runtime.
    pub fn set_store(&self, runtime_id: &RuntimeId, store_id: &str) {
        let mut entries = self.0.entries.write().expect("no holder of the registry panics");
        let Some(entry) = entries.get_mut(runtime_id) else { return };
        if entry.store_id.as_deref() != Some(store_id) {
            entry.store_id = Some(store_id.to_owned());
            drop(entries);
            self.tell_changed();
        }
    }

    /// Notified when an entry is added or removed, or its store becomes known.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    fn tell_changed(&self) {
        self.0.changed.send_modify(|times| *times += 1);
    }
}
