//! The one socket to another server: it always follows the list of Pods, and single Pods as long as they have viewers.
//!
//! The task owns all of it. What others may see of it is in [`Known`]; viewers get their items through queues.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use client::{Client, Connection, EventStream, StreamItem};
use futures_util::future::BoxFuture;
use protocol::{RuntimeId, RuntimeState, ServerFrame, WorkerId};
use tokio::sync::mpsc;

use super::{
    feeds::Feeds,
    known::Known,
    look::{Seen, look},
    queue::Feeder,
};
use crate::{EntryKind, Registry, kept::Kept};

/// How long to wait before asking a server with odd answers again which one it is.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How the client's message begins when a server answered the handshake with something else.
const ANSWERED: &str = "the server answered ";

/// What the line works with.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) client: Client,
    pub(super) known: Arc<Known>,
    pub(super) attaching: mpsc::Receiver<Attach>,
    /// The store that was there before.
    pub(super) store_id: Option<String>,
    pub(super) registry: Registry,
    pub(super) kept: Arc<Kept>,
}

/// A viewer that wants to be served.
#[derive(Debug)]
pub(super) struct Attach {
    pub(super) worker_id: WorkerId,
    pub(super) after: Option<String>,
    pub(super) tail: u32,
    pub(super) feeder: Feeder,
}

struct Line {
    parts: Parts,
    stream: EventStream,
    list_id: String,
    feeds: Feeds,
    /// The pending question which server it is.
    looking: Option<BoxFuture<'static, Seen>>,
    /// On this connection, it is the right server and it has sent its list.
    is_known: bool,
    is_listed: bool,
}

/// Runs until its remote is dropped.
pub(super) async fn run(parts: Parts) {
    let stream = parts.client.raw_events();
    let list_id = stream.subscribe_pods();
    let feeds = Feeds::default();
    let mut line = Line { parts, stream, list_id, feeds, looking: None, is_known: false, is_listed: false };
    loop {
        line.step().await;
    }
}

impl Line {
    async fn step(&mut self) {
        let left = self.parts.known.left.clone();
        let looking = &mut self.looking;
        let seen = async move {
            match looking {
                Some(looking) => looking.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            (item, records) = self.stream.next_raw() => self.take(item, records),
            Some(attach) = self.parts.attaching.recv() => self.feeds.attach(&self.stream, attach),
            () = left.notified() => self.feeds.prune(&self.stream),
            seen = seen => {
                self.looking = None;
                self.take_look(seen).await;
            }
        }
    }

    fn take(&mut self, item: StreamItem, records: Vec<Bytes>) {
        match item {
            StreamItem::Connection(connection) => self.take_connection(connection),
            StreamItem::Frame(ServerFrame::Pods { id, snapshot, upserts, removed, .. }) if id == self.list_id => {
                let terms = &self.parts.known.terms;
                // Pods that it reaches itself are not its own.
                let own = upserts.into_iter().filter(|summary| summary.pod.runtime_id == RuntimeId::local());
                let own = own.map(|summary| terms.summary(summary));
                if snapshot {
                    self.parts.known.set_pods(own.collect());
                    self.is_listed = true;
                    self.live();
                } else {
                    own.for_each(|summary| self.parts.known.put_pod(summary));
                    let gone = removed.iter().filter(|pod| pod.runtime_id == RuntimeId::local());
                    gone.for_each(|pod| self.parts.known.remove_pod(&pod.worker_id));
                }
            }
            StreamItem::Frame(frame) => self.feeds.take(&self.stream, &self.parts.known.terms, frame, records),
        }
    }

    fn take_connection(&mut self, connection: Connection) {
        let known = &self.parts.known;
        match connection {
            Connection::Connected => self.look_after(Duration::ZERO),
            Connection::Reconnecting { cause, .. } => {
                (self.is_known, self.is_listed) = (false, false);
                if cause.starts_with(ANSWERED) && !known.is_live() {
                    // It is not away but something else: find out what, and report that.
                    self.look_after(Duration::ZERO);
                    return;
                }
                self.looking = None;
                let detail = match self.parts.client.is_told_by(&cause) {
                    true => "it cannot be connected to".to_owned(),
                    false => cause,
                };
                known.set_state(RuntimeState::Unreachable, Some(detail));
            }
            Connection::Unauthorized => {
                (self.is_known, self.is_listed) = (false, false);
                known.set_state(RuntimeState::Unauthorized, Some("it refuses our token".to_owned()));
            }
            Connection::CaughtUp { .. } | Connection::Reloaded => (),
        }
    }

    fn look_after(&mut self, wait: Duration) {
        let client = self.parts.client.clone();
        self.looking = Some(Box::pin(async move {
            tokio::time::sleep(wait).await;
            look(&client).await
        }));
    }

    async fn take_look(&mut self, seen: Seen) {
        let (state, detail) = match seen {
            Seen::Yoi { store_id } => match self.wrong_store(&store_id) {
                None => {
                    self.note_store(store_id).await;
                    self.is_known = true;
                    return self.live();
                }
                Some(why) => (RuntimeState::Incompatible, why),
            },
            Seen::Other(why) => (RuntimeState::Incompatible, why),
            Seen::Away(why) => (RuntimeState::Unreachable, why.to_owned()),
            Seen::Unauthorized => (RuntimeState::Unauthorized, "it refuses our token".to_owned()),
        };
        if state == RuntimeState::Incompatible {
            // Nothing that comes from there is usable.
            self.feeds.clear(&self.stream);
        }
        self.parts.known.set_state(state, Some(detail));
        self.look_after(LOOK_AGAIN);
    }

    /// Why a store cannot be this runtime's.
    fn wrong_store(&self, store_id: &str) -> Option<String> {
        let own = self.parts.known.terms.id();
        match (&self.parts.store_id, self.parts.registry.by_store(store_id)) {
            (Some(before), _) if before != store_id => {
                Some("another database answers there than before; remove this runtime and add it again".to_owned())
            }
            (None, Some(other)) if other == RuntimeId::local() => {
                Some("that is this server itself; its Pods are already here, so remove this runtime".to_owned())
            }
            (None, Some(other)) if other != *own && !self.is_announced(&other) => {
                Some(format!("it is already here, as \"{other}\"; remove one of both"))
            }
            _ => None,
        }
    }

    fn is_announced(&self, id: &RuntimeId) -> bool {
        self.parts.registry.get(id).is_some_and(|entry| entry.kind == EntryKind::Announced)
    }

    async fn note_store(&mut self, store_id: String) {
        if self.parts.store_id.as_ref() == Some(&store_id) {
            return;
        }
        let id = self.parts.known.terms.id();
        self.parts.known.set_store(&store_id);
        self.parts.registry.set_store(id, &store_id);
        if let Err(error) = self.parts.kept.hold().await.set_store(id, &store_id).await {
            tracing::warn!(%error, runtime_id = %id, "could not write down which database a runtime has");
        }
        self.parts.store_id = Some(store_id);
    }

    fn live(&self) {
        if self.is_known && self.is_listed {
            self.parts.known.set_state(RuntimeState::Live, None);
        }
    }
}
