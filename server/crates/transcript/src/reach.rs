//! Which blocks can still be affected: approvals by an answer, messages by the model.

use protocol::Seq;

use crate::{Block, BlockKind, Transcript};

impl Transcript {
    /// The open approvals, oldest first. The cost is proportional to the number of approvals in the newest run.
    pub fn open_questions(&self) -> impl Iterator<Item = &Block> {
        self.questions.open(&self.rows)
    }

    /// Each rewind, oldest first: the last seq that it kept, and its own seq.
    pub fn rewinds(&self) -> &[(Seq, Seq)] {
        &self.rewinds
    }
}

impl Block {
    /// Whether one of these [rewinds](Transcript::rewinds) removed it from the model's context. False for what no
    /// model ever reads (a peer relation, a child, an alert).
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
