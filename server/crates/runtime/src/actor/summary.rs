//! Compaction: a summary by the model takes the place of the conversation's beginning.

use futures_util::StreamExt;
use pod::{Cause, Cut, Failure, NoSummary, Pod, Summary};
use protocol::{ModelName, Usage};
use provider::{FinishReason, ModelEvent, ModelStream};

use super::{
    answer::{Owed, Tally},
    pieces::{PROVIDER_ERROR, failure_of},
};

/// Characters of a summary; what is beyond is cut off.
const SUMMARY_CHARS_MAX: usize = 16_000;
/// How often the request for a summary that is too long is made half as long.
const HALVINGS_MAX: u32 = 4;

/// A summary that is being made.
pub(super) struct Summarising {
    stream: ModelStream,
    pub(super) cut: Cut,
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) tally: Tally,
}

impl Summarising {
    pub(super) fn new(stream: ModelStream, cut: Cut, tally: Tally) -> Self {
        Self { stream, cut, text: String::new(), usage: Usage::default(), tally }
    }

    /// Who was asked, and what it has used, should it not go on.
    pub(super) fn debt(&self) -> Option<(ModelName, Owed)> {
        Some((self.tally.model.clone(), self.tally.owed()?))
    }

    /// Reads the summary to its end. What has come stays in `self`, so it can be waited for in pieces.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.stream.next().await {
            let event = event.map_err(failure_of)?;
            self.tally.take(&event);
            match event {
                ModelEvent::Text(text) => self.text.push_str(&text),
                ModelEvent::Usage(usage) => self.usage = usage,
                ModelEvent::Finished { reason: FinishReason::Filtered } => {
                    return Err(Failure::new(PROVIDER_ERROR, "the provider withheld the summary (content filter)"));
                }
                ModelEvent::Finished { .. } => break,
                ModelEvent::Reasoning(_)
                | ModelEvent::Proof(_)
                | ModelEvent::ToolArgs { .. }
                | ModelEvent::ToolCall { .. }
                | ModelEvent::Retry { .. }
                | ModelEvent::UsedSoFar(_)
                | ModelEvent::Alert { .. } => (),
            }
        }
        match self.text.trim().is_empty() {
            true => {
                let nothing = Failure::new(PROVIDER_ERROR, "the model gave no summary");
                Err(Failure { cause: Cause::Unexplained, ..nothing })
            }
            false => Ok(()),
        }
    }
}

/// What follows when a summary has come, or not.
pub(super) enum Next {
    /// It was asked of too much: it is asked of half as much.
    AskForLess,
    Take(Result<Summary, NoSummary>),
}

/// When it was asked of too much, it is asked of less; in the end there is none, so that a conversation that is too long goes on
/// with what is left.
pub(super) fn next_after(pod: &Pod, cut: Cut, outcome: Result<(String, Usage), Failure>, halvings: u32) -> Next {
    let (text, usage) = match outcome {
        Ok((text, usage)) => (text.trim().chars().take(SUMMARY_CHARS_MAX).collect(), usage),
        Err(failure) if !was_too_much(pod, &failure) => return Next::Take(Err(NoSummary::Failed(failure.detail))),
        Err(_) if halvings < HALVINGS_MAX => return Next::AskForLess,
        Err(_) => (cut.without_summary().to_owned(), Usage::default()),
    };
    let text = cut.within(&text).to_owned();
    let (context_used, context_limit) = (cut.tokens_after(&text), pod.usage.context_limit);
    let usage = Usage { context_used, context_limit, ..usage };
    Next::Take(Ok(Summary { text, kept_from_seq: cut.kept_from_seq, usage }))
}

fn was_too_much(pod: &Pod, failure: &Failure) -> bool {
    match failure.cause {
        Cause::Overflow { .. } => true,
        Cause::Unexplained => pod.fits.is_some(),
        Cause::Other => false,
    }
}
