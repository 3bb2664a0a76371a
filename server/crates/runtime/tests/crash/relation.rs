//! What is always true of two Pods, whatever was interrupted.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    ControlEvent, Event, ExchangeMessage, PeerLabel, PeerLink, PodRef, PodState, ReceiptState, Record, RuntimeId,
    TurnEvent, WorkerId,
};
use runtime::Host;

use crate::stage::{read_all, until_of};

/// For people on the other side; no model may see it.
pub(crate) const NOTE: &str = "a word that no model sees";

pub(crate) fn pod_ref(worker_id: &WorkerId) -> PodRef {
    PodRef::new(RuntimeId::local(), worker_id.clone())
}

/// A Pod's peers, according to itself.
pub(crate) async fn links(host: &Host, pod: &WorkerId) -> Vec<WorkerId> {
    let peers = host.peers().of_pod(pod).await.unwrap().into_iter();
    peers.filter(|peer| peer.link == PeerLink::Linked).map(|peer| peer.pod.worker_id).collect()
}

/// Whether a record of this kind contains all of these words.
pub(crate) fn is_in(records: &[Record], kind: &str, words: &[&str]) -> bool {
    let has = |record: &Record| {
        let text = serde_json::to_string(&record.event).unwrap();
        record.event.kind() == kind && words.iter().all(|word| text.contains(word))
    };
    records.iter().any(has)
}

/// Two Pods of a host.
pub(crate) struct Pair<'a> {
    host: &'a Host,
    one: &'a WorkerId,
    other: &'a WorkerId,
}

impl<'a> Pair<'a> {
    pub(crate) fn new(host: &'a Host, one: &'a WorkerId, other: &'a WorkerId) -> Self {
        Self { host, one, other }
    }

    /// Every message between the two, newest first.
    pub(crate) async fn messages(&self) -> Vec<ExchangeMessage> {
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let page = self.host.peers().exchange(self.one, self.other, before.as_deref(), 200).await.unwrap();
            all.extend(page.items);
            before = page.next;
            if before.is_none() {
                return all;
            }
        }
    }

    /// Asserts that both journals and the store agree. Returns a short history of the relation.
    pub(crate) async fn check(&self, name: &str) -> Vec<String> {
        let (of_one, of_other) = self.settled(name).await;
        let steps = steps(&of_one, self.other);
        assert_eq!(steps, self::steps(&of_other, self.one), "{name}: the two journals differ");
        let is_linked = steps.last().is_some_and(|step| step == "peer_linked");
        for (pod, peer) in [(self.one, self.other), (self.other, self.one)] {
            assert_eq!(links(self.host, pod).await.contains(peer), is_linked, "{name}: {steps:?}");
            let peers = self.host.peers().of_pod(pod).await.unwrap();
            let is_pending = peers.iter().any(|view| view.link == PeerLink::Pending && view.pod == pod_ref(peer));
            assert_eq!(is_pending, steps.last().is_some_and(|step| step == "peer_requested"), "{name}: {steps:?}");
            let said = serde_json::to_string(&self.host.journals().history(pod).await.unwrap()).unwrap();
            assert!(!said.contains(NOTE) && !said.contains("peer_linked"), "{name}: {said}");
        }
        self.check_messages(name, &of_one, &of_other).await;
        steps
    }

    async fn check_messages(&self, name: &str, of_one: &[Record], of_other: &[Record]) {
        let messages = self.messages().await;
        let ids: BTreeSet<_> = messages.iter().map(|message| message.message_id.as_str()).collect();
        assert_eq!(ids.len(), messages.len(), "{name}: a message is there twice");
        let journals = BTreeMap::from([(self.one, of_one), (self.other, of_other)]);
        let mut told =
            BTreeMap::from([(self.one, received(of_one, self.other)), (self.other, received(of_other, self.one))]);
        for message in &messages {
            let id = &message.message_id;
            let (from, to) = (&message.from.worker_id, &message.to.worker_id);
            let there = told.get_mut(to).unwrap().extract_if(.., |(known, _)| known == id).collect::<Vec<_>>();
            let receipts = receipts(journals[to], id);
            assert_eq!(receipts, self::receipts(journals[from], id), "{name}: the receipts of {id}");
            let states: Vec<_> = receipts.iter().map(|(state, _)| *state).collect();
            let is_held = states == [ReceiptState::Held];
            let texts: Vec<_> = there.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts, if is_held { vec![] } else { vec![message.text.as_str()] }, "{name}: {id} {states:?}");
            let order = [ReceiptState::Stored, ReceiptState::Read, ReceiptState::Answered];
            assert!(is_held || (!states.is_empty() && order.starts_with(&states)), "{name}: {id} {states:?}");
            assert_eq!(Some((message.state, message.turn)), receipts.last().copied(), "{name}: {id}");
        }
        assert!(told.values().all(Vec::is_empty), "{name}: messages without a row: {told:?}");
    }

    /// Both journals, once no run is in progress and both sides know the final receipts of the messages.
    async fn settled(&self, name: &str) -> (Vec<Record>, Vec<Record>) {
        testkit::until(format!("{name}: the two are at rest"), async || {
            let mut journals = Vec::new();
            for pod in [self.one, self.other] {
                until_of(self.host, pod, |_| true).await;
                journals.push(journal(self.host, pod).await);
            }
            let [of_one, of_other] = <[_; 2]>::try_from(journals).unwrap();
            let is_at_rest = |records: &[Record]| last_state(records) != Some(PodState::Running);
            let known = |records: &[Record]| all_receipts(records);
            let is_told = self.is_told(&known(&of_one), &known(&of_other));
            (is_at_rest(&of_one) && is_at_rest(&of_other) && is_told).then_some((of_one, of_other))
        })
        .await
    }

    fn is_told(&self, of_one: &[(String, WorkerId)], of_other: &[(String, WorkerId)]) -> bool {
        let count = |all: &[(String, WorkerId)], peer: &WorkerId| all.iter().filter(|(_, by)| by == peer).count();
        count(of_one, self.other) == count(of_other, self.one)
    }
}

