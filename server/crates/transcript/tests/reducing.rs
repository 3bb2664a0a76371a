//! Rules of the reducer that no single journal in `golden/` shows.

#![allow(clippy::unwrap_used)]

use protocol::Record;
use serde_json::{Value, json};
use transcript::{Block, BlockKind, Change, OPEN_BLOCKS_MAX, Status, Transcript};

/// Records of one run with these events, from seq 1.
fn records(events: impl IntoIterator<Item = Value>) -> Vec<Record> {
    let record =
        |(index, event)| json!({ "seq": index + 1, "at": "2026-03-01T09:00:00Z", "run_id": "r1", "event": event });
    events.into_iter().enumerate().map(record).map(|record| serde_json::from_value(record).unwrap()).collect()
}

fn blocks(events: impl IntoIterator<Item = Value>) -> Vec<Block> {
    Transcript::from_records(&records(events)).blocks().to_vec()
}

fn chunk(block: &str, text: &str) -> Value {
    json!({ "kind": "text_chunk", "block": block, "text": text })
}

fn ended() -> Value {
    json!({ "kind": "run_finished", "outcome": "paused", "usage": { "input": 0, "cached": 0, "output": 0 } })
}

fn texts(blocks: &[Block]) -> Vec<(&str, Status)> {
    let text = |block| match block {
        &BlockKind::Assistant { ref text, status } | &BlockKind::Reasoning { ref text, status, .. } => {
            Some((text.as_str(), status))
        }
        _ => None,
    };
    blocks.iter().filter_map(|block| text(&block.kind)).collect()
}

#[test]
fn an_interruption_without_text_keeps_what_was_on_the_screen() {
    let cut = json!({ "kind": "message_finished", "block": "b", "text": "", "interrupted": true });
    assert_eq!(texts(&blocks([chunk("b", "half"), cut])), [("half", Status::Interrupted)]);
    let ended = json!({ "kind": "message_finished", "block": "b", "text": "", "interrupted": false });
    assert_eq!(texts(&blocks([chunk("b", "half"), ended])), [("", Status::Finished)]);
}

#[test]
fn hidden_reasoning_ends_and_may_be_left_out() {
    let begun = json!({ "kind": "reasoning_chunk", "block": "b", "text": "" });
    let finished = json!({ "kind": "reasoning_finished", "block": "b", "text": "", "interrupted": false });
    let thinking = blocks([begun.clone()]);
    assert!(thinking[0].is_live() && !thinking[0].is_empty());
    let thought = blocks([begun, finished.clone()]);
    assert!(!thought[0].is_live() && thought[0].is_empty());
    assert!(blocks([finished])[0].is_empty());
}

#[test]
fn a_late_chunk_of_a_finished_block_changes_nothing() {
    let finished = json!({ "kind": "message_finished", "block": "b", "text": "whole", "interrupted": false });
    assert_eq!(texts(&blocks([chunk("b", "wh"), finished, chunk("b", "ole")])), [("whole", Status::Finished)]);
}

#[test]
fn a_call_goes_on_in_the_run_that_resumes_it_and_ends_with_it() {
    let called =
        json!({ "kind": "tool_called", "call_id": "t", "block": "b", "name": "Bash", "arguments": {}, "by": "model" });
    let output = json!({ "kind": "tool_output_chunk", "block": "b", "text": "more" });
    let mut records = records([called, ended(), output, ended()]);
    records[2..].iter_mut().for_each(|record| record.run_id = Some("r2".to_owned()));
    let lives: Vec<bool> =
        (1..=4).map(|count| Transcript::from_records(&records[..count]).blocks()[0].is_live()).collect();
    assert_eq!(lives, [true, false, true, false]);
}

#[test]
fn so_many_open_blocks_that_none_is_lost() {
    let count = OPEN_BLOCKS_MAX * 3;
    let all = blocks((0..count * 2).map(|index| chunk(&format!("b{}", index % count), "x")).chain([ended()]));
    assert_eq!(all.len(), count + 1);
    let whole = texts(&all);
    assert_eq!(whole.len(), count);
    assert!(whole.iter().all(|text| *text == ("xx", Status::Interrupted)));
}

