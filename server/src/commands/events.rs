//! What happens in all Pods, as one stream.
//!
//! A cursor belongs to one Pod, and says nothing to a client about which. So every Pod is asked for what follows it:
//! the one that it belongs to goes on from there, the others refuse it and begin now.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use client::{Connection, EventStream, StreamItem};
use protocol::{DiagnosticCode, PodRef, PodSummary, ServerFrame};

use super::{Caller, record_line::record_line};
use crate::{cli::EventsOptions, output};

/// Records of a Pod that appears while this runs: enough for all that it did since.
const TAIL_OF_NEW: u32 = 200;

struct Follower {
    events: EventStream,
    after: Option<String>,
    json: bool,
    /// The Pods that are followed, by the id of their subscription.
    pods: BTreeMap<String, PodSummary>,
    /// The first list is what was there; what comes later is new.
    has_begun: bool,
}

/// Prints one line for each event, until interrupted.
pub(super) async fn events(caller: &Caller, options: EventsOptions) -> Result<()> {
    // The stream would try for ever; a command that never had a server says so and ends.
    caller.client.runtimes().await?;
    let events = caller.client.events();
    events.subscribe_pods();
    let json = caller.config.json;
    let mut follower = Follower { events, after: options.after, json, pods: BTreeMap::new(), has_begun: false };
    loop {
        match follower.events.next().await {
            StreamItem::Frame(frame) => follower.take(frame)?,
            StreamItem::Connection(Connection::Unauthorized) => {
                bail!("the server refuses the token; `yoi token` prints the one it was started with")
            }
            StreamItem::Connection(Connection::Reconnecting { cause, .. }) => {
                output::note(&format!("reconnecting: {cause}"));
            }
            StreamItem::Connection(_) => {}
        }
    }
}

impl Follower {
    fn take(&mut self, frame: ServerFrame) -> Result<()> {
        match &frame {
            ServerFrame::Pods { upserts, removed, .. } => {
                upserts.iter().for_each(|summary| self.follow(summary));
                removed.iter().for_each(|pod| self.forget(pod));
                self.has_begun = true;
            }
            // The cursor is another Pod's, as said above.
            ServerFrame::Diagnostic { code: DiagnosticCode::CursorInvalid, .. } => return Ok(()),
            _ => {}
        }
        match self.json {
            true => output::json(&self.with_address(frame)),
            false => self.print_lines(&frame),
        }
    }

    fn follow(&mut self, summary: &PodSummary) {
        if let Some(known) = self.pods.values_mut().find(|known| known.pod == summary.pod) {
            *known = summary.clone();
            return;
        }
        let (after, tail) = match self.has_begun {
            true => (None, TAIL_OF_NEW),
            false => (self.after.clone(), 0),
        };
        let id = self.events.subscribe_pod(summary.pod.clone(), after, tail);
        self.pods.insert(id, summary.clone());
    }

    fn forget(&mut self, pod: &PodRef) {
        if let Some(id) = self.pods.iter().find(|(_, known)| known.pod == *pod).map(|(id, _)| id.clone()) {
            self.events.unsubscribe(&id);
            self.pods.remove(&id);
        }
    }

    /// The ids of our subscriptions say nothing to a reader; the address of the Pod does.
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
        if let Some(summary) = self.pods.get(id) {
            *id = summary.pod.to_string();
        }
        frame
    }

    fn print_lines(&self, frame: &ServerFrame) -> Result<()> {
        match frame {
            ServerFrame::Snapshot { id, records, .. } | ServerFrame::Records { id, records, .. } => {
                let name = self.pods.get(id).map(|summary| summary.name.as_str()).unwrap_or_default();
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
