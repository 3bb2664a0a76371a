//! What all parts of a Pod's page share.

use commands::Sign;
use leptos::{prelude::*, task::spawn_local};
use protocol::{PeerView, PodDetail, PodRef, PodState, PodSummary, Segment};

use crate::{
    console::{Console, Presence},
    rows::Rows,
    server_fns::{pod_detail, pod_peers},
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PodContext {
    pub(crate) pod: StoredValue<PodRef>,
    pub(crate) summary: Memo<PodSummary>,
    /// From the newest of the list and the transcript.
    pub(crate) state: Memo<PodState>,
    /// With what no stream carries: queue, scope, policies.
    pub(crate) detail: RwSignal<PodDetail>,
    /// Whom it knows, and the requests between it and others.
    pub(crate) peers: RwSignal<Vec<PeerView>>,
    pub(crate) rows: Rows,
    /// Whether this page is the one that is seen.
    pub(crate) presence: Presence,
    /// Nothing will follow, and why.
    pub(crate) closed: RwSignal<Option<String>>,
    /// The reader is at the end and stays there.
    pub(crate) is_following: RwSignal<bool>,
    /// Blocks that came while the reader was elsewhere.
    pub(crate) unseen: RwSignal<usize>,
    /// Text on its way back into the composer.
    pub(crate) returned: RwSignal<Option<Returned>>,
    /// These are old records that nothing is added to: the end of the conversation is not among them.
    pub(crate) is_old: bool,
}

/// A message that its Pod gave back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Returned {
    pub(crate) segments: Vec<Segment>,
    /// A person asked for it; otherwise it goes only where nothing has been typed.
    pub(crate) is_asked_for: bool,
}

impl PodContext {
    pub(crate) fn provide(console: Console, detail: PodDetail, peers: Vec<PeerView>, rows: Rows, is_old: bool) -> Self {
        let start = detail.summary.clone();
        let pod = StoredValue::new(start.pod.clone());
        let presence = Presence::new();
        let summary = presence.memo(move |before: Option<&PodSummary>| {
            console.pod(&start.pod).or_else(|| before.cloned()).unwrap_or_else(|| start.clone())
        });
        let state = Memo::new(move |_| {
            let listed = summary.with(|summary| (summary.head_seq, summary.state));
            rows.status.with(|(head, status)| match status {
                Some(status) if *head >= listed.0 => status.state,
                _ => listed.1,
            })
        });
        let context = Self {
            pod,
            summary,
            state,
            detail: RwSignal::new(detail),
            peers: RwSignal::new(peers),
            rows,
            presence,
            closed: RwSignal::new(None),
            is_following: RwSignal::new(true),
            unseen: RwSignal::new(0),
            returned: RwSignal::new(None),
            is_old,
        };
        provide_context(context);
        context.keep_queue();
        context
    }

    /// What waits is in no stream, and how much of it is in the list: somebody else may have put something there, or
    /// taken it away.
    fn keep_queue(self) {
        let count = Memo::new(move |_| self.summary.with(|summary| summary.queued_count as usize));
        Effect::new(move |_| {
            if count.get() != self.detail.with_untracked(|detail| detail.queued.len()) {
                self.refresh();
            }
        });
    }

    /// What its mark says: a run that failed leaves it idle.
    pub(crate) fn sign(self) -> Sign {
        Sign::in_state(self.state.get(), self.summary.with(|summary| summary.needs_you))
    }

    /// As the newest of the list and the transcript say it.
    pub(crate) fn as_it_is(self) -> PodSummary {
        PodSummary { state: self.state.get(), ..self.summary.get() }
    }

    /// Reads again what no stream carries. An answer that comes after the page was left is dropped.
    pub(crate) fn refresh(self) {
        let Some(pod) = self.pod.try_get_value() else { return };
        spawn_local(async move {
            if let Ok(detail) = pod_detail(pod).await {
                self.detail.try_set(detail);
            }
        });
    }

    /// Reads again whom it knows.
    pub(crate) fn refresh_peers(self) {
        let Some(pod) = self.pod.try_get_value() else { return };
        spawn_local(async move {
            if let Ok(peers) = pod_peers(pod).await {
                self.peers.try_set(peers);
            }
        });
    }
}

pub(crate) fn use_pod() -> PodContext {
    expect_context::<PodContext>()
}
