//! The mailbox: what others have to tell becomes part of the journal, in any live state.

use pod::Input;
use protocol::{Event, PodState};

use super::{PodTask, commit::Extras};
use crate::mail::Letter;

impl PodTask {
    /// Takes what is in the mailbox, when the Pod is in a state to take it.
    pub(super) async fn read_mail(&mut self) {
        if !self.has_mail {
            return;
        }
        let is_compacting = self.pod.compacting_from.is_some();
        if self.is_deleted || is_compacting || !self.pod.state.is_live() {
            // A stopped Pod finds it there when it is restored; one that compacts, when it is done.
            self.has_mail = is_compacting && !self.is_deleted;
            return;
        }
        self.has_mail = false;
        let rows = match self.inner.patiently(|| self.inner.store.mail(self.key)).await {
            Ok(rows) if rows.is_empty() => return,
            Ok(rows) => rows,
            Err(error) => {
                tracing::error!(%error, pod = %self.name, "the mailbox could not be read");
                return;
            }
        };
        let mail_taken = rows.iter().map(|row| row.key.clone()).collect();
        let (mut events, mut notes) = (Vec::new(), Vec::new());
        for row in &rows {
            match serde_json::from_str::<Letter>(&row.body).map(Letter::event) {
                Ok(Event::Turn(event)) => events.push(event),
                Ok(Event::Control(event)) => notes.push(event),
                Ok(Event::Unknown(_)) => (),
                Err(error) => {
                    tracing::error!(%error, pod = %self.name, key = row.key, "a letter cannot be read; it is put aside");
                }
            }
        }
        let inputs = [Input::Note(notes), Input::Mail { events, wakes: true }];
        let was_idle = self.pod.state == PodState::Idle;
        if let Err(error) = self.advance(inputs, Extras { mail_taken, ..Extras::default() }).await {
            tracing::error!(%error, pod = %self.name, was_idle, "mail could not be taken; it stays in the mailbox");
        }
    }
}
