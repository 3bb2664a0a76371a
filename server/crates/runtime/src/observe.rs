//! What a viewer gets, before any transport gives it a frame.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use protocol::{DiagnosticCode, PodRef, PodSummary};

/// One step of a Pod's stream. Records are JSON, encoded once and shared by all viewers.
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

/// One step of the list of Pods.
#[derive(Debug, Clone)]
pub struct PodsItem {
    pub revision: u64,
    /// `upserts` is the whole list.
    pub snapshot: bool,
    pub upserts: Vec<PodSummary>,
    pub removed: Vec<PodRef>,
}

/// A Pod's stream. It is pulled: a slow reader holds nothing but its own cursor, and is told `lagged` when it
/// falls too far behind. Ends after [`FeedItem::Closed`].
pub type Observation = BoxStream<'static, FeedItem>;

/// The stream of the list of Pods; changes between two pulls come as one.
pub type PodsObservation = BoxStream<'static, PodsItem>;

/// How records are given that are too large for a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// Those of more than [`protocol::SHOWN_BYTES_MAX`] are cut, to at most [`protocol::CUT_BYTES_MAX`].
    Shown,
    /// Whole: a page is then as large as its only record may be.
    Whole,
}

/// One page of a journal, oldest first. `next` goes into `?before=`.
#[derive(Debug, Clone)]
pub struct RecordPage {
    pub items: Vec<Bytes>,
    pub next: Option<String>,
}
