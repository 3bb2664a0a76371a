//! Lines to other servers' stores, so that Pods of two servers can know each other.
//!
//! To a server that was added by address and token this one makes connections; a server that added this one makes them
//! here. Over either of them items go both ways, and what an item means is the runtime's business: this file carries.

mod across;
mod announced;
mod line;
mod names;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use jiff::Timestamp;
use protocol::{ApiError, ErrorCode, LINK_WAIT_MS_MAX, LinkAnswer, LinkExchange, PROTOCOL_VERSION, RuntimeId};
use tokio::{sync::watch, time::Instant};

use self::announced::Announced;
use crate::{Backend, Entry, EntryKind};

/// Servers that announced themselves, at most.
const ANNOUNCED_MAX: usize = 64;
/// A server that says nothing for this long beyond the longest wait is away.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// One that hung up is away after this long.
const GONE_MAX: Duration = Duration::from_secs(3);

/// What is known of lines, in memory. Cloning shares it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    lines: Mutex<HashMap<String, Line>>,
    /// Moves when a line comes up or goes down.
    changed: watch::Sender<()>,
}

/// One line, by the store at its other end.
#[derive(Debug, Clone, Copy)]
struct Line {
    is_up: bool,
    since: Timestamp,
    /// When it counts as down unless something is heard.
    good_until: Instant,
}

impl Links {
    fn lines(&self) -> MutexGuard<'_, HashMap<String, Line>> {
        self.0.lines.lock().expect("no holder of the lines panics")
    }

    /// Something was heard; the next word is due within `wait`.
    fn heard(&self, store: &str, wait: Duration) -> Asking<'_> {
        let good_until = Instant::now() + wait + SILENCE_MAX;
        let was_up = {
            let mut lines = self.lines();
            let line = Line { is_up: true, since: Timestamp::now(), good_until };
            let known = lines.entry(store.to_owned()).or_insert(Line { is_up: false, ..line });
            let was_up = known.is_up;
            *known = Line { since: if was_up { known.since } else { line.since }, ..line };
            was_up
        };
        if !was_up {
            self.0.changed.send_replace(());
        }
        Asking { links: self, store: store.to_owned() }
    }

    /// It does not answer.
    fn lost(&self, store: &str) {
        let was_up = self.lines().get_mut(store).is_some_and(|line| {
            let was_up = line.is_up;
            if was_up {
                (line.is_up, line.since) = (false, Timestamp::now());
            }
            was_up
        });
        if was_up {
            self.0.changed.send_replace(());
        }
    }

    /// Whether it is up, and since when it is so.
    fn state(&self, store: &str) -> (bool, Option<Timestamp>) {
        match self.lines().get(store) {
            Some(line) => (line.is_up, Some(line.since)),
            None => (false, None),
        }
    }

    /// Nothing is known of a line any more.
    fn forget(&self, store: &str) {
        self.lines().remove(store);
    }

    fn watch(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Lines whose other end has fallen silent go down. The next one that may is due then, if there is one.
    fn check_silence(&self) -> Option<Instant> {
        let now = Instant::now();
        let silent: Vec<String> = {
            let lines = self.lines();
            lines.iter().filter(|(_, line)| line.is_up && line.good_until <= now).map(|(id, _)| id.clone()).collect()
        };
        silent.iter().for_each(|store| self.lost(store));
        self.lines().values().filter(|line| line.is_up).map(|line| line.good_until).min()
    }
}

/// Somebody waits for an answer. Let go of before it was given: the other side is gone, and comes back soon or not at all.
struct Asking<'a> {
    links: &'a Links,
    store: String,
}

impl Asking<'_> {
    fn answered(mut self) {
        self.store.clear();
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(line) = self.links.lines().get_mut(&self.store) {
            line.good_until = line.good_until.min(Instant::now() + GONE_MAX);
            self.links.0.changed.send_replace(());
        }
    }
}

