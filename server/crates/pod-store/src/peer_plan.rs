//! The changes of a group's batches to pairs and messages, as lines of one kind each, so that one statement covers
//! many.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use jiff::Timestamp;
use protocol::ReceiptState;

use crate::{MessageChange, NewMessage, PeerChange, PodKey, words::without_nul};

/// Two Pods, the one with the smaller key first, whichever was named first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair {
    pub(crate) low: PodKey,
    pub(crate) high: PodKey,
}

impl Pair {
    pub(crate) fn of(a: PodKey, b: PodKey) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }
}

/// Consecutive changes of one kind.
#[derive(Debug)]
pub(crate) enum PeerLines<'a> {
    Link(Vec<LinkedLine<'a>>),
    Unlink(Vec<Pair>),
    /// The latest of each pair: level and time.
    Pace(BTreeMap<Pair, (u32, Timestamp)>),
    Request(Vec<RequestLine<'a>>),
    /// Ids.
    RequestDone(Vec<&'a str>),
}

/// A new pair of peers. Texts are free of NUL.
#[derive(Debug)]
pub(crate) struct LinkedLine<'a> {
    pub(crate) pair: Pair,
    pub(crate) by: Cow<'a, str>,
    pub(crate) at: Timestamp,
}

/// Texts are free of NUL.
#[derive(Debug)]
pub(crate) struct RequestLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) pair: Pair,
    pub(crate) asker: PodKey,
    pub(crate) note: Option<Cow<'a, str>>,
    pub(crate) by: Cow<'a, str>,
    pub(crate) at: Timestamp,
    pub(crate) expires_at: Timestamp,
}

/// The new state of one message. All changes of one message in a group are merged into one line; the later value wins.
#[derive(Debug)]
pub(crate) struct ReceiptLine<'a> {
    pub(crate) id: &'a str,
    pub(crate) state: ReceiptState,
    pub(crate) turn: Option<u64>,
    pub(crate) woke: bool,
    pub(crate) at: Timestamp,
}

impl<'a> PeerLines<'a> {
    /// In order: a change to a pair may depend on an earlier one.
    pub(crate) fn of(changes: impl Iterator<Item = &'a PeerChange>) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for change in changes {
            let line = Self::one(change);
            match runs.last_mut() {
                Some(run) => runs_on(run, line).into_iter().for_each(|other| runs.push(other)),
                None => runs.push(line),
            }
        }
        runs
    }

    fn one(change: &'a PeerChange) -> Self {
        match change {
            PeerChange::Link { a, b, by, at } => {
                Self::Link(vec![LinkedLine { pair: Pair::of(*a, *b), by: without_nul(by), at: *at }])
            }
            PeerChange::Unlink { a, b } => Self::Unlink(vec![Pair::of(*a, *b)]),
            PeerChange::Pace { a, b, level, at } => Self::Pace([(Pair::of(*a, *b), (*level, *at))].into()),
            PeerChange::Request(request) => Self::Request(vec![RequestLine {
                id: &request.id,
                pair: Pair::of(request.from, request.to),
                asker: request.from,
                note: request.note.as_deref().map(without_nul),
                by: without_nul(&request.by),
                at: request.at,
                expires_at: request.expires_at,
            }]),
            PeerChange::RequestDone { id } => Self::RequestDone(vec![id]),
        }
    }
}

/// Adds a line of the same kind to a run, or returns it.
fn runs_on<'a>(run: &mut PeerLines<'a>, line: PeerLines<'a>) -> Option<PeerLines<'a>> {
    match (run, line) {
        (PeerLines::Link(run), PeerLines::Link(line)) => run.extend(line),
        (PeerLines::Unlink(run), PeerLines::Unlink(line)) => run.extend(line),
        (PeerLines::Pace(run), PeerLines::Pace(line)) => run.extend(line),
        (PeerLines::Request(run), PeerLines::Request(line)) => run.extend(line),
        (PeerLines::RequestDone(run), PeerLines::RequestDone(line)) => run.extend(line),
        (_, other) => return Some(other),
    }
    None
}

