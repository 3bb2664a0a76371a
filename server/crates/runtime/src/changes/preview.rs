//! What a rewind would change: the messages that leave the context, and the files.

use pod_store::{PodKey, Store, StoreError};
use protocol::{Event, Record, RewindPreview, RewoundMessage, Segment, Seq, ToolBy, TurnEvent};

/// The most messages that are listed.
const MESSAGES_MAX: usize = 200;
/// How much of each is shown, in characters.
const TEXT_CHARS_MAX: usize = 160;

/// The messages that leave the context; the files are added by the caller.
pub(crate) async fn preview(store: &Store, key: PodKey, to_seq: Seq) -> Result<RewindPreview, StoreError> {
    let rows = store.journals().turns(key, to_seq.next()).await?;
    let mut messages: Vec<RewoundMessage> = Vec::new();
    for record in rows.iter().filter_map(|row| serde_json::from_slice::<Record>(&row.body).ok()) {
        let Event::Turn(event) = &record.event else { continue };
        if let TurnEvent::Rewound { to_seq } = event {
            messages.retain(|message| message.seq <= *to_seq);
        }
        if let Some(text) = text_of(event) {
            messages.push(RewoundMessage {
                seq: record.seq,
                kind: record.event.kind().to_owned(),
                text: one_line(&text),
            });
        }
    }
    let more_messages = messages.len().saturating_sub(MESSAGES_MAX) as u64;
    messages.truncate(MESSAGES_MAX);
    Ok(RewindPreview { to_seq, messages, more_messages, ..RewindPreview::default() })
}

fn text_of(event: &TurnEvent) -> Option<String> {
    Some(match event {
        TurnEvent::UserMessage { segments, .. } => {
            segments.iter().map(|segment: &Segment| segment.as_text().into_owned()).collect::<Vec<_>>().join(" ")
        }
        TurnEvent::PeerMessage { from, text, .. } => format!("{}: {text}", from.name),
        TurnEvent::ChildEvent { child, detail, .. } => {
            format!("{}: {}", child.name, detail.as_deref().unwrap_or("news"))
        }
        TurnEvent::MessageFinished { text, .. } => text.clone(),
        TurnEvent::ToolCalled { name, arguments, by: ToolBy::Model, .. } => {
            format!("{name}: {}", pod::main_argument(name, arguments))
        }
        _ => return None,
    })
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().take(TEXT_CHARS_MAX).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
