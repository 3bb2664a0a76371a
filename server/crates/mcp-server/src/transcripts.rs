//! A Pod's transcript in pages that fit a model: bounded text, the newest first, each with the way to what is before it.

use backend::{Backend, RecordForm};
use protocol::{ApiError, PodRef, Record};
use transcript::{Transcript, export_markdown};

/// Records of one page.
pub(crate) const RECORDS_MAX: u32 = 200;
/// Bytes of encoded records that a page is made of, but for its last one.
const BYTES_MAX: usize = 48 * 1024;
/// Bytes of a page's text.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// A part of a transcript, as Markdown.
pub(crate) struct Page {
    pub(crate) text: String,
    /// What comes before it is had by this `before`; none when nothing does.
    pub(crate) next: Option<String>,
}

/// The newest part of a Pod's transcript, or of what is before a position in it.
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

/// The newest words are the ones that are asked for, so a text that is too long loses its beginning.
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
