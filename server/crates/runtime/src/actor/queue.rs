//! Accepted inputs that have not begun; they can wait, begin, or be taken back. A waiting input is an inbox row and not
//! a record, so each way it can end is one transaction with its consequences.

use std::collections::VecDeque;

use pod::Input;
use pod_store::InboxRow;
use protocol::{ApiError, CommandId, ErrorCode, PodName, Segment};

use super::commit::Extras;

/// The most inputs that one Pod may have queued.
const QUEUED_MAX: usize = 1_000;
/// The most bytes of text in all of them.
const QUEUED_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The waiting inputs, oldest first.
#[derive(Debug)]
pub(super) struct Queue(VecDeque<InboxRow>);

impl Queue {
    pub(super) fn new(rows: Vec<InboxRow>) -> Self {
        Self(rows.into())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn rows(&self) -> Vec<InboxRow> {
        self.0.iter().cloned().collect()
    }

    /// Refuses an input if there is no room for it.
    pub(super) fn check_room(&self, pod: &PodName, segments: &[Segment]) -> Result<(), ApiError> {
        if self.0.len() >= QUEUED_MAX {
            let sentence = format!("pod \"{pod}\" has {QUEUED_MAX} inputs queued; wait until some are done");
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        let waiting: usize = self.0.iter().map(|row| Segment::bytes(&row.segments)).sum();
        if waiting + Segment::bytes(segments) > QUEUED_BYTES_MAX {
            let mebibytes = QUEUED_BYTES_MAX >> 20;
            let sentence = format!(
                "the inputs that are queued for pod \"{pod}\" have {mebibytes} MiB at most; wait until some are done"
            );
            return Err(ApiError::new(ErrorCode::RateLimited, sentence));
        }
        Ok(())
    }

    pub(super) fn put(&mut self, row: InboxRow) {
        self.0.push_back(row);
    }

    pub(super) fn find(&self, id: &CommandId) -> Option<&InboxRow> {
        self.0.iter().find(|row| row.command_id == *id)
    }

    pub(super) fn forget(&mut self, id: &CommandId) {
        self.0.retain(|row| row.command_id != *id);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes the input that begins the next run: one that was meant to steer the previous run goes first, then the
    /// oldest.
    pub(super) fn next(&mut self) -> Option<(Input, Extras)> {
        let at = self.0.iter().position(|row| row.steers).unwrap_or(0);
        let InboxRow { command_id, segments, by, blobs, .. } = self.0.remove(at)?;
        let taken = Extras { inbox_taken: vec![command_id.clone()], ..Extras::default() };
        Some((Input::Submit { command_id, segments, by, blobs }, taken))
    }

    /// Takes the oldest input that was sent to steer the current run, with its id.
    pub(super) fn next_steering(&mut self) -> Option<(Input, CommandId)> {
        let at = self.0.iter().position(|row| row.steers)?;
        let InboxRow { command_id, segments, by, blobs, .. } = self.0.remove(at)?;
        Some((Input::Steer { command_id: command_id.clone(), segments, by, blobs }, command_id))
    }
}
