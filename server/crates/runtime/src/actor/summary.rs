//! Compaction: a summary by the model replaces the beginning of the conversation.

use futures_util::StreamExt;
use pod::{Cause, Cut, Failure, NoSummary, Pod, Summary};
use protocol::{ModelName, Usage};
use provider::{FinishReason, ModelEvent, ModelStream};

use super::{
    answer::{Owed, Tally},
    pieces::{PROVIDER_ERROR, failure_of},
};

/// The most characters of a summary; the rest is cut off.
const SUMMARY_CHARS_MAX: usize = 16_000;
/// How often a request for a summary that is too long is halved.
const HALVINGS_MAX: u32 = 4;

/// A summary being made.
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

    /// Returns the model that was asked, and the usage in case the summary stops early.
    pub(super) fn debt(&self) -> Option<(ModelName, Owed)> {
        Some((self.tally.model.clone(), self.tally.owed()?))
    }

    /// Reads the summary to its end. What has arrived stays in `self`, so the future can be dropped and started again.
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

/// What to do when a summary has arrived or failed.
pub(super) enum Next {
    /// The request was too long: ask about half as much.
    AskForLess,
    Take(Result<Summary, NoSummary>),
}

/// If the request was too long, asks about less, until it gives up: then there is no summary, and an overlong
/// conversation continues with what is left.
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
