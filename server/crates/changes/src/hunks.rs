//! The difference of two texts as hunks, and the text without one of them.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use protocol::Hunk;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::sha256;

/// How many unchanged lines surround a change.
const CONTEXT_LINES: usize = 3;
/// After this time a difference gets coarser, but stays correct.
const TIME_MAX: Duration = Duration::from_millis(500);
/// How many digits of its hash name a hunk.
const ID_CHARS: usize = 16;
/// What a unified diff says after a last line without a line break.
const NO_BREAK: &str = "\\ No newline at end of file";

/// How two texts differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compared {
    pub hunks: Vec<Hunk>,
    /// Lines.
    pub added: u64,
    pub removed: u64,
}

/// Compares two texts line by line.
pub fn compare(old: &str, new: &str) -> Compared {
    let mut compared = Compared::default();
    for part in Parts::of(old, new).all() {
        compared.added += part.added;
        compared.removed += part.removed;
        compared.hunks.push(part.hunk);
    }
    compared
}

/// The new text with the lines of one hunk as they were in the old one, byte for byte; `None` if there is no such hunk.
pub fn reverted(old: &str, new: &str, id: &str) -> Option<String> {
    let parts = Parts::of(old, new);
    let part = parts.all().find(|part| part.hunk.id == id)?;
    let pieces = [&parts.new[..part.place.1.start], &parts.old[part.place.0.clone()], &parts.new[part.place.1.end..]];
    Some(pieces.concat().concat())
}

/// Two texts as lines, with their breaks.
struct Parts<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

/// A hunk, and which lines of both texts it spans.
struct Part {
    hunk: Hunk,
    place: (Range<usize>, Range<usize>),
    added: u64,
    removed: u64,
}

impl<'a> Parts<'a> {
    fn of(old: &'a str, new: &'a str) -> Self {
        Self { old: old.split_inclusive('\n').collect(), new: new.split_inclusive('\n').collect() }
    }

    fn all(&self) -> impl Iterator<Item = Part> {
        let deadline = Instant::now().checked_add(TIME_MAX);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &self.old, &self.new, deadline);
        group_diff_ops(ops, CONTEXT_LINES).into_iter().filter_map(|group| self.part(&group))
    }

    fn part(&self, group: &[DiffOp]) -> Option<Part> {
        let (first, last) = (group.first()?, group.last()?);
        let place = (first.old_range().start..last.old_range().end, first.new_range().start..last.new_range().end);
        let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
        for op in group {
            if op.tag() == DiffTag::Equal {
                self.old[op.old_range()].iter().for_each(|line| put(&mut lines, ' ', line));
                continue;
            }
            self.old[op.old_range()].iter().for_each(|line| put(&mut lines, '-', line));
            self.new[op.new_range()].iter().for_each(|line| put(&mut lines, '+', line));
            removed += op.old_range().len() as u64;
            added += op.new_range().len() as u64;
        }
        let id = id_of(place.0.start, &lines);
        let (old_start, new_start) = (start(&place.0), start(&place.1));
        Some(Part { hunk: Hunk { id, old_start, new_start, lines }, place, added, removed })
    }
}

/// A line's number as a unified diff has it: of the first line or, if there is none, of the one before.
fn start(lines: &Range<usize>) -> u64 {
    (if lines.is_empty() { lines.start } else { lines.start + 1 }) as u64
}

fn put(lines: &mut Vec<String>, sign: char, line: &str) {
    let text = line.strip_suffix('\n');
    lines.push(format!("{sign}{}", text.unwrap_or(line)));
    if text.is_none() {
        lines.push(NO_BREAK.to_owned());
    }
}

/// Stays the same while other places of the new text change, because the old text does not: no two hunks begin at the
/// same line of it.
fn id_of(old_start: usize, lines: &[String]) -> String {
    let mut id = sha256(format!("{old_start}\n{}", lines.join("\n")).as_bytes());
    id.truncate(ID_CHARS);
    id
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(count: usize) -> String {
        (1..=count).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn hunks_read_like_a_unified_diff() {
        let old = numbered(9);
        let compared = compare(&old, &old.replace("5\n", "five\nfünf\n"));
        assert_eq!((compared.added, compared.removed), (2, 1));
        let [hunk] = &compared.hunks[..] else { panic!("{compared:?}") };
        assert_eq!((hunk.old_start, hunk.new_start), (2, 2));
        assert_eq!(hunk.lines, [" 2", " 3", " 4", "-5", "+five", "+fünf", " 6", " 7", " 8"]);
        let made = compare("", "a\nb");
        assert_eq!((made.hunks[0].old_start, made.hunks[0].new_start), (0, 1));
        assert_eq!(made.hunks[0].lines, ["+a", "+b", NO_BREAK]);
        assert_eq!(compare("a\n", "").hunks[0].new_start, 0);
        assert_eq!(compare("a\r\n", "a\n").hunks[0].lines, ["-a\r", "+a"]);
    }

    #[test]
    fn a_hunk_keeps_its_id_while_other_places_change() {
        let old = numbered(60);
        let of = |new: &str| compare(&old, new).hunks.into_iter().map(|hunk| hunk.id).collect::<Vec<_>>();
        let late = of(&old.replace("\n50\n", "\nfifty\n"));
        let both = of(&old.replace("\n50\n", "\nfifty\n").replace("\n10\n", "\nten\nmore\nlines\n"));
        assert_eq!(both[1..], late[..]);
        let other = of(&old.replace("\n50\n", "\nFIFTY\n"));
        assert_ne!(other, late);
    }

    #[test]
    fn the_same_change_at_two_places_is_two_hunks_and_one_revert_takes_one_back() {
        let old = "x\n1\n2\n3\n4\n5\n6\n7\n".repeat(4);
        let new = old.replace("x\n", "y\n");
        let hunks = compare(&old, &new).hunks;
        assert_eq!(hunks.len(), 4);
        let once = reverted(&old, &new, &hunks[1].id).unwrap();
        assert_eq!(once.matches("y\n").count(), 3);
        assert_eq!(reverted(&old, &once, &hunks[1].id), None, "it is gone, and no other hunk has taken its id");
    }

    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof![Just("a"), Just("b"), Just(""), Just("}"), Just("\r"), Just("longer line")];
        (proptest::collection::vec(line, 0..40), any::<bool>())
            .prop_map(|(lines, ends)| lines.join("\n") + if ends { "\n" } else { "" })
    }

    proptest! {
        #[test]
        fn reverting_every_hunk_in_any_order_gives_the_old_bytes(old in text(), new in text(), picks in proptest::collection::vec(any::<usize>(), 40)) {
            let mut present = new;
            for pick in picks {
                let Compared { hunks, added, removed } = compare(&old, &present);
                if hunks.is_empty() {
                    break;
                }
                let hunk = &hunks[pick % hunks.len()];
                present = reverted(&old, &present, &hunk.id).unwrap();
                let rest = compare(&old, &present);
                prop_assert!(rest.added + rest.removed < added + removed);
            }
            prop_assert_eq!(&present, &old);
        }

        #[test]
        fn a_text_has_no_hunk_with_itself(text in text()) {
            prop_assert_eq!(compare(&text, &text), Compared::default());
        }
    }
}
