//! What a viewer sees while a command runs: its output in chunks, not one per line, and not without limit.

use std::time::Duration;

use tokio::{sync::mpsc::Permit, time::Instant};

use super::text::head_bytes;
use crate::Output;

/// The most bytes of one chunk, which becomes one record.
const PIECE_BYTES_MAX: usize = 4 * 1024;
/// How long a chunk waits for more.
const GATHER: Duration = Duration::from_millis(30);
/// The most output that may wait for the transcript; beyond that the command's output is not read.
const WAITING_BYTES_MAX: usize = 64 * 1024;
/// The most bytes of all chunks of a call.
const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// Output on its way to the transcript.
#[derive(Debug)]
pub(super) struct Live {
    waiting: String,
    /// When the oldest of it arrived.
    since: Option<Instant>,
    bytes_left: usize,
    /// Sent when no more is shown.
    last_words: String,
    is_closed: bool,
}

impl Live {
    /// `name` is where all of it can be read when the command has ended.
    pub(super) fn new(name: &str) -> Self {
        let last_words =
            format!("\n[more output is not shown here; Read {{\"path\":\"{name}\"}} shows all when it has ended]\n");
        Self { waiting: String::new(), since: None, bytes_left: SHOWN_BYTES_MAX, last_words, is_closed: false }
    }

    pub(super) fn push(&mut self, text: &str) {
        if text.is_empty() || self.is_closed {
            return;
        }
        self.since.get_or_insert_with(Instant::now);
        let shown = head_bytes(text, self.bytes_left);
        self.waiting.push_str(shown);
        self.bytes_left -= shown.len();
        if shown.len() < text.len() {
            self.waiting.push_str(&self.last_words);
            self.is_closed = true;
        }
    }

    /// Nobody is left to show it to.
    pub(super) fn close(&mut self) {
        self.waiting.clear();
        self.since = None;
        self.is_closed = true;
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_BYTES_MAX
    }

    /// When the next chunk is to be sent.
    pub(super) fn due(&self) -> Option<Instant> {
        let since = self.since?;
        Some(if self.waiting.len() >= PIECE_BYTES_MAX { since } else { since + GATHER })
    }

    pub(super) fn send_piece(&mut self, permit: Permit<'_, String>) {
        let rest = self.waiting.split_off(head_bytes(&self.waiting, PIECE_BYTES_MAX).len());
        let piece = std::mem::replace(&mut self.waiting, rest);
        self.since = (!self.waiting.is_empty()).then(Instant::now);
        permit.send(piece);
    }

    /// Sends everything that is waiting.
    pub(super) async fn finish(&mut self, to: &Output) {
        while !self.waiting.is_empty() {
            match to.reserve().await {
                Ok(permit) => self.send_piece(permit),
                Err(_) => self.close(),
            }
        }
    }
}
