//! The events of all Pods as one stream.
//!
//! A cursor belongs to one Pod, and a client cannot tell to which. So every Pod is asked for what follows the cursor:
//! the one that it belongs to continues from there, and the others refuse it and begin now.

use protocol::{operation::Page, operations};
use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use client::{Client, Connection, EventStream, StreamItem};
use protocol::{DiagnosticCode, PodRef, PodSummary, ServerFrame};

use super::{Caller, follow::Follow, log::words, record_line::record_line};
use crate::{cli::EventsOptions, output, signals::until_interrupted};

/// How many records to fetch of a Pod that appears later: enough for everything that it has done.
const TAIL_OF_NEW: u32 = 200;

struct Follower {
    client: Client,
    events: EventStream,
    after: Option<String>,
    json: bool,
    /// The Pods that are followed, by subscription id.
    pods: BTreeMap<String, Followed>,
    /// The first list has arrived; Pods that appear later are new.
    has_begun: bool,
    /// The Pods that have not yet said whether the cursor is theirs; `None` once one of them has continued from it.
    unsaid: Option<BTreeSet<String>>,
    /// Why the cursor may once have been valid: it is from another database, possibly a former one of this server, or
    /// from a server whose Pods are listed here too.
    expired: Option<String>,
}

struct Followed {
    summary: PodSummary,
    follow: Follow,
}

/// Prints one line for each event, until interrupted.
pub(super) async fn events(caller: &Caller, options: EventsOptions) -> Result<()> {
    // The stream would retry forever; a command that never reached a server should fail instead.
    caller.client.read(&operations::Runtimes { page: Page::default() }).await?;
    let events = caller.client.events();
    events.subscribe_pods();
    let follower = Follower {
        client: caller.client.clone(),
        events,
        after: options.after,
        json: caller.config.json,
        pods: BTreeMap::new(),
        has_begun: false,
        unsaid: None,
        expired: None,
    };
    until_interrupted(follower.run()).await
}

impl Follower {
    async fn run(mut self) -> Result<()> {
        loop {
            match self.events.next().await {
                StreamItem::Frame(frame) => self.take(frame).await?,
                StreamItem::Connection(Connection::Unauthorized) => bail!("{}", output::UNAUTHORIZED),
                // The Pod refused another Pod's cursor, as explained above; nothing was missed.
                StreamItem::Connection(Connection::Reloaded) if self.after.is_some() => {}
                StreamItem::Connection(connection) => words(&connection).iter().for_each(|text| output::note(text)),
            }
        }
    }

    async fn take(&mut self, mut frame: ServerFrame) -> Result<()> {
        match &mut frame {
            ServerFrame::Pods { upserts, removed, .. } => {
                upserts.iter().for_each(|summary| self.follow(summary));
                removed.iter().for_each(|pod| self.forget(pod));
                if !self.has_begun && self.after.is_some() {
                    self.unsaid = Some(self.pods.keys().cloned().collect());
                    self.is_nobodys()?;
                }
                self.has_begun = true;
            }
            ServerFrame::Snapshot { id, summary, records, has_more, .. } => {
                if let Some(followed) = self.pods.get_mut(id) {
                    let told = std::mem::take(records);
                    *records = followed.follow.snapshot(&self.client, summary, told, *has_more).await?;
                }
            }
            ServerFrame::Records { id, records, .. } => {
                if self.unsaid.as_mut().is_some_and(|unsaid| unsaid.remove(id)) {
                    self.unsaid = None;
                }
                if let Some(followed) = self.pods.get_mut(id) {
                    *records = followed.follow.records(std::mem::take(records));
                }
            }
            // The cursor belongs to another Pod, as explained above, possibly one of another server.
            ServerFrame::Diagnostic {
                code: code @ (DiagnosticCode::CursorInvalid | DiagnosticCode::CursorExpired),
                id: Some(id),
                detail,
            } => {
                if self.unsaid.as_mut().is_some_and(|unsaid| unsaid.remove(id)) {
                    if *code == DiagnosticCode::CursorExpired {
                        self.expired = Some(detail.clone());
                    }
                    self.is_nobodys()?;
                }
                return Ok(());
            }
            ServerFrame::Diagnostic { code: DiagnosticCode::Lagged, id: Some(id), detail }
                if self.unsaid.as_ref().is_some_and(|unsaid| unsaid.contains(id)) =>
            {
                return cut_off(detail);
            }
            _ => {}
        }
        match self.json {
            true => output::json(&self.with_address(frame)),
            false => self.print_lines(&frame),
        }
    }

    /// Fails once every Pod has refused the cursor.
    fn is_nobodys(&self) -> Result<()> {
        match (&self.unsaid, &self.expired) {
            (Some(unsaid), Some(why)) if unsaid.is_empty() => cut_off(why),
            (Some(unsaid), None) if unsaid.is_empty() => {
                bail!(
                    "the --after cursor belongs to no Pod here; `yoi events --json` prints cursors, and without \
                       --after it starts now"
                )
            }
            _ => Ok(()),
        }
    }

    fn follow(&mut self, summary: &PodSummary) {
        if let Some(known) = self.pods.values_mut().find(|known| known.summary.pod == summary.pod) {
            known.summary = summary.clone();
            return;
        }
        let pod = summary.pod.clone();
        let (after, tail, follow) = match self.has_begun {
            true => (None, TAIL_OF_NEW, Follow::from_start(pod.clone())),
            false => (self.after.clone(), 0, Follow::from_now(pod.clone())),
        };
        let id = self.events.subscribe_pod(pod, after, tail);
        self.pods.insert(id, Followed { summary: summary.clone(), follow });
    }

    fn forget(&mut self, pod: &PodRef) {
        if let Some(id) = self.pods.iter().find(|(_, known)| known.summary.pod == *pod).map(|(id, _)| id.clone()) {
            self.events.unsubscribe(&id);
            self.pods.remove(&id);
        }
    }

    /// Replaces our subscription ids, which mean nothing to a reader, by the Pods' addresses.
    fn with_address(&self, mut frame: ServerFrame) -> ServerFrame {
        let id = match &mut frame {
            ServerFrame::Snapshot { id, .. } | ServerFrame::Records { id, .. } | ServerFrame::Closed { id, .. } => id,
            ServerFrame::Diagnostic { id: Some(id), .. } => id,
            ServerFrame::Pods { id, .. } => {
                "pods".clone_into(id);
                return frame;
            }
            _ => return frame,
        };
        if let Some(followed) = self.pods.get(id) {
            *id = followed.summary.pod.to_string();
        }
        frame
    }

    fn print_lines(&self, frame: &ServerFrame) -> Result<()> {
        match frame {
            ServerFrame::Snapshot { id, records, .. } | ServerFrame::Records { id, records, .. } => {
                let name = self.pods.get(id).map(|followed| followed.summary.name.as_str()).unwrap_or_default();
                let lines = records.iter().filter_map(record_line);
                lines.into_iter().try_for_each(|text| output::line(&format!("{name}  {text}")))
            }
            ServerFrame::Diagnostic { detail, .. } => {
                output::note(detail);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A cursor asks for everything that follows it; continuing without it would silently lose records.
fn cut_off(why: &str) -> Result<()> {
    let why = why.trim_end_matches("; a snapshot follows");
    bail!(
        "cannot continue after the --after cursor: {why}; `yoi log NAME` prints a Pod's records, and without --after \
           `yoi events` starts now"
    )
}
