//! How a record changes a Pod: the fold by which recovery works.

mod blocks;
mod control;
mod mail;
mod turn;

use protocol::{ControlEvent, Event, Record, Seq, Timestamp, ToolBy, TurnEvent};

pub use self::control::BUDGET;
use self::{control::control, turn::turn};
use crate::Pod;

impl Pod {
    /// Folds one record in. Records come in seq order; one that was folded in before changes nothing.
    pub fn apply(&mut self, record: &Record) {
        if record.seq > self.head {
            self.evolve_at(record.seq, record.at, &record.event);
        }
    }

    /// Folds one event in, as the record at `seq` that was written at `at`.
    pub fn evolve_at(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        self.evolve(seq, event);
        self.note_time(at, event);
    }

    /// Notes when calls begin to run and when they write, from which a restart knows how long they ran.
    fn note_time(&mut self, at: Timestamp, event: &Event) {
        let calls = self.calls.iter_mut().chain(&mut self.operator_calls);
        match event {
            Event::Turn(TurnEvent::ToolCalled { call_id, .. })
            | Event::Control(ControlEvent::ApprovalAnswered { id: call_id, .. }) => {
                calls.filter(|call| call.call_id == *call_id).for_each(|call| call.began_at = Some(at));
            }
            Event::Turn(TurnEvent::ToolOutputChunk { block, .. }) => {
                calls.filter(|call| call.block == *block).for_each(|call| call.wrote_at = Some(at));
            }
            // Calls that were allowed while the Pod was paused begin now; queued calls begin when the one before them
            // ends.
            Event::Control(ControlEvent::RunStarted { .. })
            | Event::Turn(TurnEvent::ToolFinished { by: ToolBy::Model, .. }) => {
                self.calls.iter_mut().filter(|call| call.wrote_at.is_none()).for_each(|call| call.began_at = Some(at));
            }
            _ => (),
        }
    }

    /// Folds one event in, as the record at `seq`.
    pub fn evolve(&mut self, seq: Seq, event: &Event) {
        self.head = seq;
        match event {
            Event::Turn(event) => turn(self, seq, event),
            Event::Control(event) => control(self, event),
            Event::Unknown(_) => (),
        }
    }
}
