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
use provider::{ModelEvent, ModelStream, ProviderError};

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
    stream: ModelStream,
    come: Vec<Piece>,
    bytes: usize,
    is_over: bool,
}

impl Answer {
    pub(super) fn new(stream: ModelStream, asked: QuestionSize) -> Self {
        Self { asked, has_begun: false, stream, come: Vec::new(), bytes: 0, is_over: false }
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
        std::mem::take(&mut self.come)
    }

    /// Takes what is available, as far as there is room.
    fn gather(&mut self, context: &mut Context<'_>) {
        while !self.is_over && self.come.len() < PIECES_MAX && self.bytes < BYTES_MAX {
            match self.stream.poll_next_unpin(context) {
                Poll::Ready(Some(piece)) => {
                    self.bytes += bytes(&piece);
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

fn bytes(piece: &Piece) -> usize {
    match piece {
        Ok(ModelEvent::Text(text) | ModelEvent::Reasoning(text) | ModelEvent::ToolArgs { text, .. }) => text.len(),
        Ok(_) | Err(_) => 0,
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

    #[tokio::test]
    async fn what_comes_while_something_else_is_waited_for_is_the_next_portion() {
        let (sender, pieces) = tokio::sync::mpsc::unbounded_channel();
        let mut answer = Answer::new(
            Box::pin(stream::unfold(pieces, async |mut pieces| {
                let piece = pieces.recv().await?;
                Some((piece, pieces))
            })),
            QuestionSize::default(),
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
        let mut answer =
            Answer::new(Box::pin(stream::repeat_with(|| text("x")).take(PIECES_MAX + 1)), QuestionSize::default());
        assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(PIECES_MAX));
        assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(1));
        let long = "x".repeat(BYTES_MAX);
        let mut answer =
            Answer::new(Box::pin(stream::repeat_with(move || text(&long)).take(3)), QuestionSize::default());
        for _ in 0..3 {
            assert_eq!(answer.next().now_or_never().flatten().map(|pieces| pieces.len()), Some(1));
        }
        assert_eq!(answer.next().now_or_never().flatten(), None);
    }
}
