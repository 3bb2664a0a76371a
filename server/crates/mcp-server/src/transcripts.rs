//! A Pod's transcript in pages that fit a model: of limited size, newest first, each with the position of the
//! previous page.

use backend::{Backend, RecordForm};
use protocol::{ApiError, PodRef, Record};
use transcript::{Transcript, export_markdown};

/// The maximum number of records on one page.
pub(crate) const RECORDS_MAX: u32 = 200;
/// The limit of a page's encoded records in bytes, not counting the last one.
const BYTES_MAX: usize = 48 * 1024;
/// The limit of a page's text, in bytes.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A part of a transcript, as Markdown.
pub(crate) struct Page {
    pub(crate) text: String,
    /// The `before` that returns what precedes it; `None` if nothing does.
    pub(crate) next: Option<String>,
}

/// The newest part of a Pod's transcript, or of what precedes a position in it.
pub(crate) async fn page(backend: &Backend, pod: &PodRef, before: Option<&str>, limit: u32) -> Result<Page, ApiError> {
    let read = backend.journals().page(pod, before, limit.clamp(1, RECORDS_MAX), RecordForm::Shown).await?;
    let mut room = BYTES_MAX;
    let fitting = read.items.iter().rev().take_while(|record| {
        let is_first = room == BYTES_MAX;
        let fits = is_first || record.len() <= room;
        room = room.saturating_sub(record.len().max(1));
        fits
    });
    let kept = fitting.count();
    let left_out = read.items.len() - kept;
    let records: Vec<Record> =
        read.items[left_out..].iter().filter_map(|record| serde_json::from_slice(record).ok()).collect();
    let next = match left_out {
        0 => read.next,
        _ => records.first().map(|record| record.seq.to_string()),
    };
    let mut transcript = Transcript::default();
    for record in &records {
        transcript.apply(record);
    }
    Ok(Page { text: bounded(export_markdown(transcript.blocks())), next })
}

/// A text that is too long loses its beginning, because the newest words are wanted.
fn bounded(text: String) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let mut from = text.len() - TEXT_BYTES_MAX;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    format!("[{from} bytes are left out here]\n\n{}", &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_loses_its_beginning_and_says_so() {
        assert_eq!(bounded("short".to_owned()), "short");
        let long = format!("{}end", "ä".repeat(TEXT_BYTES_MAX));
        let cut = bounded(long);
        assert!(cut.starts_with('[') && cut.ends_with("end") && cut.len() < TEXT_BYTES_MAX + 64);
    }
}
