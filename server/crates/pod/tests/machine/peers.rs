//! Messages of peers: their receipts when they are stored, read and answered, and how many hops they are from a person.

use pod::{Effect, Failure, Input, ModelPiece, PodSpec, decide};
use protocol::{ControlEvent, Event, PodState, ReceiptState, TurnEvent};
use serde_json::json;

use crate::journal::*;

use ReceiptState::{Answered, Expired, Read, Stored};

fn letter(id: &str, hops: u32) -> TurnEvent {
    serde_json::from_value(json!({
        "kind": "peer_message", "message_id": id, "text": "psst", "hops": hops,
        "from": { "runtime_id": "local", "worker_id": "w2", "name": "bob" }
    }))
    .unwrap()
}

fn quiet(events: impl IntoIterator<Item = TurnEvent>) -> Input {
    Input::Mail { events: events.into_iter().collect(), wakes: false }
}

fn failed() -> Input {
    Input::Model(ModelPiece::Failed(Failure::new("provider_error", "no")))
}

impl Journal {
    /// Receipts of a message: the state, and the turn.
    fn receipts(&self, id: &str) -> Vec<(ReceiptState, Option<u64>)> {
        let of_it = |event: &Event| match event {
            Event::Control(ControlEvent::MessageReceipt { message_id, state, turn, peer, .. }) if message_id == id => {
                assert_eq!(peer.name.as_str(), "bob");
                Some((*state, *turn))
            }
            _ => None,
        };
        self.records.iter().filter_map(|record| of_it(&record.event)).collect()
    }
}

#[test]
fn an_idle_pod_wakes_reads_and_answers_in_one_run() {
    let mut journal = idle();
    assert_eq!(journal.take(mail([letter("m", 0)])).unwrap(), [Effect::CallModel]);
    assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(2))]);
    let journal = journal.all([text("ok"), finished()]);
    assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(2)), (Answered, Some(2))]);
    assert!(journal.pod.unread_messages.is_empty() && journal.pod.read_messages.is_empty());
}

#[test]
fn a_note_is_stored_and_read_when_the_model_is_asked_for_another_reason() {
    let mut journal = idle();
    assert_eq!(journal.take(quiet([letter("m", 0)])).unwrap(), []);
    assert_eq!(journal.receipts("m"), [(Stored, None)]);
    let journal = journal.all([ask("well?")]);
    assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(2))]);
    let journal = journal.all([text("ok"), finished()]);
    assert_eq!(journal.receipts("m")[2..], [(Answered, Some(2))]);
}

#[test]
fn only_a_run_that_is_completed_answers() {
    for (what, end) in [
        ("cancelled", vec![Input::Cancel]),
        ("paused", vec![Input::Pause]),
        ("paused and cancelled", vec![Input::Pause, Input::Cancel]),
        ("failed", vec![failed()]),
        ("out of room", vec![Input::Model(ModelPiece::Limit)]),
        ("stopped", vec![Input::Stop]),
    ] {
        let journal = idle().all([mail([letter("m", 0)]), text("so")]).all(end);
        assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(2))], "{what}");
        assert!(journal.pod.read_messages.is_empty(), "{what}");
    }
    let mut crashed = idle().all([mail([letter("m", 0)]), text("so")]);
    crashed.crash();
    assert_eq!(crashed.pod.state, PodState::Paused);
    let journal = crashed.all([resume(), text("on"), finished()]);
    assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(2))], "the run that read it was cut off");
}

