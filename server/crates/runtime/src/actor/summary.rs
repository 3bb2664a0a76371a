//! Compaction: a summary by the model takes the place of the conversation's beginning.

use futures_util::StreamExt;
use pod::{Cause, Cut, Failure, Input, Newest, NoSummary, Summary};
use protocol::Usage;
use provider::{FinishReason, ModelEvent, ModelRequest, ModelStream, Purpose};

use super::{
    PodTask,
    commit::Extras,
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
}

impl Summarising {
    /// Reads the summary to its end. What has come stays in `self`, so it can be waited for in pieces.
    pub(super) async fn run(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.stream.next().await {
            match event.map_err(failure_of)? {
                ModelEvent::Text(text) => self.text.push_str(&text),
                ModelEvent::Usage(usage) => self.usage = usage,
                ModelEvent::Finished { reason: FinishReason::Filtered } => {
                    return Err(Failure::new(PROVIDER_ERROR, "the provider withheld the summary (content filter)"));
                }
                ModelEvent::Finished { .. } => break,
                ModelEvent::Reasoning(_)
                | ModelEvent::ToolArgs { .. }
                | ModelEvent::ToolCall { .. }
                | ModelEvent::Retry { .. } => (),
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

impl PodTask {
    /// Asks for a summary of what the cut drops.
    pub(super) async fn begin_summary(&mut self, cut: Result<Cut, Newest>) {
        let begun = cut.map_err(NoSummary::NothingToDrop).and_then(|cut| self.call_for_summary(cut));
        if let Err(reason) = begun {
            self.take_summary(Err(reason)).await;
        }
    }

    fn call_for_summary(&mut self, mut cut: Cut) -> Result<(), NoSummary> {
        let provider = self
            .inner
            .equipment
            .providers
            .get(&self.spec.provider)
            .ok_or_else(|| NoSummary::Failed("its provider is not configured any more".to_owned()))?;
        let request = ModelRequest {
            purpose: Purpose::Summary,
            model: self.spec.model.clone(),
            messages: std::mem::take(&mut cut.request),
            tools: Vec::new(),
        };
        let stream = provider.stream(request);
        self.work.summary = Some(Summarising { stream, cut, text: String::new(), usage: Usage::default() });
        Ok(())
    }

    /// The summary has come, or not. When it was asked of too much, it is asked of less; in the end there is none, so that a
    /// conversation that is too long goes on with what is left.
    pub(super) async fn summarised(&mut self, cut: Cut, outcome: Result<(String, Usage), Failure>) {
        let (text, usage) = match outcome {
            Ok((text, usage)) => (text.trim().chars().take(SUMMARY_CHARS_MAX).collect(), usage),
            Err(failure) if !self.was_too_much(&failure) => {
                return self.take_summary(Err(NoSummary::Failed(failure.detail))).await;
            }
            Err(_) if self.work.halvings < HALVINGS_MAX => {
                self.work.halvings += 1;
                return self.ask(Purpose::Summary);
            }
            Err(_) => (cut.without_summary().to_owned(), Usage::default()),
        };
        let text = cut.within(&text).to_owned();
        let (context_used, context_limit) = (cut.tokens_after(&text), self.pod.usage.context_limit);
        let usage = Usage { context_used, context_limit, ..usage };
        self.take_summary(Ok(Summary { text, kept_from_seq: cut.kept_from_seq, usage })).await;
    }

    fn was_too_much(&self, failure: &Failure) -> bool {
        match failure.cause {
            Cause::Overflow { .. } => true,
            Cause::Unexplained => self.pod.fits.is_some(),
            Cause::Other => false,
        }
    }

    pub(super) async fn take_summary(&mut self, summary: Result<Summary, NoSummary>) {
        self.work.halvings = 0;
        self.work.is_compacted = self.pod.run.is_some();
        if let Err(error) = self.advance([Input::Summarised(summary)], Extras::default()).await {
            tracing::error!(%error, pod = %self.name, "a summary could not be stored; the context stays as it was");
        }
    }
}
