//! The tools by which a Pod reads and stops its background commands.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{BackgroundCommand, CommandState, ToolBy};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Background, Stopper, ring::Part};
use crate::{Output, Place, Tool, arguments};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id that Bash returned for the background command.
    id: String,
}

/// The tool `BashOutput`.
#[derive(Debug)]
pub struct BashOutput {
    background: Background,
}

/// The tool `BashStop`.
#[derive(Debug)]
pub struct BashStop {
    background: Background,
}

impl BashOutput {
    pub fn new(background: Background) -> Self {
        Self { background }
    }
}

impl BashStop {
    pub fn new(background: Background) -> Self {
        Self { background }
    }
}

#[async_trait]
impl Tool for BashOutput {
    fn name(&self) -> &'static str {
        "BashOutput"
    }

    fn description(&self) -> &'static str {
        "Returns what a background command wrote since you last asked, and whether it still runs. It does not wait. Only \
         the newest 256 KiB or more of its output are kept, and 64 KiB once it has ended; what was dropped before you read \
         it is counted."
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<Arguments>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        match arguments::parsed::<Arguments>("BashOutput", arguments) {
            Err(sentence) => ToolOutcome::failed("invalid_input", sentence),
            Ok(Arguments { id }) => match self.background.job_for(&place.worker_id, &id, place.by) {
                None => unknown(&self.background, place, &id),
                Some(job) => told(job.news(place.by)),
            },
        }
    }
}

#[async_trait]
impl Tool for BashStop {
    fn name(&self) -> &'static str {
        "BashStop"
    }

    fn description(&self) -> &'static str {
        "Ends a background command and everything that it started: with SIGTERM, and with SIGKILL if it still runs 2 s \
         later. Returns how it ended and what it wrote since you last asked."
    }

    fn schema(&self) -> Value {
        arguments::schema_of::<Arguments>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        let id = match arguments::parsed::<Arguments>("BashStop", arguments) {
            Err(sentence) => return ToolOutcome::failed("invalid_input", sentence),
            Ok(Arguments { id }) => id,
        };
        let by = if place.by == ToolBy::Operator { Stopper::Person } else { Stopper::Model };
        let Some(job) = self.background.job_for(&place.worker_id, &id, place.by) else {
            return unknown(&self.background, place, &id);
        };
        job.stop(by);
        match self.background.stopped(&place.worker_id, &id).await {
            Some(view) if view.state == CommandState::Running => {
                ToolOutcome::failed("timeout", format!("{id} was told to end and has not ended yet"))
            }
            _ => told(job.news(place.by)),
        }
    }
}

fn told((view, part): (BackgroundCommand, Part)) -> ToolOutcome {
    let state = match view.state {
        CommandState::Running => "running".to_owned(),
        CommandState::Exited => view.detail.unwrap_or_else(|| "ended".to_owned()),
    };
    let Part { text, dropped, .. } = part;
    let lines = text.lines().count();
    let news = match lines {
        0 => "no new output".to_owned(),
        1 => "1 new line".to_owned(),
        lines => format!("{lines} new lines"),
    };
    let content = match dropped {
        0 => text,
        dropped => format!("[{dropped} bytes left out]\n{text}"),
    };
    let outcome = ToolOutcome::done(format!("{state} · {news}"));
    if content.is_empty() { outcome } else { outcome.with_content(content) }
}

/// Says why a command is not there, and which ones of this caller are.
fn unknown(background: &Background, place: &Place, id: &str) -> ToolOutcome {
    let known = background.ids_for(&place.worker_id, place.by);
    let known = if known.is_empty() { String::new() } else { format!(" Known: {}.", known.join(", ")) };
    let sentence = format!("No background command has the id \"{id}\". Commands end when yoi ends.{known}");
    ToolOutcome::failed("not_found", sentence)
}
