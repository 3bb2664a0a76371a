//! ReadPodOutput: what a child has written since this Pod last read it.

use async_trait::async_trait;
use pod::ToolOutcome;
use protocol::{ApiError, Event, PodState, Record, Seen, Seq, TurnEvent};

use super::{Caller, Kin, PodTool, arguments::Named};
use crate::view;

/// The most characters of one result; the rest comes with the next call.
const CHARS_MAX: usize = 60_000;

#[derive(Debug)]
pub(super) struct ReadPodOutput;

#[async_trait]
impl PodTool for ReadPodOutput {
    const NAME: &'static str = "ReadPodOutput";
    const DESCRIPTION: &'static str = "Reads what one of your children has written since you last read it, and gives its state. Also works for a \
         stopped child.";
    const DOING: &'static str = "reading the Pod's output";
    type Arguments = Named;

    async fn act(&self, caller: &Caller<'_>, Named { name }: Named) -> Result<ToolOutcome, ApiError> {
        let child = caller.child(&name).await?;
        // The position up to which a child was read is in the reader's own journal, with the results. So it survives a
        // crash exactly when they do, and a result that was lost is returned again.
        let own = caller.row().await?;
        let pod = view::pod_ref(&child.row);
        let read = view::open(&own).map_or(Seq(0), |opened| opened.pod.output_read(&pod));
        let page = page(&caller.kin, &child.row, read).await?;
        let state = view::summary(&child.row).state;
        let state = if state == PodState::Stopped { "stopped; RestorePod restores it" } else { state.as_str() };
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
    let rows = kin.store.journals().turns(row.key, after.next()).await?;
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

/// The text of a message. A message longer than a whole result is cut with a notice; the rest is in the child's
/// transcript.
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
