//! How far back a journal has to be read for its context: to the newest compaction that counts, and what that kept.

use protocol::{Seq, TurnEvent};

/// Fed record by record, newest first, until nothing earlier matters. Reading from there on, oldest first, then gives
/// the same messages as the whole journal. A later rewind to before that point is not covered; it has to be announced
/// with [`Reach::after_rewind`].
#[derive(Debug)]
pub struct Reach {
    /// Nothing between this position and what has been fed so far is in the conversation any more.
    rewound_to: Seq,
    /// The earliest position that is kept, once a compaction has been found.
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

    /// Takes the next older event of the conversation. Returns true if nothing before it matters.
    ///
    /// That has to be an event that starts something new: a person's message, or one from elsewhere that begins a run.
    /// All earlier calls have their results then, and everything that came in before stands before it.
    pub fn is_covered_by(&mut self, seq: Seq, run_id: Option<&str>, event: &TurnEvent) -> bool {
        match event {
            TurnEvent::Rewound { to_seq } => {
                self.rewound_to = self.rewound_to.min(*to_seq);
                false
            }
            TurnEvent::Compacted { kept_from_seq, .. } => {
                // A compaction within the part that a later one kept also needs the part that it kept itself.
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
