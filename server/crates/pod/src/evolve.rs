//! How a record changes a Pod: the fold that recovery is made of.

mod blocks;
mod control;
mod mail;
mod turn;

use protocol::{ControlEvent, Event, Record, Seq, Timestamp, ToolBy, TurnEvent};

pub use self::control::BUDGET;
use self::{control::control, turn::turn};
use crate::Pod;

impl Pod {
    /// Folds one record in. Records come in seq order; one that is folded in already changes nothing.
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

    /// When calls begin to run and when they write: what a restart knows of how long they ran.
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
            // What was allowed while the Pod was paused begins now; what stood in line, when the one before it ends.
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
