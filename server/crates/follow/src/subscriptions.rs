//! The subscriptions of a stream, and where each one resumes.
//!
//! The wanted set is state, not a queue: subscribers change it, and the owner of the socket brings the server in
//! line, on this connection or on the next.

use std::collections::BTreeMap;

use protocol::{ClientFrame, DiagnosticCode, PodRef, ServerFrame};

/// A Pod whose runtime did not answer is requested again after this, in milliseconds.
const RETRY_CLOSED_MS: u64 = 2_000;

/// What one subscription is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Topic {
    Pods,
    Pod { pod: PodRef, tail: u32 },
}

#[derive(Debug)]
struct Subscription {
    topic: Topic,
    /// The cursor of the newest frame passed to the caller; `None`: start with a snapshot.
    cursor: Option<String>,
    stage: Stage,
    /// The last diagnostic for this id, which explains a `closed` that follows.
    diagnosed: Option<DiagnosticCode>,
}

/// The progress of one subscription on the current connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// To be sent, but not before this time.
    Due(u64),
    /// Sent to the server; `resumed` if it continues after a cursor from a lost connection.
    Sent { resumed: bool },
    /// The server closed it for good.
    Over,
}

/// What a frame means for the stream as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// This many missed records have arrived.
    Resumed {
        records: usize,
    },
    /// The server sent a snapshot although a cursor was given.
    Reloaded,
    /// A frame does not follow the one before it, so the connection cannot be trusted.
    Gap,
    /// It belongs to a subscription that is no longer wanted.
    Stale,
    Other,
}

/// The set of wanted subscriptions.
#[derive(Debug, Default)]
pub struct Subscriptions {
    wanted: BTreeMap<String, Subscription>,
    /// Ids that the server still sends frames for and nobody wants.
    dropped: Vec<String>,
    /// How many ids have been issued.
    made: u64,
}

impl Subscriptions {
    /// Subscribes to the list of Pods; returns a new id.
    pub fn add_pods(&mut self) -> String {
        self.add(Topic::Pods, None)
    }

    /// Subscribes to a Pod: to what follows `after`, or to a snapshot of the newest `tail` records and what follows
    /// it.
    pub fn add_pod(&mut self, pod: PodRef, after: Option<String>, tail: u32) -> String {
        self.add(Topic::Pod { pod, tail }, after)
    }

    /// Ids are never reused, so a late frame cannot be mistaken for one of another Pod.
    fn add(&mut self, topic: Topic, cursor: Option<String>) -> String {
        self.made += 1;
        let id = format!("s{}", self.made);
        let stage = Stage::Due(0);
        self.wanted.insert(id.clone(), Subscription { topic, cursor, stage, diagnosed: None });
        id
    }

    /// Ends a subscription; returns the cursor that it had reached.
    pub fn remove(&mut self, id: &str) -> Option<String> {
        self.take_out(id)?.cursor
    }

    /// Requests again what follows a subscription's cursor, under a new id, so that frames in flight are recognized
    /// as stale.
    pub fn ask_again(&mut self, id: &str) -> Option<String> {
        let Subscription { topic, cursor, .. } = self.take_out(id)?;
        Some(self.add(topic, cursor))
    }

    fn take_out(&mut self, id: &str) -> Option<Subscription> {
        let subscription = self.wanted.remove(id)?;
        if let Stage::Sent { .. } = subscription.stage {
            self.dropped.push(id.to_owned());
        }
        Some(subscription)
    }

    /// Whether the caller still wants it; the server may have closed it.
    pub fn is_wanted(&self, id: &str) -> bool {
        self.wanted.contains_key(id)
    }

    /// A new connection has no subscriptions, so everything is to be sent again.
    pub fn connection_is_new(&mut self) {
        self.dropped.clear();
        for subscription in self.wanted.values_mut().filter(|subscription| subscription.stage != Stage::Over) {
            subscription.stage = Stage::Due(0);
        }
    }

    /// How many Pods resume from a cursor on a new connection.
    pub fn resumable(&self) -> usize {
        let resumes = |subscription: &&Subscription| subscription.cursor.is_some() && subscription.stage != Stage::Over;
        self.wanted.values().filter(resumes).count()
    }

