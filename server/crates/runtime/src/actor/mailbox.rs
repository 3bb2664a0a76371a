//! The mailbox: messages from other Pods become part of the journal in any live state.

use pod::Input;
use protocol::Event;

use super::{Actors, commit::Extras, state::State};
use crate::mail::Letter;

/// Whether the mailbox may have mail. The mail itself is in the store.
#[derive(Debug)]
pub(super) struct Mailbox {
    has_mail: bool,
}

impl Mailbox {
    pub(super) fn new() -> Self {
        Self { has_mail: true }
    }

    /// Notes that something may have arrived.
    pub(super) fn has_mail(&mut self) {
        self.has_mail = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.has_mail
    }

    /// Reads the mailbox if the Pod is in a state to take mail. The mail is removed in the transaction that records it.
    pub(super) async fn letters(&mut self, actors: &Actors, state: &State) -> Option<([Input; 2], Extras)> {
        if !self.has_mail {
            return None;
        }
        let is_compacting = state.pod.compacting_from.is_some();
        if state.is_deleted || is_compacting || !state.pod.state.is_live() {
            // A stopped Pod reads it when it is restored; a compacting one when that is done.
            self.has_mail = is_compacting && !state.is_deleted;
            return None;
        }
        self.has_mail = false;
        let rows = match actors.patiently(|| actors.store.inboxes().mail(state.key)).await {
            Ok(rows) if rows.is_empty() => return None,
            Ok(rows) => rows,
            Err(error) => {
                tracing::error!(%error, pod = %state.name, "the mailbox could not be read");
                return None;
            }
        };
        let (mut events, mut notes) = (Vec::new(), Vec::new());
        for row in &rows {
            match serde_json::from_str::<Letter>(&row.body).map(Letter::event) {
                Ok(Event::Turn(event)) => events.push(event),
                Ok(Event::Control(event)) => notes.push(event),
                Ok(Event::Unknown(_)) => (),
                Err(error) => {
                    tracing::error!(%error, pod = %state.name, key = row.key, "a letter cannot be read; it is put aside");
                }
            }
        }
        let mail_taken = rows.into_iter().map(|row| row.key).collect();
        let inputs = [Input::Note(notes), Input::Mail { events, wakes: true }];
        Some((inputs, Extras { mail_taken, ..Extras::default() }))
    }
}
