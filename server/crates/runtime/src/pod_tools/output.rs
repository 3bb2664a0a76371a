//! ReadPodOutput: what a child has written since this Pod last read it.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, Event, PodState, Record, Seen, Seq, TurnEvent};
use serde_json::Value;
use tools::{Output, Place, Tool};

use super::{Reach, arguments, outcome, sight};
use crate::{error, hold::bounded, pod_tools::Kin, view};

/// Characters of one result; what is beyond comes with the next call.
const CHARS_MAX: usize = 60_000;

#[derive(Debug)]
pub(super) struct ReadPodOutput(pub(super) Reach);

#[async_trait]
impl Tool for ReadPodOutput {
    fn name(&self) -> &'static str {
        "ReadPodOutput"
    }

    fn description(&self) -> &'static str {
        "Reads what a child of yours has written since you last read it, and says in which state it is. Works for a \
         stopped child, too."
    }

    fn schema(&self) -> Value {
        arguments::schema::<arguments::Named>()
    }

    async fn call(&self, place: &Place, arguments: Value, _: Output) -> ToolOutcome {
        outcome(bounded("reading the Pod's output", self.read(place, arguments)).await)
    }
}

impl ReadPodOutput {
    async fn read(&self, place: &Place, arguments: Value) -> Result<ToolOutcome, ApiError> {
        let arguments::Named { name } = arguments::read(arguments)?;
        let kin = self.0.kin()?;
        let child = sight::child(&kin, &place.worker_id, &name).await?;
        // How far it was read is in the reader's own journal, with the results that it was given: it survives what they
        // survive, and a result that was lost in a crash is given again.
        let own = kin.existing_row(&place.worker_id).await?;
        let pod = view::pod_ref(&child.row);
        let read = view::open(&own).map_or(Seq(0), |opened| opened.pod.output_read(&pod));
        let page = page(&kin, &child.row, read).await?;
        let state = view::summary(&child.row).state;
        let state = if state == PodState::Stopped { "stopped; RestorePod brings it back" } else { state.as_str() };
        let name = &child.row.name;
        if page.texts.is_empty() {
            return Ok(ToolOutcome::done(format!("nothing new from {name} ({state})")));
        }
        let more = if page.has_more { "; there is more, read again" } else { "" };
        let count = match page.texts.len() {
            1 => "1 message".to_owned(),
            count => format!("{count} messages"),
        };
        let mut outcome =
            ToolOutcome::done(format!("{count} from {name} ({state}){more}")).with_content(page.texts.join("\n\n"));
        outcome.seen = Some(Seen::Output { pod, seq: page.to });
        Ok(outcome)
    }
}

/// New texts of a Pod, oldest first.
struct Page {
    texts: Vec<String>,
    to: Seq,
    has_more: bool,
}

async fn page(kin: &Kin, row: &pod_store::PodRow, after: Seq) -> Result<Page, ApiError> {
    let rows = kin.store.turn_records(row.key, after.next()).await.map_err(error::store_failed)?;
    let mut page = Page { texts: Vec::new(), to: after, has_more: false };
    let mut chars = 0;
    for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
        let Event::Turn(TurnEvent::MessageFinished { text, interrupted, .. }) = record.event else { continue };
        if text.trim().is_empty() {
            continue;
        }
        let length = text.chars().count();
        if chars > 0 && chars + length > CHARS_MAX {
            page.has_more = true;
            break;
        }
        chars += length;
        page.texts.push(shown(text, length, interrupted));
        page.to = record.seq;
    }
    Ok(page)
}

/// A message that is longer than a whole result is cut, and says so: its rest is in the child's transcript.
fn shown(text: String, length: usize, is_interrupted: bool) -> String {
    let mut text = match length > CHARS_MAX {
        true => {
            let head: String = text.chars().take(CHARS_MAX).collect();
            format!("{head}\n[{} characters of this message are left out]", length - CHARS_MAX)
        }
        false => text,
    };
    if is_interrupted {
        text.push_str("\n[interrupted here]");
    }
    text
}
