//! A model's answer as it arrives, in batches: whatever arrives while one batch is being committed forms the next.
//!
//! Nothing else waits here: the Pod's own task reads the connection while it waits for the disk. When a batch is full
//! the connection is not read, so backpressure reaches the model's server.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
};

use futures_util::StreamExt;
use pod::QuestionSize;
use protocol::{ModelName, Usage};
use provider::{ModelEvent, ModelStream, ProviderError, Unfinished};

/// Limits of one batch: the number of pieces, and the bytes of their texts.
pub(super) const PIECES_MAX: usize = 4_096;
const BYTES_MAX: usize = 512 * 1024;

type Piece = Result<ModelEvent, ProviderError>;

/// A model's answer. Dropping it closes the connection.
pub(super) struct Answer {
    /// The size of the request it answers.
    pub(super) asked: QuestionSize,
    /// Whether any piece of it has been taken.
    pub(super) has_begun: bool,
    pub(super) tally: Tally,
    stream: ModelStream,
    come: Vec<Piece>,
    bytes: usize,
    is_over: bool,
}

/// Which model is asked, and what the answer uses on the way, so that it counts even if the answer does not reach its
/// end.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) model: ModelName,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    /// The size of the request, in estimated tokens.
    asked: u64,
    /// What the server has counted so far.
    counted: Option<Usage>,
    /// The number of bytes that were received since then.
    said: usize,
    /// The total usage, known at the end.
    whole: Option<Usage>,
    is_settled: bool,
}

/// The uncounted usage of an answer that stops early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Owed {
    Whole(Usage),
    Part(Unfinished),
}

impl Tally {
    /// Creates the tally of a request of about this many tokens.
    pub(super) fn new(model: ModelName, asked: u64) -> Self {
        Self { model, counts: Counts { asked, ..Counts::default() } }
    }

    pub(super) fn take(&mut self, event: &ModelEvent) {
        self.counts.take(event);
    }

    pub(super) fn owed(&self) -> Option<Owed> {
        self.counts.owed()
    }

    /// Marks the usage as counted.
    pub(super) fn settle(&mut self) {
        self.counts.is_settled = true;
    }
}

impl Counts {
    fn take(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::UsedSoFar(used) => (self.counted, self.said) = (Some(*used), 0),
            ModelEvent::Usage(used) => self.whole = Some(*used),
            other => self.said += words_of(other),
        }
    }

    /// Returns nothing if nothing has arrived: nobody knows whether the server began.
    fn owed(&self) -> Option<Owed> {
        let Self { asked, counted, said, .. } = *self;
        let part = (counted.is_some() || said > 0).then_some(Owed::Part(Unfinished { asked, counted, said }));
        self.whole.map(Owed::Whole).or(part).filter(|_| !self.is_settled)
    }
}

impl Answer {
    pub(super) fn new(stream: ModelStream, asked: QuestionSize, model: ModelName) -> Self {
        let tally = Tally::new(model, asked.whole);
        Self { asked, has_begun: false, tally, stream, come: Vec::new(), bytes: 0, is_over: false }
    }

    /// Returns everything that has arrived, waiting until there is something; `None` once the stream is over. Cancel
    /// safe.
    pub(super) async fn next(&mut self) -> Option<Vec<Piece>> {
        poll_fn(|context| {
            self.gather(context);
            match self.come.is_empty() {
                false => Poll::Ready(Some(self.take())),
                true if self.is_over => Poll::Ready(None),
                true => Poll::Pending,
            }
        })
        .await
    }

    fn take(&mut self) -> Vec<Piece> {
        self.bytes = 0;
        let come = std::mem::take(&mut self.come);
        come.iter().flatten().for_each(|event| self.tally.take(event));
        // Whoever reads the whole answer counts it.
        self.tally.counts.is_settled |= self.tally.counts.whole.is_some();
        come
    }

    /// Returns the usage in case the answer stops early.
    pub(super) fn owed(&self) -> Option<Owed> {
        let mut counts = self.tally.counts;
        self.come.iter().flatten().for_each(|event| counts.take(event));
        counts.owed()
    }

    pub(super) fn settle(&mut self) {
        self.tally.settle();
    }