/// New messages, and the new states of existing ones. New ones are written first: a message from one batch may be read
/// in a later one of the same group.
#[derive(Debug, Default)]
pub(crate) struct MessageLines<'a> {
    pub(crate) put: Vec<&'a NewMessage>,
    pub(crate) receipts: Vec<ReceiptLine<'a>>,
}

impl<'a> MessageLines<'a> {
    pub(crate) fn of(changes: impl Iterator<Item = &'a MessageChange>) -> Self {
        let mut lines = Self::default();
        let mut line_of_id: HashMap<&str, usize> = HashMap::new();
        for change in changes {
            match change {
                MessageChange::Put(message) => lines.put.push(message),
                MessageChange::State { id, state, turn, woke, at } => {
                    let line = ReceiptLine { id, state: *state, turn: *turn, woke: *woke, at: *at };
                    let index = *line_of_id.entry(id).or_insert(lines.receipts.len());
                    match lines.receipts.get_mut(index) {
                        Some(before) => before.overlay(line),
                        None => lines.receipts.push(line),
                    }
                }
            }
        }
        lines
    }
}

impl<'a> ReceiptLine<'a> {
    fn overlay(&mut self, later: Self) {
        *self = Self { turn: later.turn.or(self.turn), woke: self.woke || later.woke, ..later };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn pace(a: i64, b: i64, level: u32) -> PeerChange {
        PeerChange::Pace { a: PodKey(a), b: PodKey(b), level, at: AT }
    }

    #[test]
    fn a_pair_is_the_same_from_both_sides() {
        assert_eq!(Pair::of(PodKey(7), PodKey(3)), Pair::of(PodKey(3), PodKey(7)));
        assert_eq!(Pair::of(PodKey(7), PodKey(3)).low, PodKey(3));
    }

    #[test]
    fn changes_of_one_kind_go_together_and_keep_their_place() {
        let link = |a, b| PeerChange::Link { a: PodKey(a), b: PodKey(b), by: "a\0b".to_owned(), at: AT };
        let unlink = PeerChange::Unlink { a: PodKey(1), b: PodKey(2) };
        let changes = [pace(1, 2, 5), pace(2, 1, 7), pace(1, 3, 9), link(1, 2), link(3, 2), unlink, link(2, 1)];
        let runs = PeerLines::of(changes.iter());
        let sizes: Vec<_> = runs
            .iter()
            .map(|run| match run {
                PeerLines::Pace(lines) => ("pace", lines.len()),
                PeerLines::Link(lines) => ("link", lines.len()),
                PeerLines::Unlink(lines) => ("unlink", lines.len()),
                PeerLines::Request(_) | PeerLines::RequestDone(_) => panic!("nobody asked"),
            })
            .collect();
        assert_eq!(sizes, [("pace", 2), ("link", 2), ("unlink", 1), ("link", 1)]);
        let PeerLines::Pace(paces) = &runs[0] else { panic!() };
        assert_eq!(paces[&Pair::of(PodKey(1), PodKey(2))], (7, AT));
        let PeerLines::Link(links) = &runs[1] else { panic!() };
        assert_eq!(links[0].by, "a b");
    }

    #[test]
    fn the_later_word_on_a_message_wins_and_forgets_neither_turn_nor_waking() {
        let state = |state, turn, woke, second| MessageChange::State {
            id: "m".to_owned(),
            state,
            turn,
            woke,
            at: Timestamp::from_second(second).unwrap(),
        };
        let changes = [
            state(ReceiptState::Stored, None, true, 1),
            state(ReceiptState::Read, Some(4), false, 2),
            state(ReceiptState::Answered, None, false, 3),
        ];
        let lines = MessageLines::of(changes.iter());
        let line = &lines.receipts[0];
        assert_eq!((lines.put.len(), lines.receipts.len()), (0, 1));
        assert_eq!((line.state, line.turn, line.woke), (ReceiptState::Answered, Some(4), true));
        assert_eq!(line.at, Timestamp::from_second(3).unwrap());
    }
}
