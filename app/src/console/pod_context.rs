//! State shared by all parts of a Pod's page.

use commands::Sign;
use leptos::{prelude::*, task::spawn_local};
use protocol::{GitView, PeerView, PodDetail, PodRef, PodState, PodSummary, Segment};

use crate::{
    console::{Console, Presence},
    rows::Rows,
    server_fns::{pod_detail, pod_peers},
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PodContext {
    pub(crate) pod: StoredValue<PodRef>,
    pub(crate) summary: Memo<PodSummary>,
    /// The newer of the list's and the transcript's state.
    pub(crate) state: Memo<PodState>,
    /// Includes what no stream carries: queue, scope, policies.
    pub(crate) detail: RwSignal<PodDetail>,
    /// Its peers, and the open peer requests from and to it.
    pub(crate) peers: RwSignal<Vec<PeerView>>,
    pub(crate) rows: Rows,
    /// Whether this page is the one on screen.
    pub(crate) presence: Presence,
    /// Why no more records will follow; `None` while they do.
    pub(crate) closed: RwSignal<Option<String>>,
    /// Whether the view is at the end and follows it.
    pub(crate) is_following: RwSignal<bool>,
    /// How many blocks arrived while the view was elsewhere.
    pub(crate) unseen: RwSignal<usize>,
    /// Text on its way back into the composer.
    pub(crate) returned: RwSignal<Option<Returned>>,
    /// Whether a terminal is open on this page.
    pub(crate) shows_terminal: RwSignal<bool>,
    /// True for a page of older records, which never grows: the end of the conversation is not on it.
    pub(crate) is_old: bool,
}

/// A message that the Pod gave back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Returned {
    pub(crate) segments: Vec<Segment>,
    /// You asked for it. Otherwise it goes into the composer only if nothing has been typed there.
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
            shows_terminal: RwSignal::new(false),
            is_old,
        };
        provide_context(context);
        context.keep_queue();
        context
    }

    /// The git state of its folder. The list has it as of the last change; the page, as of its opening.
    pub(crate) fn git(self) -> Option<GitView> {
        let (listed, at) = self.summary.with(|summary| (summary.git.clone(), summary.updated_at));
        match listed {
            Some(listed) => Some(listed),
            None => self.detail.with(|detail| detail.summary.git.clone().filter(|_| detail.summary.updated_at >= at)),
        }
    }

    /// No stream carries the queue, but the list carries its length: read the queue again when the two differ,
    /// because another viewer may have added or removed a message.
    fn keep_queue(self) {
        let count = Memo::new(move |_| self.summary.with(|summary| summary.queued_count as usize));
        Effect::new(move |_| {
            if count.get() != self.detail.with_untracked(|detail| detail.queued.len()) {
                self.refresh();
            }
        });
    }

    /// The sign for its state; a failed run leaves the state idle but needs you.
    pub(crate) fn sign(self) -> Sign {
        Sign::in_state(self.state.get(), self.summary.with(|summary| summary.needs_you))
    }

    /// The summary with the newest known state.
    pub(crate) fn as_it_is(self) -> PodSummary {
        PodSummary { state: self.state.get(), ..self.summary.get() }
    }

    /// Reads again what no stream carries. A result that arrives after the page was left is dropped.
    pub(crate) fn refresh(self) {
        let Some(pod) = self.pod.try_get_value() else { return };
        spawn_local(async move {
            if let Ok(detail) = pod_detail(pod).await {
                self.detail.try_set(detail);
            }
        });
    }

    /// Reads its peers and peer requests again.
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
