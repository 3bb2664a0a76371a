//! A journal of another server, as it comes.

use bytes::{Bytes, BytesMut};
use client::Download;
use futures_util::{StreamExt, TryStreamExt, stream};
use protocol::{ApiError, WorkerId};
use runtime::Export;

use super::Remote;
use crate::RuntimePort;

/// A record of an export that is longer than this ends it.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

impl Remote {
    pub(super) async fn journal(&self, worker_id: &WorkerId) -> Result<Export, ApiError> {
        let pod = Self::there(worker_id);
        let name = match self.known.pod(worker_id) {
            Some(summary) => summary.name,
            None => self.pod(worker_id).await?.summary.name,
        };
        let download = self.read(self.client.export(&pod, "jsonl")).await?;
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

/// A journal as it comes, cut into records: one a line.
fn pages(download: Download) -> impl futures_util::Stream<Item = Result<Vec<Bytes>, ()>> {
    let state = Some((download, BytesMut::new()));
    stream::unfold(state, |state| async {
        let (mut download, mut rest) = state?;
        loop {
            match download.chunk().await {
                Err(_) => return Some((Err(()), None)),
                Ok(None) if rest.is_empty() => return None,
                Ok(None) => return Some((Ok(vec![rest.freeze()]), None)),
                Ok(Some(chunk)) => rest.extend_from_slice(chunk.as_ref()),
            }
            let records = lines(&mut rest);
            if rest.len() > LINE_BYTES_MAX {
                return Some((Err(()), None));
            }
            if !records.is_empty() {
                return Some((Ok(records), Some((download, rest))));
            }
        }
    })
}

/// Takes the lines that are whole.
fn lines(text: &mut BytesMut) -> Vec<Bytes> {
    let mut lines = Vec::new();
    while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
        let line = text.split_to(end + 1).freeze();
        let line = line.slice(..end);
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}
