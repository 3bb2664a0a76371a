//! Compares what a viewer was shown with the journal after the kill.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The violations, and how much was checked.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) shown: usize,
    pub(crate) lost: Vec<String>,
    pub(crate) doubled: Vec<String>,
}

impl Verdict {
    pub(crate) fn add(&mut self, other: Self) {
        self.shown += other.shown;
        self.lost.extend(other.lost);
        self.doubled.extend(other.doubled);
    }
}

/// Every record shown is in the journal: unchanged, or, for a chunk, as the beginning of its block's text.
pub(crate) fn held_against(name: &str, shown: &[Value], journal: &[Value]) -> Verdict {
    let mut verdict = Verdict { shown: shown.len(), ..Verdict::default() };
    let kept: BTreeMap<i64, &Value> = journal.iter().map(|record| (seq(record), record)).collect();
    for record in shown.iter().filter(|record| chunk_of(record).is_none()) {
        match kept.get(&seq(record)) {
            Some(kept) if *kept == record => (),
            kept => verdict.lost.push(format!("{name}: {record} was shown; the journal has {kept:?}")),
        }
    }
    let whole = texts(journal);
    for (block, text) in texts(shown) {
        let kept = whole.get(&block).map(String::as_str).unwrap_or_default();
        if !kept.starts_with(text.trim_end()) {
            let (text, kept) = (end_of(&text), end_of(kept));
            verdict.lost.push(format!("{name}: {block} showed …{text:?}; the journal has …{kept:?}"));
        }
    }
    verdict
}

/// What follows a cursor begins after it and repeats nothing.
pub(crate) fn goes_on(name: &str, last: i64, resumed: &[Value]) -> Verdict {
    let mut verdict = Verdict { shown: resumed.len(), ..Verdict::default() };
    let mut before = last;
    for record in resumed {
        if seq(record) <= before {
            verdict.doubled.push(format!("{name}: {record} came again after {before}"));
        }
        before = before.max(seq(record));
    }
    verdict
}

/// Seqs that occur twice in a journal.
pub(crate) fn doubles(name: &str, journal: &[Value]) -> Verdict {
    let mut seen = BTreeSet::new();
    let again = journal.iter().filter(|record| !seen.insert(seq(record)));
    Verdict { doubled: again.map(|record| format!("{name}: {record} stands twice")).collect(), ..Verdict::default() }
}

pub(crate) fn seq(record: &Value) -> i64 {
    record["seq"].as_i64().unwrap_or_default()
}

/// How many records of this kind have this text in that field.
pub(crate) fn count(journal: &[Value], kind: &str, field: &str, text: &str) -> usize {
    journal.iter().filter(|record| record["event"]["kind"] == kind && record["event"][field] == text).count()
}

/// The block of a chunk, which its finished record replaces.
fn chunk_of(record: &Value) -> Option<&str> {
    let event = &record["event"];
    event["kind"].as_str().filter(|kind| kind.ends_with("_chunk"))?;
    event["block"].as_str()
}

/// Text by block. A finished record replaces the chunks before it; of arguments only their presence is checked.
fn texts(records: &[Value]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for event in records.iter().map(|record| &record["event"]) {
        let (Some(block), Some(kind)) = (event["block"].as_str(), event["kind"].as_str()) else { continue };
        let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
        match kind {
            "text_chunk" | "reasoning_chunk" | "tool_output_chunk" => {
                texts.entry(block.to_owned()).or_default().push_str(&text("text"));
            }
            "message_finished" | "reasoning_finished" => drop(texts.insert(block.to_owned(), text("text"))),
            "tool_finished" => drop(texts.insert(block.to_owned(), text("content"))),
            _ => (),
        }
    }
    texts
}

fn end_of(text: &str) -> &str {
    let from = text.char_indices().rev().nth(60).map_or(0, |(at, _)| at);
    &text[from..]
}