#[test]
fn a_change_names_only_what_was_drawn_before() {
    let mut transcript = Transcript::default();
    let message = json!({ "kind": "alert", "level": "note", "source": "s", "text": "t" });
    let status = json!({ "kind": "status", "state": "running" });
    let finished = json!({ "kind": "message_finished", "block": "b", "text": "one", "interrupted": false });
    let records = records([chunk("b", "o"), status, chunk("b", "n"), message, finished]);
    let changes: Vec<Change> = records.iter().map(|record| transcript.apply(record)).collect();
    let expected = [
        Change::Added { index: 0 },
        Change::None,
        Change::Changed { index: 0 },
        Change::Added { index: 0 },
        Change::Changed { index: 1 },
    ];
    assert_eq!(changes, expected);
    assert_eq!(transcript.apply(&records[2]), Change::None);
}

fn numbers(transcript: &Transcript) -> Vec<Option<u64>> {
    let number = |block: &Block| match block.kind {
        BlockKind::Turn { number, .. } => Some(number),
        _ => None,
    };
    transcript.blocks().iter().filter_map(number).collect()
}

#[test]
fn turns_are_numbered_once_the_first_is_known() {
    let started = || json!({ "kind": "run_started", "trigger": "input" });
    let records = records([started(), ended(), started(), ended(), started()]);
    let mut transcript = Transcript::from_records(&records[2..]);
    assert_eq!(numbers(&transcript), [None, None]);
    transcript.prepend(&records[..2]);
    assert_eq!(numbers(&transcript), [Some(1), Some(2), Some(3)]);
}

#[test]
fn a_run_that_says_which_it_is_numbers_its_turn_before_the_first_is_known() {
    let started = || json!({ "kind": "run_started", "trigger": "input" });
    let mut records = records([started(), ended(), started(), ended(), started()]);
    for (index, run) in ["run-1", "run-1", "run-2", "run-2", "run-3"].into_iter().enumerate() {
        records[index].run_id = Some(run.to_owned());
    }
    let mut transcript = Transcript::from_records(&records[3..]);
    assert_eq!(numbers(&transcript), [Some(3)]);
    transcript.prepend(&records[2..3]);
    assert_eq!(numbers(&transcript), [Some(2), Some(3)]);
    transcript.prepend(&records[..2]);
    assert_eq!(numbers(&transcript), [Some(1), Some(2), Some(3)]);
}

#[test]
fn what_a_rewind_took_out_is_known_also_from_an_older_page() {
    let said = |text: &str| json!({ "kind": "message_finished", "block": text, "text": text, "interrupted": false });
    let alert = json!({ "kind": "alert", "level": "note", "source": "s", "text": "t" });
    let rewound = json!({ "kind": "rewound", "to_seq": 1 });
    let records = records([said("a"), said("b"), alert, rewound, said("c")]);
    for cut in 0..=records.len() {
        let mut transcript = Transcript::from_records(&records[cut..]);
        transcript.prepend(&records[..cut]);
        let gone: Vec<bool> = transcript.blocks().iter().map(|block| block.is_rewound(transcript.rewinds())).collect();
        assert_eq!(gone, [false, true, false, false, false], "cut at {cut}");
    }
}

#[test]
fn questions_are_open_until_they_are_answered_or_their_run_ends() {
    let asked = |id: &str| json!({ "kind": "approval_asked", "id": id, "tool": "Bash", "arguments": {} });
    let answered =
        json!({ "kind": "approval_answered", "id": "q1", "tool": "Bash", "arguments": {}, "decision": "allow" });
    let cancelled =
        json!({ "kind": "run_finished", "outcome": "cancelled", "usage": { "input": 0, "cached": 0, "output": 0 } });
    let records = records([asked("q1"), asked("q2"), answered, cancelled]);
    let open: Vec<usize> =
        (1..=4).map(|count| Transcript::from_records(&records[..count]).open_questions().count()).collect();
    assert_eq!(open, [1, 2, 1, 0]);
}