    /// Takes what is available, as far as there is room.
    fn gather(&mut self, context: &mut Context<'_>) {
        while !self.is_over && self.come.len() < PIECES_MAX && self.bytes < BYTES_MAX {
            match self.stream.poll_next_unpin(context) {
                Poll::Ready(Some(piece)) => {
                    self.bytes += piece.as_ref().map_or(0, words_of);
                    self.come.push(piece);
                }
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending => return,
            }
        }
    }
}

/// Awaits `other` while buffering what arrives of the answer.
pub(super) async fn gathering<T>(answer: Option<&mut Answer>, other: impl Future<Output = T>) -> T {
    let Some(answer) = answer else { return other.await };
    let mut other = pin!(other);
    poll_fn(|context| {
        let polled = other.as_mut().poll(context);
        if polled.is_pending() {
            answer.gather(context);
        }
        polled
    })
    .await
}

/// Returns the size of the text, in bytes.
fn words_of(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::Text(text) | ModelEvent::Reasoning(text) | ModelEvent::ToolArgs { text, .. } => text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, stream};
    use tokio::sync::oneshot;

    use super::*;

    fn text(text: &str) -> Piece {
        Ok(ModelEvent::Text(text.to_owned()))
    }

    fn model() -> ModelName {
        ModelName { provider: "mine".to_owned(), model: "own".to_owned() }
    }

    #[test]
    fn an_answer_without_an_end_owes_what_was_counted_and_what_was_said_since() {
        let answer = |pieces: &[Piece]| {
            let pieces = Box::pin(stream::iter(pieces.to_vec()));
            Answer::new(pieces, QuestionSize { whole: 7, said: 5 }, model())
        };
        let counted = Usage { input: 20, output: 3, ..Usage::default() };
        let so_far = Ok(ModelEvent::UsedSoFar(counted));
        let mut cut = answer(&[text("before"), so_far, Ok(ModelEvent::Reasoning("since".to_owned()))]);
        assert_eq!(cut.owed(), None, "nothing has come");
        assert!(cut.next().now_or_never().flatten().is_some());
        let part = Unfinished { asked: 7, counted: Some(counted), said: 5 };
        assert_eq!(cut.owed(), Some(Owed::Part(part)));
        cut.settle();
        assert_eq!(cut.owed(), None);

        let whole = [text("all"), Ok(ModelEvent::Usage(counted))];
        let mut taken = answer(&whole);
        assert_eq!(taken.next().now_or_never().flatten(), Some(whole.to_vec()));
        assert_eq!(taken.owed(), None, "whoever took it counts it");
        let mut dropped = answer(&whole);
        dropped.gather(&mut Context::from_waker(std::task::Waker::noop()));
        assert_eq!(dropped.owed(), Some(Owed::Whole(counted)));
    }

    #[tokio::test]
    async fn what_comes_while_something_else_is_waited_for_is_the_next_portion() {
        let (sender, pieces) = tokio::sync::mpsc::unbounded_channel();
        let mut answer = Answer::new(
            Box::pin(stream::unfold(pieces, async |mut pieces| {
                let piece = pieces.recv().await?;
                Some((piece, pieces))
            })),
            QuestionSize::default(),
            model(),
        );
        sender.send(text("a")).unwrap();
        assert_eq!(answer.next().await, Some(vec![text("a")]));

        let (committed, commit) = oneshot::channel();
        let waiting = gathering(Some(&mut answer), commit);
        let going_on = async {
            for word in ["b", "c", "d"] {
                sender.send(text(word)).unwrap();
                tokio::task::yield_now().await;
            }
            committed.send(7).unwrap();
        };
        let (outcome, ()) = tokio::join!(waiting, going_on);
        assert_eq!(outcome, Ok(7));
        assert_eq!(answer.next().await, Some(vec![text("b"), text("c"), text("d")]));
        drop(sender);
        assert_eq!(answer.next().await, None);
    }

    #[test]
    fn a_portion_has_a_bound_and_nothing_is_lost_at_it() {
        let answering = |stream: ModelStream| Answer::new(stream, QuestionSize::default(), model());
        let mut answer = answering(Box::pin(stream::repeat_with(|| text("x")).take(PIECES_MAX + 1)));
        assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(PIECES_MAX));
        assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(1));
        let long = "x".repeat(BYTES_MAX);
        let mut answer = answering(Box::pin(stream::repeat_with(move || text(&long)).take(3)));
        for _ in 0..3 {
            assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(1));
        }
        assert_eq!(answer.next().now_or_never().flatten(), None);
    }
}
