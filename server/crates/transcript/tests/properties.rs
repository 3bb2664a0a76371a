//! However the records arrive, the screen is the same.

#![allow(clippy::unwrap_used)]

mod journal;

use jiff::Timestamp;
use journal::{Journal, journals};
use proptest::prelude::*;
use protocol::{Record, Seq};
use transcript::{Block, BlockKind, Change, Transcript};

fn in_order(records: &[Record]) -> Transcript {
    Transcript::from_records(records)
}

fn take(transcript: &mut Transcript, record: &Record) {
    transcript.apply(record);
}

/// The blocks without what folding cannot preserve: when a finished block's first chunk arrived.
fn without_beginnings(transcript: &Transcript) -> Vec<Block> {
    let mut blocks = transcript.blocks().to_vec();
    for block in &mut blocks {
        let is_streamed = match &mut block.kind {
            BlockKind::Reasoning { started_at, .. } => {
                *started_at = None;
                true
            }
            kind => matches!(kind, BlockKind::Assistant { .. } | BlockKind::Tool { .. }),
        };
        if is_streamed {
            (block.seq, block.at) = (Seq(0), Timestamp::UNIX_EPOCH);
        }
    }
    blocks
}

/// Loads older pages of the given sizes until there are no more.
fn page_back(transcript: &mut Transcript, records: &[Record], sizes: &[usize]) {
    let mut sizes = sizes.iter().cycle();
    loop {
        let older = records.partition_point(|record| record.seq < transcript.first_seq());
        if older == 0 {
            return;
        }
        let size = *sizes.next().unwrap();
        transcript.prepend(&records[older.saturating_sub(size)..older]);
    }
}

fn cut(records: &[Record], at: prop::sample::Index) -> usize {
    at.index(records.len() + 1)
}

fn some_journal() -> impl Strategy<Value = Journal> {
    journals().prop_filter("has records", |journal| !journal.records.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn resent_records_change_nothing(
        journal in some_journal(),
        jumps in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..8),
    ) {
        let records = &journal.records;
        let mut transcript = Transcript::default();
        for (from, to) in jumps {
            // A cursor is never ahead of what the reader has.
            let seen = records.partition_point(|record| record.seq <= transcript.head());
            let from = from.index(seen + 1);
            let to = from + to.index(records.len() - from + 1);
            records[from..to].iter().for_each(|record| take(&mut transcript, record));
        }
        records.iter().for_each(|record| take(&mut transcript, record));
        prop_assert_eq!(transcript, in_order(records));
    }

    #[test]
    fn a_tail_with_its_older_pages_is_the_whole(
        journal in some_journal(), start in any::<prop::sample::Index>(), end in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1usize..30, 1..5),
    ) {
        let records = &journal.records;
        let start = start.index(records.len());
        let end = start + 1 + end.index(records.len() - start);
        let mut transcript = in_order(&records[start..end]);
        page_back(&mut transcript, records, &sizes);
        prop_assert_eq!(&transcript, &in_order(&records[..end]));
        records[end..].iter().for_each(|record| take(&mut transcript, record));
        prop_assert_eq!(transcript, in_order(records));
    }

    #[test]
    fn pages_may_come_while_records_do(
        journal in some_journal(), start in any::<prop::sample::Index>(),
        moves in prop::collection::vec(any::<(bool, u8)>(), 0..20),
    ) {
        let records = &journal.records;
        let mut oldest = start.index(records.len());
        let mut next = oldest + 1;
        let mut transcript = in_order(&records[oldest..next]);
        for (is_older, count) in moves {
            let count = usize::from(count) % 12 + 1;
            if is_older {
                let from = oldest.saturating_sub(count);
                transcript.prepend(&records[from..oldest]);
                oldest = from;
            } else {
                let to = (next + count).min(records.len());
                records[next..to].iter().for_each(|record| take(&mut transcript, record));
                next = to;
            }
        }
        transcript.prepend(&records[..oldest]);
        records[next..].iter().for_each(|record| take(&mut transcript, record));
        prop_assert_eq!(transcript, in_order(records));
    }

    #[test]
    fn folded_chunks_are_not_missed(
        journal in some_journal(), mask in any::<u64>(), cursor in any::<prop::sample::Index>(),
    ) {
        let folded = journal.folded(mask);
        let whole = without_beginnings(&in_order(&journal.records));
        prop_assert_eq!(&without_beginnings(&in_order(&folded)), &whole);

        // A reader that saw the chunks up to its cursor, and comes back after the fold.
        let seen = cut(&journal.records, cursor);
        let mut transcript = in_order(&journal.records[..seen]);
        folded.iter().for_each(|record| take(&mut transcript, record));
        prop_assert_eq!(&without_beginnings(&transcript), &whole);
    }

    #[test]
    fn a_folded_page_fits_before_an_unfolded_tail(
        journal in some_journal(), mask in any::<u64>(), start in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1usize..30, 1..5),
    ) {
        let start = start.index(journal.records.len());
        let mut transcript = in_order(&journal.records[start..]);
        page_back(&mut transcript, &journal.folded(mask), &sizes);
        prop_assert_eq!(without_beginnings(&transcript), without_beginnings(&in_order(&journal.records)));
    }

    #[test]
    fn a_screen_that_draws_only_what_changed_shows_all(
        journal in some_journal(), mask in any::<u64>(), start in any::<prop::sample::Index>(),
    ) {
        let records = journal.folded(mask);
        let start = start.index(records.len() + 1);
        let mut transcript = Transcript::default();
        let mut screen: Vec<Block> = Vec::new();
        for record in &records[start..] {
            draw(&mut screen, transcript.apply(record), transcript.blocks());
            prop_assert_eq!(&screen[..], transcript.blocks());
        }
        draw(&mut screen, transcript.prepend(&records[..start]), transcript.blocks());
        prop_assert_eq!(&screen[..], transcript.blocks());
    }

    #[test]
    fn every_block_has_its_own_id_and_none_streams_after_its_run(journal in some_journal()) {
        let transcript = in_order(&journal.records);
        let ids: std::collections::HashSet<_> = transcript.blocks().iter().map(|block| &block.id).collect();
        prop_assert_eq!(ids.len(), transcript.blocks().len());
        let ended: std::collections::HashSet<_> = transcript
            .blocks()
            .iter()
            .filter(|block| matches!(block.kind, BlockKind::RunEnd { .. }))
            .map(|block| block.run_id.clone())
            .collect();
        for block in transcript.blocks() {
            let is_question = matches!(block.kind, BlockKind::Approval { .. });
            prop_assert!(!block.is_live() || is_question || !ended.contains(&block.run_id), "{block:?}");
        }
    }
}

fn draw(screen: &mut Vec<Block>, change: Change, blocks: &[Block]) {
    match change {
        Change::None => (),
        Change::Changed { index } => screen[index] = blocks[index].clone(),
        Change::Added { index } => screen.insert(index, blocks[index].clone()),
        Change::Several { from } => {
            screen.truncate(from);
            screen.extend_from_slice(&blocks[from..]);
        }
    }
}