impl Backend {
    /// Opens the lines to the servers that were added, and keeps them open; must be called inside a tokio runtime.
    pub(crate) fn begin_links(&self, forget_after: Duration) {
        tokio::spawn(names::keep(self.clone(), forget_after));
        tokio::spawn(line::keep(self.clone()));
    }

    /// What another server tells over its own connection, and what there is to tell it.
    ///
    /// # Errors
    /// `invalid_input` for another version, for this very database, and for items that are out of order or malformed:
    /// those before them are taken. `cursor_expired` when the two databases do not fit together.
    pub async fn exchange_link(&self, exchange: LinkExchange) -> Result<LinkAnswer, ApiError> {
        let LinkExchange { protocol, store_id, name, after, items, wait_ms } = exchange;
        if protocol != PROTOCOL_VERSION {
            return Err(ApiError::invalid(format!(
                "the caller speaks version {protocol} of the protocol and this server {PROTOCOL_VERSION}; update the \
                 older one"
            )));
        }
        // What is no store of another server gets no name here.
        self.host.take_in(&store_id, Vec::new()).await?;
        let runtime_id = self.called(&store_id, &name).await?;
        let sends = !items.is_empty();
        let taken = self.host.take_in(&store_id, items).await?;
        let wait = match sends {
            true => Duration::ZERO,
            false => Duration::from_millis(wait_ms.min(LINK_WAIT_MS_MAX)),
        };
        let asking = self.links.heard(&store_id, Duration::from_millis(wait_ms.min(LINK_WAIT_MS_MAX)));
        let items = self.host.outgoing(&store_id, after, wait).await?;
        asking.answered();
        Ok(LinkAnswer { store_id: self.host.store_id().to_owned(), runtime_id, taken, items })
    }

    /// What a store is called here: as it is in the registry, else as it wants to be called, or nearly so.
    async fn called(&self, store: &str, wanted: &RuntimeId) -> Result<RuntimeId, ApiError> {
        if let Some(known) = self.registry.by_store(store) {
            return Ok(known);
        }
        let announced = |(_, entry): &(RuntimeId, Entry)| entry.kind == EntryKind::Announced;
        if self.registry.entries().iter().filter(|entry| announced(entry)).count() >= ANNOUNCED_MAX {
            let sentence = format!("{ANNOUNCED_MAX} servers have added this one, and more are not taken");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let runtime_id = self.put_announced(store, wanted);
        // Before anything of it becomes a record, which says what it is called.
        names::tell(self);
        self.host.name_store(store, &runtime_id).await?;
        Ok(runtime_id)
    }

    /// Puts a server into the registry that speaks over its own connection.
    fn put_announced(&self, store: &str, wanted: &RuntimeId) -> RuntimeId {
        for number in 1.. {
            let runtime_id = numbered(wanted, number);
            if runtime_id == RuntimeId::local() || runtime_id.as_str() == "compat" {
                continue;
            }
            // Two exchanges of one server may come here at once.
            if let Some(known) = self.registry.by_store(store) {
                return known;
            }
            let port = Announced::new(self.host.clone(), self.links.clone(), store.to_owned(), runtime_id.clone());
            let entry = Entry::new(EntryKind::Announced, Arc::new(port));
            let entry = Entry { store_id: Some(store.to_owned()), ..entry };
            if self.registry.insert(runtime_id.clone(), entry).is_ok() {
                return runtime_id;
            }
        }
        unreachable!("of all numbers one is free")
    }
}

/// `box`, `box-2`, `box-3` and so on, within the length of an id.
fn numbered(wanted: &RuntimeId, number: u32) -> RuntimeId {
    if number == 1 {
        return wanted.clone();
    }
    let end = format!("-{number}");
    let begin: String = wanted.as_str().chars().take(32 - end.len()).collect();
    RuntimeId::parse(&format!("{begin}{end}")).expect("an id with a number at its end is an id")
}
