//! Lines to other servers' stores, so that Pods of two servers can be peers.
//!
//! This server connects to servers that were added by address and token; a server that added this one connects here.
//! Over either connection items go both ways. What an item means is the runtime's business; this module only carries
//! it.

mod across;
mod announced;
mod line;
mod names;

use std::{sync::Arc, time::Duration};

use protocol::{ApiError, ErrorCode, LINK_WAIT_MS_MAX, LinkAnswer, LinkExchange, PROTOCOL_VERSION, RuntimeId};

use self::announced::Announced;
use super::Backend;
use crate::{Entry, EntryKind};

/// The most servers that may announce themselves.
const ANNOUNCED_MAX: usize = 64;

/// Connects this server to other servers' stores.
#[derive(Debug, Clone, Copy)]
pub struct Links<'a> {
    pub(super) backend: &'a Backend,
}

impl Links<'_> {
    /// Opens the lines to the servers that were added and keeps them open. Must be called inside a tokio runtime.
    pub(super) fn begin(self, forget_after: Duration) {
        tokio::spawn(names::keep(self.backend.clone(), forget_after));
        tokio::spawn(line::keep(self.backend.clone()));
    }

    /// Takes in what another server sends over its own connection, and returns what there is for it.
    ///
    /// # Errors
    /// `invalid_input` for another protocol version, for this very database, and for items that are out of order or
    /// malformed; the items before those are taken. `cursor_expired` if the two databases do not fit together.
    pub async fn exchange(self, exchange: LinkExchange) -> Result<LinkAnswer, ApiError> {
        let LinkExchange { protocol, store_id, name, after, items, wait_ms } = exchange;
        if protocol != PROTOCOL_VERSION {
            return Err(ApiError::invalid(format!(
                "the caller speaks version {protocol} of the protocol and this server {PROTOCOL_VERSION}; update the \
                 older one"
            )));
        }
        // Validates the store id first, so that only a real store gets a name here.
        self.backend.host.stores().take_in(&store_id, Vec::new()).await?;
        let runtime_id = self.called(&store_id, &name).await?;
        let sends = !items.is_empty();
        let taken = self.backend.host.stores().take_in(&store_id, items).await?;
        let wait = match sends {
            true => Duration::ZERO,
            false => Duration::from_millis(wait_ms.min(LINK_WAIT_MS_MAX)),
        };
        let asking = self.backend.lines.heard(&store_id, Duration::from_millis(wait_ms.min(LINK_WAIT_MS_MAX)));
        let items = self.backend.host.stores().outgoing(&store_id, after, wait).await?;
        asking.answered();
        Ok(LinkAnswer { store_id: self.backend.host.stores().own_id().to_owned(), runtime_id, taken, items })
    }

    /// The name of a store here: the one in the registry, otherwise the one that it wants, with a number if that is
    /// taken.
    async fn called(self, store: &str, wanted: &RuntimeId) -> Result<RuntimeId, ApiError> {
        if let Some(known) = self.backend.registry.by_store(store) {
            return Ok(known);
        }
        let announced = |(_, entry): &(RuntimeId, Entry)| entry.kind == EntryKind::Announced;
        if self.backend.registry.entries().iter().filter(|entry| announced(entry)).count() >= ANNOUNCED_MAX {
            let sentence = format!("{ANNOUNCED_MAX} servers have added this one, and more are not taken");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let runtime_id = self.put_announced(store, wanted);
        // Before any of its items becomes a record, which contains the name.
        names::tell(self.backend);
        self.backend.host.stores().name(store, &runtime_id).await?;
        Ok(runtime_id)
    }

    /// Puts a server that speaks over its own connection into the registry.
    fn put_announced(self, store: &str, wanted: &RuntimeId) -> RuntimeId {
        for number in 1.. {
            let runtime_id = numbered(wanted, number);
            if runtime_id == RuntimeId::local() || runtime_id.as_str() == "compat" {
                continue;
            }
            // Two exchanges of one server may get here at once.
            if let Some(known) = self.backend.registry.by_store(store) {
                return known;
            }
            let port = Announced::new(
                self.backend.host.clone(),
                self.backend.lines.clone(),
                store.to_owned(),
                runtime_id.clone(),
            );
            let entry = Entry::new(EntryKind::Announced, Arc::new(port));
            let entry = Entry { store_id: Some(store.to_owned()), ..entry };
            if self.backend.registry.insert(runtime_id.clone(), entry).is_ok() {
                return runtime_id;
            }
        }
        unreachable!("of all numbers one is free")
    }
}

/// `box`, `box-2`, `box-3` and so on, within the length limit of an id.
fn numbered(wanted: &RuntimeId, number: u32) -> RuntimeId {
    if number == 1 {
        return wanted.clone();
    }
    let end = format!("-{number}");
    let begin: String = wanted.as_str().chars().take(32 - end.len()).collect();
    RuntimeId::parse(&format!("{begin}{end}")).expect("an id with a number at its end is an id")
}
