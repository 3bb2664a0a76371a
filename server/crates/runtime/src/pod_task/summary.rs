//! Compaction: a summary by the model takes the place of the conversation's beginning.

use futures_util::StreamExt;
use pod::{Cut, Input, Summary};
use protocol::Usage;
use provider::{FinishReason, ModelEvent, ModelRequest, Purpose};

use super::{PodTask, commit::Extras, work::Summarising};

/// Characters of a summary; what is beyond is cut off.
const SUMMARY_CHARS_MAX: usize = 16_000;

impl Summarising {
    /// Reads the summary to its end. What has come stays in `self`, so it can be waited for in pieces.
    pub(super) async fn run(&mut self) -> Result<(), String> {
        while let Some(event) = self.stream.next().await {
            match event.map_err(|error| error.detail)? {
                ModelEvent::Text(text) => self.text.push_str(&text),
                ModelEvent::Usage(usage) => self.usage = usage,
                ModelEvent::Finished { reason: FinishReason::Filtered } => {
                    return Err("the provider withheld the summary (content filter)".to_owned());
                }
                ModelEvent::Finished { .. } => break,
                ModelEvent::Reasoning(_)
                | ModelEvent::ToolArgs { .. }
                | ModelEvent::ToolCall { .. }
                | ModelEvent::Retry { .. } => (),
            }
        }
        match self.text.trim().is_empty() {
            true => Err("the model gave no summary".to_owned()),
            false => Ok(()),
        }
    }
}

impl PodTask {
    /// Asks for a summary of what the cut drops.
    pub(super) async fn begin_summary(&mut self, cut: Option<Cut>) {
        if let Err(reason) = self.call_for_summary(cut) {
            self.take_summary(Err(reason)).await;
        }
    }

    fn call_for_summary(&mut self, cut: Option<Cut>) -> Result<(), String> {
        let mut cut = cut.ok_or("there is nothing yet that a summary could stand for")?;
        let provider =
            self.inner.providers.get(&self.spec.provider).ok_or("its provider is not configured any more")?;
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

    /// The summary has come, or not.
    pub(super) async fn summarised(&mut self, cut: Cut, outcome: Result<(String, Usage), String>) {
        let summary = outcome.map(|(text, usage)| {
            let text: String = text.trim().chars().take(SUMMARY_CHARS_MAX).collect();
            let context_used = cut.tokens_after(&text);
            let context_limit = self.pod.usage.context_limit;
            Summary { text, kept_from_seq: cut.kept_from_seq, usage: Usage { context_used, context_limit, ..usage } }
        });
        self.take_summary(summary).await;
    }

    pub(super) async fn take_summary(&mut self, summary: Result<Summary, String>) {
        if let Err(error) = self.advance([Input::Summarised(summary)], Extras::default()).await {
            tracing::error!(%error, pod = %self.name, "a summary could not be stored; the context stays as it was");
        }
    }
}