#[test]
fn several_are_read_and_answered_each_once_and_in_order() {
    let journal = idle().all([
        quiet([letter("a", 0)]),
        mail([letter("b", 0), child(), letter("c", 0)]),
        text("so"),
        mail([letter("d", 0)]),
        finished(),
    ]);
    for id in ["a", "b", "c"] {
        assert_eq!(journal.receipts(id), [(Stored, None), (Read, Some(2)), (Answered, Some(2))], "{id}");
    }
    assert_eq!(journal.receipts("d"), [(Stored, None), (Read, Some(3))]);
    let answered: Vec<_> = journal
        .records
        .iter()
        .filter_map(|record| match &record.event {
            Event::Control(ControlEvent::MessageReceipt { message_id, state: Answered, .. }) => {
                Some(message_id.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(answered, ["a", "b", "c"]);
    let journal = journal.all([text("and"), finished()]);
    assert_eq!(journal.receipts("d")[2..], [(Answered, Some(3))]);
}

#[test]
fn one_among_calls_is_read_with_their_results_and_answered_by_that_run() {
    let mut journal = running().all([call("Read"), mail([letter("m", 0)]), finished()]);
    assert_eq!(journal.receipts("m"), [(Stored, None)]);
    journal.take(ended("call-b1", "one")).unwrap();
    assert_eq!(journal.receipts("m"), [(Stored, None), (Read, Some(1))]);
    let journal = journal.all([text("ok"), finished()]);
    assert_eq!(journal.receipts("m")[2..], [(Answered, Some(1))]);
    assert_eq!(journal.pod.state, PodState::Idle);
}

#[test]
fn one_to_a_pod_at_rest_with_a_run_before_it_is_read_when_that_goes_on() {
    let journal = paused().all([mail([letter("m", 0)])]);
    assert_eq!(journal.receipts("m"), [(Stored, None)]);
    let journal = journal.all([resume(), text("ok"), finished()]);
    assert_eq!(journal.receipts("m")[1..], [(Read, Some(2)), (Answered, Some(2))]);
    let mut stopped = stopped();
    assert!(stopped.take(mail([letter("m", 0)])).is_err());
    assert_eq!(stopped.receipts("m"), []);
}

#[test]
fn one_that_a_rewind_takes_back_is_never_read() {
    let journal = idle();
    let before = journal.pod.head;
    let journal = journal.all([quiet([letter("m", 0)])]);
    let back = Input::Rewind { to_seq: before, expected_head: journal.pod.head, context_used: 7 };
    let journal = journal.all([back, ask("next"), text("ok"), finished()]);
    assert_eq!(journal.receipts("m"), [(Stored, None), (Expired, None)]);
    assert!(!journal.said().iter().any(|said| said.contains("psst")));
}

#[test]
fn receipts_of_what_it_sent_itself_change_nothing_here() {
    let mut journal = idle();
    let before = journal.pod.clone();
    for state in ["stored", "read", "answered"] {
        let note = serde_json::from_value(json!({
            "kind": "message_receipt", "message_id": "sent", "state": state, "turn": 3,
            "peer": { "runtime_id": "local", "worker_id": "w2", "name": "bob" }
        }))
        .unwrap();
        assert_eq!(journal.take(Input::Note(vec![note])).unwrap(), []);
    }
    let head = journal.pod.head;
    assert_eq!(journal.pod, pod::Pod { head, ..before });
    assert_eq!(journal.receipts("sent"), [(Stored, Some(3)), (Read, Some(3)), (Answered, Some(3))]);
}

#[test]
fn what_it_sends_is_one_step_further_from_a_person_than_what_woke_it() {
    assert_eq!(running().pod.hops, 0);
    for (events, hops) in [
        (vec![letter("a", 0)], 1),
        (vec![letter("a", 3)], 4),
        (vec![letter("a", 3), letter("b", 7), letter("c", 5)], 8),
        (vec![letter("a", 3), child()], 4),
    ] {
        let journal = idle().all([mail(events.clone())]);
        assert_eq!(journal.pod.hops, hops, "{events:?}");
        // News of a child has as many hops as the run before it.
        let journal = journal.all([text("ok"), finished(), mail([child()])]);
        assert_eq!(journal.pod.hops, hops, "{events:?}");
        let journal = journal.all([text("ok"), finished(), ask("a person")]);
        assert_eq!(journal.pod.hops, 0, "{events:?}");
    }
}

#[test]
fn one_that_is_read_later_counts_where_nobody_began_the_run_and_not_where_a_person_did() {
    let noted = idle().all([quiet([letter("a", 4)])]);
    assert_eq!(noted.clone().all([ask("a person")]).pod.hops, 0);
    assert_eq!(noted.clone().all([mail([letter("b", 1)])]).pod.hops, 5);
    assert_eq!(noted.all([mail([child()])]).pod.hops, 5);
    // In the middle of a run.
    let woken = idle().all([mail([letter("a", 0)])]);
    assert_eq!(woken.pod.hops, 1);
    let among_calls = |mut journal: Journal| {
        journal.take(call("Read")).unwrap();
        let id = journal.last_call();
        journal.all([mail([letter("b", 6)]), finished(), ended(&id, "one")])
    };
    assert_eq!(among_calls(woken).pod.hops, 7);
    assert_eq!(among_calls(running()).pod.hops, 0);
}

#[test]
fn a_fold_of_the_journal_knows_what_is_unread_as_the_pod_does() {
    let journal = running().all([text("so"), mail([letter("a", 2), letter("b", 3)])]);
    let mut folded = pod::Pod::default();
    for record in &journal.records {
        folded.apply(record);
    }
    assert_eq!(folded, journal.pod);
    assert_eq!(folded.unread_messages.len(), 2);
}

#[test]
fn a_message_that_only_notes_begins_no_run_at_the_end_of_another() {
    let mut journal = idle().all([ask("well?"), text("hm")]);
    journal.take(mail([letter("m", 0)])).unwrap();
    let quiet = PodSpec { wake_on_peer: false, ..spec() };
    let decision = decide(&journal.pod, &quiet, finished()).unwrap();
    assert_eq!(journal.write(decision), []);
    assert_eq!((journal.pod.state, journal.receipts("m")), (PodState::Idle, vec![(Stored, None)]));
    let journal = journal.all([ask("and now?")]);
    assert_eq!(journal.receipts("m")[1].0, Read);
}
