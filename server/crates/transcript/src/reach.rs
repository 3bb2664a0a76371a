//! What of a transcript can still be reached: questions by an answer, words by the model.

use protocol::Seq;

use crate::{Block, BlockKind, Transcript};

impl Transcript {
    /// Questions that wait for a person, oldest first. Costs as much as the newest run has asked.
    pub fn open_questions(&self) -> impl Iterator<Item = &Block> {
        self.questions.open(&self.rows)
    }

    /// Each rewind, oldest first: the last seq that it kept, and its own.
    pub fn rewinds(&self) -> &[(Seq, Seq)] {
        &self.rewinds
    }
}

impl Block {
    /// One of these [rewinds](Transcript::rewinds) took it out of the model's context. What no model ever reads (a
    /// link, a child, an alert) is not taken out of anything.
    pub fn is_rewound(&self, rewinds: &[(Seq, Seq)]) -> bool {
        let is_speech = !matches!(
            self.kind,
            BlockKind::Relation { .. }
                | BlockKind::Message { .. }
                | BlockKind::Child { .. }
                | BlockKind::Alert { .. }
                | BlockKind::Rewound { .. }
                | BlockKind::Unknown { .. }
        );
        is_speech && rewinds.iter().any(|(to, at)| *to < self.seq && self.seq < *at)
    }
}
