//! The stream of the Pod on screen, starting where the page's records end.

use leptos::{prelude::*, task::spawn_local};
use protocol::{ControlEvent, Event, Outcome, Record, Seq, TurnEvent};

use crate::{
    console::{PodContext, Returned},
    server_fns::{PodPageData, load_pod},
    stream::{self, PodFeed},
    transcript::{Arrivals, KEPT_BLOCKS_MAX, complete_beginning},
};

/// Subscribes exactly after the records that the page came with.
pub(super) fn follow(pod: PodContext, cursor: String, applied: Seq) {
    let stream = Stream {
        pod,
        arrivals: Arrivals::new(),
        number: StoredValue::new(None),
        left_at: StoredValue::new(None),
        is_renewing: StoredValue::new(false),
    };
    Effect::new(move |before: Option<()>| match (before, pod.presence.is_here()) {
        (None, true) => stream.watch(cursor.clone(), applied),
        (None, false) => stream.left_at.set_value(Some((cursor.clone(), applied))),
        (Some(()), _) => (),
    });
    pod.presence.on_turn(move |is_here| match is_here {
        true => stream.go_on(),
        false => stream.rest(),
    });
    on_cleanup(move || {
        if let Some(number) = stream.number.try_get_value().flatten() {
            stream::unwatch(number);
        }
    });
}

/// The subscription of one Pod's page.
#[derive(Debug, Clone, Copy)]
struct Stream {
    pod: PodContext,
    arrivals: Arrivals,
    number: StoredValue<Option<u64>>,
    /// Where a page that was left resumes when it is shown again.
    left_at: StoredValue<Option<(String, Seq)>>,
    is_renewing: StoredValue<bool>,
}

impl Stream {
    fn watch(self, cursor: String, applied: Seq) {
        let target = self.pod.pod.get_value();
        let number = stream::watch(target, cursor, applied, move |feed| self.take(feed));
        self.number.set_value(Some(number));
    }

    /// Unsubscribes: a subscriber counts as a viewer of this Pod, so a page off screen must not be one.
    fn rest(self) {
        let number = self.number.try_update_value(Option::take).flatten();
        self.left_at.set_value(number.and_then(stream::unwatch));
        self.apply(&self.arrivals.now());
    }

    fn go_on(self) {
        if let Some((cursor, applied)) = self.left_at.try_update_value(Option::take).flatten() {
            self.watch(cursor, applied);
        }
    }

    fn take(self, feed: PodFeed) {
        let pod = self.pod;
        match feed {
            PodFeed::Records(records) => {
                self.reopen();
                self.arrivals.add(records.read(), move |records| self.apply(&records));
            }
            PodFeed::Snapshot { summary, records, has_more } => {
                self.reopen();
                // Everything still waiting is contained in the snapshot.
                self.arrivals.now();
                pod.rows.reset(&records.read(), has_more);
                complete_beginning(pod);
                pod.detail.update(|detail| detail.summary = *summary);
                pod.refresh();
                pod.refresh_peers();
            }
            PodFeed::Closed(reason) => {
                self.apply(&self.arrivals.now());
                pod.closed.set(Some(reason));
            }
        }
    }

    /// The Pod's runtime is reachable again.
    fn reopen(self) {
        if self.pod.closed.with_untracked(Option::is_some) {
            self.pod.closed.set(None);
        }
    }

    fn apply(self, records: &[Record]) {
        if records.is_empty() {
            return;
        }
        let pod = self.pod;
        let added = pod.rows.apply(records);
        if !pod.is_following.get_untracked() {
            // A block that only grew is also something new to see.
            pod.unseen.update(|unseen| *unseen = (*unseen + added).max(1));
        }
        if records.iter().any(moves_the_detail) {
            pod.refresh();
        }
        if records.iter().any(moves_the_peers) {
            pod.refresh_peers();
        }
        if records.iter().any(gives_back)
            && let Some(segments) = pod.rows.newest_returned()
        {
            pod.returned.set(Some(Returned { segments, is_asked_for: false }));
        }
        if pod.rows.len() > KEPT_BLOCKS_MAX && pod.is_following.get_untracked() {
            self.renew();
        }
    }

    /// The page has become too long while it follows the end: starts again with only the newest records.
    fn renew(self) {
        if self.is_renewing.try_update_value(|renewing| std::mem::replace(renewing, true)) != Some(false) {
            return;
        }
        let address = self.pod.pod.with_value(ToString::to_string);
        spawn_local(async move {
            let loaded = load_pod(address, None, None).await;
            // By now the page may have been left, or the view may be on older blocks.
            let is_over = self.is_renewing.try_set_value(false).is_some() || !self.pod.presence.is_here();
            if is_over || !self.pod.is_following.get_untracked() {
                return;
            }
            let Ok(PodPageData { records, has_more, head, cursor: Some(cursor), .. }) = loaded else { return };
            if let Some(number) = self.number.get_value() {
                stream::unwatch(number);
            }
            self.arrivals.now();
            self.pod.rows.reset(&records, has_more);
            self.watch(cursor, head);
        });
    }
}

/// Whether the run was rolled back, which returns its message.
fn gives_back(record: &Record) -> bool {
    matches!(&record.event, Event::Control(ControlEvent::RunFinished { outcome: Outcome::RolledBack, .. }))
}

/// Whether the record changes peers or peer requests.
fn moves_the_peers(record: &Record) -> bool {
    matches!(
        &record.event,
        Event::Control(
            ControlEvent::PeerLinked { .. }
                | ControlEvent::PeerUnlinked { .. }
                | ControlEvent::PeerRequested { .. }
                | ControlEvent::PeerDeclined { .. }
        )
    )
}

/// Whether the record changes the queue, the children, the rules, the mode, or an agent's plan and offers, which no stream
/// carries.
fn moves_the_detail(record: &Record) -> bool {
    matches!(
        &record.event,
        Event::Turn(TurnEvent::UserMessage { .. })
            | Event::Control(
                ControlEvent::RunStarted { .. }
                    | ControlEvent::RunFinished { .. }
                    | ControlEvent::ChildSpawned { .. }
                    | ControlEvent::ChildStopped { .. }
                    | ControlEvent::ScopeChanged { .. }
                    | ControlEvent::ApprovalAnswered { .. }
                    | ControlEvent::PlanUpdated { .. }
                    | ControlEvent::ModeChanged { .. }
                    | ControlEvent::AgentOffers { .. }
                    | ControlEvent::SettingsChanged { mode: Some(_), .. }
            )
    )
}
