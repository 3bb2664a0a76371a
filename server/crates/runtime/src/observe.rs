//! What a viewer gets, before a transport frames it.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use protocol::{DiagnosticCode, PodRef, PodSummary};

/// One item of a Pod's stream. Records are JSON, encoded once and shared by all viewers.
#[derive(Debug, Clone)]
pub enum FeedItem {
    Snapshot {
        cursor: String,
        summary: Box<PodSummary>,
        records: Vec<Bytes>,
        has_more: bool,
    },
    Records {
        after: String,
        cursor: String,
        records: Vec<Bytes>,
    },
    Diagnostic {
        code: DiagnosticCode,
        detail: String,
    },
    /// Nothing follows.
    Closed {
        reason: String,
    },
}

/// One item of the stream of the list of Pods.
#[derive(Debug, Clone)]
pub struct PodsItem {
    pub revision: u64,
    /// `upserts` is the whole list.
    pub snapshot: bool,
    pub upserts: Vec<PodSummary>,
    pub removed: Vec<PodRef>,
}

/// A Pod's stream. It is pulled: a slow reader costs nothing but its own cursor, and is told `lagged` when it falls too
/// far behind. Ends after [`FeedItem::Closed`].
pub type Observation = BoxStream<'static, FeedItem>;

/// The stream of the list of Pods; changes between two pulls are merged.
pub type PodsObservation = BoxStream<'static, PodsItem>;

/// The form in which records that are too large for a page are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// Records of more than [`protocol::SHOWN_BYTES_MAX`] are cut to at most [`protocol::CUT_BYTES_MAX`].
    Shown,
    /// Records are whole, so a page may be as large as its only record.
    Whole,
}

/// One page of a journal, oldest first. `next` goes into `?before=`.
#[derive(Debug, Clone)]
pub struct RecordPage {
    pub items: Vec<Bytes>,
    pub next: Option<String>,
}