    /// The frames to send now. `resumed` says whether this connection follows a lost one.
    pub fn take_due(&mut self, now_ms: u64, resumed: bool) -> Vec<ClientFrame> {
        let mut frames: Vec<_> = self.dropped.drain(..).map(|id| ClientFrame::Unsubscribe { id }).collect();
        for (id, subscription) in &mut self.wanted {
            if !matches!(subscription.stage, Stage::Due(at) if at <= now_ms) {
                continue;
            }
            subscription.stage = Stage::Sent { resumed: resumed && subscription.cursor.is_some() };
            frames.push(subscription.frame(id));
        }
        frames
    }

    /// When [`Self::take_due`] will next return something, if nothing else happens.
    pub fn next_due(&self) -> Option<u64> {
        let due = |subscription: &Subscription| match subscription.stage {
            Stage::Due(at) => Some(at),
            Stage::Sent { .. } | Stage::Over => None,
        };
        self.wanted.values().filter_map(due).min()
    }

    /// Records a frame before the caller receives it.
    pub fn take_note(&mut self, frame: &ServerFrame, now_ms: u64) -> Step {
        match frame {
            ServerFrame::Snapshot { id, cursor, .. } => self.note_snapshot(id, cursor),
            ServerFrame::Records { id, after, cursor, records } => self.note_records(id, after, cursor, records.len()),
            ServerFrame::Pods { id, .. } if !self.wanted.contains_key(id) => Step::Stale,
            ServerFrame::Diagnostic { id: Some(id), code, .. } => self.note_diagnostic(id, *code),
            ServerFrame::Closed { id, .. } => self.note_closed(id, now_ms),
            _ => Step::Other,
        }
    }

    /// Like [`Self::take_note`], for a snapshot with this cursor.
    pub fn note_snapshot(&mut self, id: &str, cursor: &str) -> Step {
        let Some(subscription) = self.wanted.get_mut(id) else { return Step::Stale };
        let had_cursor = subscription.cursor.replace(cursor.to_owned()).is_some();
        subscription.diagnosed = None;
        if had_cursor { Step::Reloaded } else { Step::Other }
    }

    /// Like [`Self::take_note`], for this many records from `after` to `cursor`.
    pub fn note_records(&mut self, id: &str, after: &str, cursor: &str, records: usize) -> Step {
        let Some(subscription) = self.wanted.get_mut(id) else { return Step::Stale };
        if subscription.cursor.as_deref().is_some_and(|before| before != after) {
            return Step::Gap;
        }
        subscription.cursor = Some(cursor.to_owned());
        match subscription.stage {
            Stage::Sent { resumed: true } => Step::Resumed { records },
            _ => Step::Other,
        }
    }

    /// Like [`Self::take_note`], for a diagnostic.
    pub fn note_diagnostic(&mut self, id: &str, code: DiagnosticCode) -> Step {
        let Some(subscription) = self.wanted.get_mut(id) else { return Step::Stale };
        subscription.diagnosed = Some(code);
        Step::Other
    }

    /// Like [`Self::take_note`], for the end of a subscription.
    pub fn note_closed(&mut self, id: &str, now_ms: u64) -> Step {
        let Some(subscription) = self.wanted.get_mut(id) else {
            self.dropped.retain(|dropped| dropped != id);
            return Step::Stale;
        };
        subscription.stage = match subscription.diagnosed.take() {
            // The Pod may well exist: its runtime is unreachable.
            Some(DiagnosticCode::RuntimeUnavailable) => Stage::Due(now_ms + RETRY_CLOSED_MS),
            _ => Stage::Over,
        };
        Step::Other
    }

    /// Everything until now belonged to the gap; from here on it is live.
    pub fn gap_is_over(&mut self) {
        for subscription in self.wanted.values_mut() {
            if subscription.stage == (Stage::Sent { resumed: true }) {
                subscription.stage = Stage::Sent { resumed: false };
            }
        }
    }
}

