//! A transcript, or a part of it, for the print page. Only the server reads it; it is not embedded in the page.

use backend::{Backend, RecordForm};
use protocol::{ApiError, ErrorCode, PodDetail, PodRef, Record, Seq};

use super::door::{answer, caller, decode};
use crate::UiError;

/// The maximum number of records on one page; older ones are on the page before.
const RECORDS_MAX: usize = 50_000;
/// The maximum size of the encoded records on one page, in bytes. As HTML they are several times as large.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// Records per read.
const READ_RECORDS: u32 = 1_000;

/// The records to print, oldest first.
#[derive(Debug)]
pub(crate) struct PrintPart {
    pub(crate) detail: PodDetail,
    pub(crate) records: Vec<Record>,
    /// Whether earlier requested records did not fit.
    pub(crate) is_cut: bool,
}

/// The records from `from` to `to`, both included, by default from the first to the newest. If there are too many,
/// the newest of them.
pub(crate) async fn print_part(address: String, from: Option<Seq>, to: Option<Seq>) -> Result<PrintPart, UiError> {
    let (backend, _) = caller()?;
    answer(read(&backend, &address, from, to).await)
}

async fn read(backend: &Backend, address: &str, from: Option<Seq>, to: Option<Seq>) -> Result<PrintPart, ApiError> {
    let pod: PodRef =
        address.parse().map_err(|error| ApiError::new(ErrorCode::PodNotFound, format!("no such Pod: {error}")))?;
    let detail = backend.pod(&pod).await?;
    let from = from.unwrap_or(Seq(1));
    let mut before = to.map(|to| Seq(to.0.saturating_add(1)));
    let mut part = PrintPart { detail, records: Vec::new(), is_cut: false };
    let (mut pages, mut count, mut bytes) = (Vec::new(), 0, 0);
    loop {
        let page = backend
            .journals()
            .page(&pod, before.map(|before| before.to_string()).as_deref(), READ_RECORDS, RecordForm::Shown)
            .await?;
        let fitting = fitting(&page.items, &mut bytes);
        part.is_cut = fitting < page.items.len() || count >= RECORDS_MAX;
        let mut records = decode(&page.items[page.items.len() - fitting..])?;
        let Some(first) = records.first().map(|record| record.seq) else { break };
        records.retain(|record| record.seq >= from);
        count += records.len();
        pages.push(records);
        if page.next.is_none() && !part.is_cut || first <= from {
            part.is_cut = false;
            break;
        }
        if part.is_cut {
            break;
        }
        before = Some(first);
    }
    part.records = pages.into_iter().rev().flatten().collect();
    Ok(part)
}

/// How many of the newest of these still fit; at least one on an empty page.
fn fitting(records: &[impl AsRef<[u8]>], bytes: &mut usize) -> usize {
    let is_first = *bytes == 0;
    let fits = records.iter().rev().take_while(|record| {
        *bytes += record.as_ref().len();
        *bytes <= BYTES_MAX
    });
    fits.count().max(usize::from(is_first && !records.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_records_fit_and_one_always_does() {
        let mega = vec![0u8; 1024 * 1024];
        let mut bytes = 0;
        assert_eq!(fitting(&vec![mega.clone(); 3], &mut bytes), 3);
        assert_eq!(fitting(&vec![mega; 5], &mut bytes), 1);
        assert_eq!(fitting(&[vec![0u8; BYTES_MAX + 1]], &mut 0), 1);
        assert_eq!(fitting(&[] as &[Vec<u8>], &mut 0), 0);
    }
}