/// Every record of a Pod, however long its journal is.
pub(crate) async fn journal(host: &Host, pod: &WorkerId) -> Vec<Record> {
    let mut pages = Vec::new();
    let mut before = None;
    loop {
        let page = host.journals().page(pod, before.as_deref(), 1_000, runtime::RecordForm::Whole).await.unwrap();
        pages.push(read_all(&page.items));
        before = page.next;
        if before.is_none() {
            return pages.into_iter().rev().flatten().collect();
        }
    }
}

/// What happened between this Pod and a peer.
fn steps(records: &[Record], peer: &WorkerId) -> Vec<String> {
    let of_peer = |record: &&Record| match &record.event {
        Event::Control(
            ControlEvent::PeerLinked { peer: PeerLabel { worker_id, .. }, .. }
            | ControlEvent::PeerUnlinked { peer: PeerLabel { worker_id, .. }, .. }
            | ControlEvent::PeerRequested { peer: PeerLabel { worker_id, .. }, .. }
            | ControlEvent::PeerDeclined { peer: PeerLabel { worker_id, .. }, .. },
        ) => worker_id == peer,
        _ => false,
    };
    records.iter().filter(of_peer).map(|record| record.event.kind().to_owned()).collect()
}

/// Messages received from a peer: id and text.
fn received(records: &[Record], peer: &WorkerId) -> Vec<(String, String)> {
    let messages = records.iter().filter_map(|record| match &record.event {
        Event::Turn(TurnEvent::PeerMessage { message_id, text, from, .. }) if from.worker_id == *peer => {
            Some((message_id.clone(), text.clone()))
        }
        _ => None,
    });
    messages.collect()
}

fn receipts(records: &[Record], message: &str) -> Vec<(ReceiptState, Option<u64>)> {
    let steps = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::MessageReceipt { message_id, state, turn, .. }) if message_id == message => {
            Some((*state, *turn))
        }
        _ => None,
    });
    steps.collect()
}

fn all_receipts(records: &[Record]) -> Vec<(String, WorkerId)> {
    let all = records.iter().filter_map(|record| match &record.event {
        Event::Control(ControlEvent::MessageReceipt { message_id, peer, .. }) => {
            Some((message_id.clone(), peer.worker_id.clone()))
        }
        _ => None,
    });
    all.collect()
}

fn last_state(records: &[Record]) -> Option<PodState> {
    records.iter().rev().find_map(|record| match &record.event {
        Event::Control(ControlEvent::Status { state, .. }) => Some(*state),
        _ => None,
    })
}
