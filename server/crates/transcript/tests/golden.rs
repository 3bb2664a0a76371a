//! Journals written by hand, with the blocks and the document that they must produce. Other screens' tests use
//! `tests/golden` too: the same records must produce the same blocks everywhere.

#![allow(clippy::unwrap_used)]

use std::{collections::BTreeSet, fs, path::PathBuf};

use protocol::Record;
use transcript::{Transcript, export_markdown};

/// Each file's name without its extension, and its records.
fn journals() -> Vec<(String, Vec<Record>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let records =
            fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), records)
    };
    paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).map(read).collect()
}

#[test]
fn each_journal_gives_its_blocks_and_its_document() {
    for (name, records) in journals() {
        let transcript = Transcript::from_records(&records);
        insta::assert_json_snapshot!(format!("{name}.blocks"), transcript.blocks());
        insta::assert_snapshot!(format!("{name}.export"), export_markdown(transcript.blocks()));
    }
}

#[test]
fn the_journals_show_every_type_of_block() {
    let mut types = BTreeSet::new();
    for (_, records) in journals() {
        for block in Transcript::from_records(&records).blocks() {
            types.insert(serde_json::to_value(&block.kind).unwrap()["type"].as_str().unwrap().to_owned());
        }
    }
    let all = [
        "alert",
        "approval",
        "assistant",
        "child",
        "child_event",
        "compacted",
        "message",
        "peer",
        "person",
        "reasoning",
        "relation",
        "retry",
        "rewound",
        "run_end",
        "tool",
        "turn",
        "unknown",
    ];
    assert_eq!(types, all.map(str::to_owned).into());
}

#[test]
fn blocks_survive_json() {
    for (_, records) in journals() {
        let blocks = Transcript::from_records(&records).blocks().to_vec();
        let json = serde_json::to_string(&blocks).unwrap();
        assert_eq!(serde_json::from_str::<Vec<transcript::Block>>(&json).unwrap(), blocks);
    }
}

#[test]
fn state_and_usage_are_the_newest() {
    let (_, first) = journals().into_iter().find(|(name, _)| name.starts_with("a_run_from")).unwrap();
    let run = Transcript::from_records(&first);
    assert_eq!(run.state().unwrap().state, protocol::PodState::Idle);
    assert_eq!(run.usage().unwrap().context_used, 42_012);
    assert_eq!((run.first_seq().0, run.head().0), (1, 18));
    assert!(Transcript::from_records(&first[..10]).usage().is_none());
}
