//! Draws the journals that the browser's transcript is tested with: the same blocks in the same order.

use std::{fs, path::PathBuf};

use ratatui::text::Line;
use transcript::{BlockKind, Transcript, group::groups};

use super::*;
use crate::{
    composer::Composer,
    model::{Detail, OpenPod},
    view::Rows,
};

/// Each journal's name, and its records.
fn journals() -> Vec<(String, Vec<Record>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../transcript/tests/golden");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), records)
    };
    paths.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).map(read).collect()
}

fn opened(records: &[Record]) -> OpenPod {
    let mut open = OpenPod::new(address("ada"), Composer::default());
    open.begin(records);
    open
}

fn drawn(open: &OpenPod, detail: Detail, columns: u16) -> String {
    let rows = Rows::new(open, detail, columns);
    let lines = (0..rows.len()).flat_map(|row| rows.lines(row).iter().map(Line::to_string).collect::<Vec<_>>());
    lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_journal_is_drawn_in_every_detail() {
    for (name, records) in journals() {
        let open = opened(&records);
        let details = [Detail::Brief, Detail::Normal, Detail::Full];
        let all = details.map(|detail| format!("== {}\n{}", detail.word(), drawn(&open, detail, 80)));
        insta::assert_snapshot!(name, all.join("\n\n"));
    }
}

#[test]
fn the_rows_are_the_blocks_of_the_shared_transcript_in_its_order() {
    for (name, records) in journals() {
        let open = opened(&records);
        let shared = Transcript::from_records(&records);
        assert_eq!(open.groups, groups(shared.blocks()), "{name}");
        let rows = Rows::new(&open, Detail::Full, 80);
        let of_rows: Vec<_> = (0..rows.len()).flat_map(|row| rows.blocks(row)).map(|block| &block.id).collect();
        let of_blocks: Vec<_> =
            shared.blocks().iter().filter(|block| !block.is_empty()).map(|block| &block.id).collect();
        assert_eq!(of_rows, of_blocks, "{name}");
        // At full detail each row draws something.
        for row in 0..rows.len() {
            assert!(!rows.lines(row).is_empty(), "{name}: row {row} draws nothing");
        }
    }
}

/// One by one, in two parts, or all at once: the same screen.
#[test]
fn how_records_come_does_not_matter_to_what_is_drawn() {
    for (name, records) in journals() {
        let whole = drawn(&opened(&records), Detail::Normal, 80);
        let mut single = opened(&[]);
        for record in &records {
            single.apply(std::slice::from_ref(record));
            // Cached lines must not survive a change.
            drawn(&single, Detail::Normal, 80);
        }
        assert_eq!(drawn(&single, Detail::Normal, 80), whole, "{name}, one by one");
        for cut in 1..records.len() {
            let mut halves = opened(&records[cut..]);
            drawn(&halves, Detail::Normal, 80);
            halves.prepend(&records[..cut]);
            assert_eq!(drawn(&halves, Detail::Normal, 80), whole, "{name}, cut at {cut}");
        }
    }
}

#[test]
fn no_line_is_wider_than_the_screen() {
    for (name, records) in journals() {
        let open = opened(&records);
        for detail in [Detail::Brief, Detail::Normal, Detail::Full] {
            for columns in [12, 40, 80] {
                let rows = Rows::new(&open, detail, columns);
                for row in 0..rows.len() {
                    for line in rows.lines(row).iter() {
                        assert!(line.width() <= usize::from(columns), "{name} at {columns}: {line:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn words_of_people_and_models_are_there_in_every_detail() {
    for (name, records) in journals() {
        let open = opened(&records);
        for detail in [Detail::Brief, Detail::Normal, Detail::Full] {
            let screen = drawn(&open, detail, 4_000);
            for block in open.transcript.blocks() {
                if let BlockKind::Peer { text, .. } = &block.kind {
                    let words = text.split_whitespace().next().unwrap_or_default();
                    assert!(screen.contains(words), "{name}: no {words:?}");
                }
            }
        }
    }
}
