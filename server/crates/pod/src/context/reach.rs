//! How far back a journal has to be read for its context: to the newest compaction that counts, and what it keeps.

use protocol::{Seq, TurnEvent};

/// Told record by record, newest first, until nothing before matters. What is then read from there on, oldest first, makes the
/// same messages as the whole journal does. It is no good for a rewind to before it, which has to be told beforehand.
#[derive(Debug)]
pub struct Reach {
    /// Nothing behind this and before what was told so far is in the conversation any more.
    rewound_to: Seq,
    /// The earliest position of which something is kept, once a compaction has been found.
    kept_from: Option<Seq>,
}

impl Default for Reach {
    fn default() -> Self {
        Self::after_rewind(Seq(i64::MAX))
    }
}

impl Reach {
    /// For a conversation that is about to be rewound to this position.
    pub fn after_rewind(to: Seq) -> Self {
        Self { rewound_to: to, kept_from: None }
    }

    /// Takes the next older event of the conversation. True: nothing before it matters.
    ///
    /// It has to be one that begins anew: what a person writes, or what others tell when it begins a run. All calls have
    /// their results then, and all that came in before stands above it.
    pub fn is_covered_by(&mut self, seq: Seq, run_id: Option<&str>, event: &TurnEvent) -> bool {
        match event {
            TurnEvent::Rewound { to_seq } => {
                self.rewound_to = self.rewound_to.min(*to_seq);
                false
            }
            TurnEvent::Compacted { kept_from_seq, .. } => {
                // One in what a later one kept has its own part to keep.
                if seq <= self.rewound_to && self.kept_from.is_none_or(|kept_from| seq >= kept_from) {
                    self.kept_from = self.kept_from.into_iter().chain([*kept_from_seq, seq]).min();
                }
                false
            }
            TurnEvent::UserMessage { .. } => self.is_before_all(seq),
            TurnEvent::PeerMessage { .. } | TurnEvent::ChildEvent { .. } if run_id.is_some() => self.is_before_all(seq),
            _ => false,
        }
    }

    fn is_before_all(&self, seq: Seq) -> bool {
        self.kept_from.is_some_and(|kept_from| seq <= kept_from && seq <= self.rewound_to)
    }
}
