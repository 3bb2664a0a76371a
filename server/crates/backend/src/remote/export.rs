//! A journal of another server, streamed.

use bytes::{Bytes, BytesMut};
use client::Download;
use futures_util::{StreamExt, TryStreamExt, stream};
use protocol::{ApiError, PodRef, WorkerId};
use runtime::Export;

use super::Remote;
use crate::RuntimePort;

/// A record longer than this ends the export.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

impl Remote {
    pub(super) async fn journal(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        let pod = Self::there(worker_id);
        let name = match self.known.pod(worker_id) {
            Some(summary) => summary.name,
            None => {
                (self as &dyn RuntimePort).pod(&PodRef::new(self.id().clone(), worker_id.clone())).await?.summary.name
            }
        };
        let download = self.asked(self.client.export(&pod, "jsonl")).await?;
        let terms = self.known.terms.clone();
        let broken_off = {
            let id = self.id().clone();
            move |_| {
                let sentence = format!("the runtime \"{id}\" broke off in the middle of the journal; try again");
                ApiError::new(protocol::ErrorCode::RuntimeUnavailable, sentence)
            }
        };
        let pages = pages(download)
            .map_ok(move |page| page.into_iter().map(|record| terms.record(record)).collect::<Vec<_>>())
            .map_err(broken_off)
            .boxed();
        Ok(Export { name, pages })
    }
}

/// Splits a streamed journal into records, one per line.
fn pages(download: Download) -> impl futures_util::Stream<Item = Result<Vec<Bytes>, ()>> {
    let state = Some((download, Lines::default()));
    stream::unfold(state, |state| async {
        let (mut download, mut lines) = state?;
        loop {
            let records = match download.chunk().await {
                Err(_) => return Some((Err(()), None)),
                Ok(None) if lines.rest.is_empty() => return None,
                Ok(None) => return Some((Ok(vec![lines.rest.freeze()]), None)),
                Ok(Some(chunk)) => lines.add(chunk.as_ref()),
            };
            if lines.rest.len() > LINE_BYTES_MAX {
                return Some((Err(()), None));
            }
            if !records.is_empty() {
                return Some((Ok(records), Some((download, lines))));
            }
        }
    })
}

/// Splits a stream into lines. Each byte is looked at once, however many pieces a line comes in.
#[derive(Debug, Default)]
struct Lines {
    /// The beginning of a line whose end has not arrived.
    rest: BytesMut,
}

impl Lines {
    /// The lines that are complete now.
    fn add(&mut self, chunk: &[u8]) -> Vec<Bytes> {
        let mut lines = Vec::new();
        // The rest contains no line end: it was searched when it arrived.
        let mut looked_through = self.rest.len();
        self.rest.extend_from_slice(chunk);
        while let Some(found) = self.rest[looked_through..].iter().position(|byte| *byte == b'\n') {
            let mut line = self.rest.split_to(looked_through + found + 1);
            line.truncate(looked_through + found);
            if !line.is_empty() {
                lines.push(line.freeze());
            }
            looked_through = 0;
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_in_pieces_of_any_size() {
        let text = b"one\n\ntwo and more\n\n\nthree\nrest";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let found: Vec<Bytes> = text.chunks(size).flat_map(|chunk| lines.add(chunk)).collect();
            assert_eq!(found, ["one", "two and more", "three"], "in pieces of {size}");
            assert_eq!(&lines.rest[..], b"rest");
        }
    }

    #[test]
    fn a_line_that_comes_in_very_many_pieces_is_not_looked_through_for_each_of_them() {
        const PIECES: usize = 128 * 1024;
        let mut lines = Lines::default();
        // Searching from the beginning of the line each time, this would take the better part of an hour.
        for _ in 0..PIECES {
            assert!(lines.add(&[b'x'; 16]).is_empty());
        }
        let found = lines.add(b"\n");
        assert_eq!(found.iter().map(Bytes::len).collect::<Vec<_>>(), [16 * PIECES]);
    }
}
