//! The records of a view as they are written: with their time, their run, and ids unique to this connection.

use std::sync::Arc;

use jiff::Timestamp;
use protocol::{AlertLevel, ControlEvent, Event, TurnEvent};
use serde_json::Value;

use crate::{journal::Draft, scrub::Scrub};

#[derive(Debug)]
pub(super) struct Drafts {
    pub(super) scrub: Arc<Scrub>,
    /// Distinguishes this connection's ids from another's.
    pub(super) label: String,
    /// How many ids were generated.
    made: u64,
    pub(super) at: Timestamp,
    /// The open run.
    pub(super) run_id: Option<String>,
    /// Whether a log is being replayed, whose entries say nothing about the present.
    pub(super) is_replay: bool,
    /// Whether the view contains any conversation.
    pub(super) has_conversation: bool,
    /// How many answers were finished in this view.
    pub(super) answers: u32,
    written: Vec<Draft>,
}

impl Drafts {
    pub(super) fn new(scrub: Arc<Scrub>, label: String) -> Self {
        Self {
            scrub,
            label,
            made: 0,
            at: Timestamp::UNIX_EPOCH,
            run_id: None,
            is_replay: false,
            has_conversation: false,
            answers: 0,
            written: Vec::new(),
        }
    }

    /// For a view that starts over. Ids continue.
    pub(super) fn anew(&self) -> Self {
        Self { made: self.made, at: self.at, ..Self::new(self.scrub.clone(), self.label.clone()) }
    }

    pub(super) fn push(&mut self, event: impl Into<Event>) {
        let event = event.into();
        self.has_conversation |= matches!(event, Event::Turn(_));
        self.answers += u32::from(matches!(event, Event::Turn(TurnEvent::MessageFinished { .. })));
        self.written.push(Draft { at: self.at, run_id: self.run_id.clone(), event });
    }

    pub(super) fn note(&mut self, level: AlertLevel, source: &str, text: &str) {
        let (source, text) = (self.scrub.said(source), self.scrub.said(text));
        self.push(ControlEvent::Alert { level, source, text, model: None });
    }

    /// An event unknown to this version, shown as it arrived.
    pub(super) fn unknown(&mut self, kind: &str, fields: &Value) {
        self.push(Event::Unknown(self.scrub.unknown(kind, fields)));
    }

    pub(super) fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// A new id, unique across all connections.
    pub(super) fn id(&mut self, what: &str) -> String {
        let number = self.number();
        format!("{what}-{}-{number}", self.label)
    }

    pub(super) fn take(&mut self) -> Vec<Draft> {
        std::mem::take(&mut self.written)
    }
}