impl Subscription {
    fn frame(&self, id: &str) -> ClientFrame {
        let id = id.to_owned();
        match &self.topic {
            Topic::Pods => ClientFrame::Subscribe { id, pods: Some(true), pod: None, after: None, tail: None },
            Topic::Pod { pod, tail } => ClientFrame::Subscribe {
                id,
                pods: None,
                pod: Some(pod.clone()),
                after: self.cursor.clone(),
                tail: Some(*tail),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> PodRef {
        "local/1".parse().unwrap()
    }

    fn records(id: &str, after: &str, cursor: &str) -> ServerFrame {
        ServerFrame::Records { id: id.into(), after: after.into(), cursor: cursor.into(), records: Vec::new() }
    }

    #[test]
    fn a_subscription_goes_on_after_the_newest_cursor_on_the_next_connection() {
        let mut subscriptions = Subscriptions::default();
        let id = subscriptions.add_pod(pod(), Some("c0".into()), 10);
        assert_eq!(subscriptions.take_due(0, false).len(), 1);
        assert_eq!(subscriptions.take_due(0, false), []);
        assert_eq!(subscriptions.take_note(&records(&id, "c0", "c1"), 0), Step::Other);
        subscriptions.connection_is_new();
        let frames = subscriptions.take_due(0, true);
        let after = Some("c1".to_owned());
        let expected = ClientFrame::Subscribe { id: id.clone(), pods: None, pod: Some(pod()), after, tail: Some(10) };
        assert_eq!(frames, [expected]);
        assert_eq!(subscriptions.take_note(&records(&id, "c1", "c2"), 0), Step::Resumed { records: 0 });
        subscriptions.gap_is_over();
        assert_eq!(subscriptions.take_note(&records(&id, "c2", "c3"), 0), Step::Other);
    }

    #[test]
    fn a_frame_that_does_not_follow_the_one_before_it_is_a_gap() {
        let mut subscriptions = Subscriptions::default();
        let id = subscriptions.add_pod(pod(), Some("c0".into()), 10);
        assert_eq!(subscriptions.take_note(&records(&id, "c7", "c8"), 0), Step::Gap);
        assert_eq!(subscriptions.take_note(&records("another", "c7", "c8"), 0), Step::Stale);
    }

    #[test]
    fn frames_of_a_pod_that_is_not_looked_at_any_more_are_stale() {
        let mut subscriptions = Subscriptions::default();
        let before = subscriptions.add_pod(pod(), None, 10);
        subscriptions.take_due(0, false);
        subscriptions.remove(&before);
        let now = subscriptions.add_pod("local/2".parse().unwrap(), None, 10);
        assert_ne!(before, now);
        let frames = subscriptions.take_due(0, false);
        assert!(matches!(&frames[..], [ClientFrame::Unsubscribe { .. }, ClientFrame::Subscribe { .. }]), "{frames:?}");
        assert_eq!(subscriptions.take_note(&records(&before, "c1", "c2"), 0), Step::Stale);
    }

    #[test]
    fn a_pod_that_is_gone_is_not_asked_for_again_and_one_that_cannot_be_reached_is() {
        for (code, again) in [(DiagnosticCode::PodGone, false), (DiagnosticCode::RuntimeUnavailable, true)] {
            let mut subscriptions = Subscriptions::default();
            let id = subscriptions.add_pod(pod(), None, 10);
            subscriptions.take_due(0, false);
            subscriptions.take_note(&ServerFrame::Diagnostic { id: Some(id.clone()), code, detail: String::new() }, 0);
            subscriptions.take_note(&ServerFrame::Closed { id, reason: String::new() }, 0);
            assert_eq!(subscriptions.next_due().is_some(), again, "{code:?}");
        }
    }

    #[test]
    fn what_was_missed_is_asked_for_again_under_another_id() {
        let mut subscriptions = Subscriptions::default();
        let id = subscriptions.add_pod(pod(), Some("c1".into()), 10);
        subscriptions.take_due(0, false);
        let again = subscriptions.ask_again(&id).unwrap();
        assert_ne!(again, id);
        let frames = subscriptions.take_due(0, false);
        let after = Some("c1".to_owned());
        let expected =
            ClientFrame::Subscribe { id: again.clone(), pods: None, pod: Some(pod()), after, tail: Some(10) };
        assert_eq!(frames, [ClientFrame::Unsubscribe { id: id.clone() }, expected]);
        assert_eq!(subscriptions.take_note(&records(&id, "c1", "c2"), 0), Step::Stale);
        assert_eq!(subscriptions.remove(&again), Some("c1".to_owned()));
        assert_eq!(subscriptions.remove(&again), None);
    }
}
