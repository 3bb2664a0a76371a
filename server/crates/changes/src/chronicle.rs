//! The snapshots of one Pod's folders in order, and who changed what between them.
//!
//! A snapshot is taken before a call of the Pod begins and after it has ended. What differs between a snapshot during
//! which a call ran and the next one is the Pod's doing, as far as anybody can tell; the rest is somebody else's.

use std::collections::{BTreeMap, BTreeSet};

use protocol::{LeftOut, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use crate::tree::{Entry, Tree, differing};

/// One snapshot, as the difference from the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The first record that can know this state: the Pod's head before a call, the one after it when a call has ended.
    pub seq: Seq,
    pub at: Timestamp,
    /// A call is running from here on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
    /// What each path is from here on; `None`: gone. The first snapshot has every file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changed: BTreeMap<String, Option<Entry>>,
    /// What was not looked at, if that is other than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Vec<LeftOut>>,
}

/// All snapshots of one Pod, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Chronicle {
    snapshots: Vec<Snapshot>,
}

/// A file that a rewind changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undoing {
    /// What it becomes; `None`: it goes away.
    pub target: Option<Entry>,
    /// What it is now.
    pub present: Option<Entry>,
    /// Somebody else has changed it since the Pod first did, and that is in what it is now.
    pub is_others: bool,
}

/// What is known of a file that a rewind changes, while the snapshots are gone through.
struct Followed {
    /// What it was before the Pod first changed it, and what else it was without anything of somebody else's.
    own: Vec<Option<Entry>>,
    is_others: bool,
}

impl Followed {
    fn since(before: Option<&Entry>) -> Self {
        Self { own: vec![before.cloned()], is_others: false }
    }

    /// Takes in what it became.
    fn became(&mut self, now: Option<&Entry>, is_own: bool) {
        match is_own {
            false => self.is_others = true,
            // As when a rewind brought it back: nothing is left of what somebody else did.
            true if self.is_others => self.is_others = !self.own.iter().any(|own| is_same(own.as_ref(), now)),
            true => self.own.push(now.cloned()),
        }
    }
}

fn is_same(one: Option<&Entry>, other: Option<&Entry>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_same(other),
        (None, None) => true,
        _ => false,
    }
}

impl Chronicle {
    pub fn new(snapshots: Vec<Snapshot>) -> Self {
        Self { snapshots }
    }

    pub fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    pub fn get(&self, at: usize) -> Option<&Snapshot> {
        self.snapshots.get(at)
    }

    /// The index of the snapshot that shows the state at the beginning of a turn: the first one since its first record
    /// or, if there is none, the newest of all. `None` if there are no snapshots.
    pub fn at_turn(&self, begins: Seq) -> Option<usize> {
        let since = self.snapshots.iter().position(|snapshot| snapshot.seq >= begins);
        since.or(self.snapshots.len().checked_sub(1))
    }

    /// The state at a snapshot.
    pub fn tree(&self, at: usize) -> Tree {
        let mut tree = Tree::new();
        self.snapshots.iter().take(at + 1).for_each(|snapshot| apply(&mut tree, &snapshot.changed));
        tree
    }

    /// The state at the newest snapshot.
    pub fn latest(&self) -> Tree {
        self.tree(self.snapshots.len().saturating_sub(1))
    }

    /// Everything that a file has been, newest first.
    pub fn versions<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.snapshots.iter().rev().filter_map(move |snapshot| snapshot.changed.get(path)?.as_ref())
    }

    /// What the newest snapshot did not look at.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.snapshots.iter().rev().find_map(|snapshot| snapshot.left_out.clone()).unwrap_or_default()
    }

    /// The paths that the Pod has changed since a snapshot, if the folder is `now` as given.
    pub fn own(&self, from: usize, now: &Tree) -> BTreeSet<String> {
        let mut own = BTreeSet::new();
        for pair in self.snapshots.get(from..).unwrap_or_default().windows(2) {
            if pair[0].is_open {
                own.extend(pair[1].changed.keys().cloned());
            }
        }
        if self.snapshots.last().is_some_and(|last| last.is_open) {
            own.extend(differing(&self.latest(), now).into_keys().map(str::to_owned));
        }
        own
    }

    /// What undoing the Pod's changes after a record does, if the folder is `now` as given. What somebody else alone
    /// changed is left as it is.
    pub fn undoing(&self, to_seq: Seq, now: &Tree) -> BTreeMap<String, Undoing> {
        let mut files: BTreeMap<String, Followed> = BTreeMap::new();
        let mut tree = Tree::new();
        let mut step = |before: &Tree, path: &str, after: Option<&Entry>, is_own: bool, is_after: bool| {
            let before = before.get(path);
            if is_same(before, after) {
                return;
            }
            match files.get_mut(path) {
                Some(followed) => followed.became(after, is_own),
                None if is_own && is_after => {
                    let mut followed = Followed::since(before);
                    followed.became(after, true);
                    files.insert(path.to_owned(), followed);
                }
                None => (),
            }
        };
        let mut last: Option<&Snapshot> = None;
        for snapshot in &self.snapshots {
            if let Some(before) = last {
                for (path, after) in &snapshot.changed {
                    step(&tree, path, after.as_ref(), before.is_open, before.seq >= to_seq);
                }
            }
            apply(&mut tree, &snapshot.changed);
            last = Some(snapshot);
        }
        if let Some(last) = last {
            for (path, (_, after)) in differing(&tree, now) {
                step(&tree, path, after, last.is_open, last.seq >= to_seq);
            }
        }
        let undoing = files.into_iter().map(|(path, Followed { own, is_others })| {
            let (target, present) = (own.into_iter().next().flatten(), now.get(&path).cloned());
            (path, Undoing { target, present, is_others })
        });
        undoing.filter(|(_, file)| !is_same(file.target.as_ref(), file.present.as_ref())).collect()
    }

    /// What the newest call of the Pod that changed a file left of it; `None` if no call did.
    pub fn left_by_pod(&self, path: &str) -> Option<Option<&Entry>> {
        let pairs = self.snapshots.windows(2).rev().filter(|pair| pair[0].is_open);
        let mut left = pairs.filter_map(|pair| pair[1].changed.get(path));
        left.next().map(Option::as_ref)
    }
}

fn apply(tree: &mut Tree, changed: &BTreeMap<String, Option<Entry>>) {
    for (path, entry) in changed {
        match entry {
            Some(entry) => drop(tree.insert(path.clone(), entry.clone())),
            None => drop(tree.remove(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stamp, sha256};

    fn entry(content: &str) -> Entry {
        Entry {
            hash: Some(sha256(content.as_bytes())),
            kept_at: Some(0),
            size: content.len() as u64,
            is_link: false,
            is_executable: false,
            mode: None,
            stamp: Stamp { inode: 0, modified: 0, changed: 0 },
        }
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, content)| ((*path).to_owned(), entry(content))).collect()
    }

    /// A position, whether a call runs then, and the files.
    type State<'a> = (i64, bool, &'a [(&'a str, &'a str)]);

    /// Snapshots of these states.
    fn chronicle(states: &[State<'_>]) -> Chronicle {
        let mut before = Tree::new();
        let snapshots = states.iter().map(|(seq, is_open, files)| {
            let now = tree(files);
            let changed = differing(&before, &now).into_iter();
            let changed = changed.map(|(path, (_, entry))| (path.to_owned(), entry.cloned())).collect();
            before = now;
            Snapshot { seq: Seq(*seq), at: Timestamp::UNIX_EPOCH, is_open: *is_open, changed, left_out: None }
        });
        Chronicle::new(snapshots.collect())
    }

    /// A Pod writes a (5–6), somebody else writes b, the Pod writes a and c (15–16).
    fn story() -> Chronicle {
        chronicle(&[
            (5, true, &[("a", "0")]),
            (6, false, &[("a", "1")]),
            (15, true, &[("a", "1"), ("b", "other")]),
            (16, false, &[("a", "2"), ("b", "other"), ("c", "1")]),
        ])
    }

    #[test]
    fn a_turn_begins_with_its_first_snapshot_or_where_the_last_one_ended() {
        let story = story();
        assert_eq!(story.at_turn(Seq(3)), Some(0));
        assert_eq!(story.at_turn(Seq(10)), Some(2));
        assert_eq!(story.at_turn(Seq(20)), Some(3));
        assert_eq!(Chronicle::default().at_turn(Seq(1)), None);
        assert_eq!(story.tree(1), tree(&[("a", "1")]));
    }

    #[test]
    fn what_changed_while_a_call_ran_is_the_pods_and_the_rest_is_not() {
        let story = story();
        let own = |from| story.own(from, &story.latest()).into_iter().collect::<Vec<_>>();
        assert_eq!(own(0), ["a", "c"]);
        assert_eq!(own(2), ["a", "c"]);
        assert_eq!(own(3), Vec::<String>::new());
        // A call that is running, or was cut off, has changed whatever has changed since.
        let running = chronicle(&[(5, true, &[("a", "0")])]);
        assert_eq!(running.own(0, &tree(&[("a", "1")])).len(), 1);
    }

    #[test]
    fn undoing_brings_back_what_the_pod_changed_and_nothing_else() {
        let story = story();
        let now = story.latest();
        let undone = |to: i64| {
            let all = story.undoing(Seq(to), &now);
            all.into_iter().map(|(path, one)| (path, one.target.and_then(|one| one.hash))).collect::<Vec<_>>()
        };
        let hash = |content: &str| Some(sha256(content.as_bytes()));
        assert_eq!(undone(2), [("a".to_owned(), hash("0")), ("c".to_owned(), None)]);
        assert_eq!(undone(6), [("a".to_owned(), hash("1")), ("c".to_owned(), None)]);
        assert_eq!(undone(15), [("a".to_owned(), hash("1")), ("c".to_owned(), None)], "the call has not begun");
        assert_eq!(undone(16), []);
    }

    #[test]
    fn a_file_that_somebody_else_changed_after_the_pod_is_named_as_such() {
        let story = story();
        let mut now = story.latest();
        now.insert("c".to_owned(), entry("theirs"));
        now.insert("d".to_owned(), entry("theirs"));
        let undoing = story.undoing(Seq(2), &now);
        let others: Vec<_> = undoing.iter().map(|(path, one)| (path.as_str(), one.is_others)).collect();
        assert_eq!(others, [("a", false), ("c", true)]);
        // Whoever brought it back themselves has nothing to lose.
        now.remove("c");
        assert_eq!(story.undoing(Seq(2), &now).into_keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn what_a_rewind_brought_back_has_nothing_of_somebody_else_in_it() {
        // The Pod writes 1 and 2, somebody else writes theirs, and a rewind brings 1 back.
        let mut states: Vec<State<'_>> = vec![
            (5, true, &[("a", "0")]),
            (6, false, &[("a", "1")]),
            (15, true, &[("a", "1")]),
            (16, false, &[("a", "2")]),
            (20, true, &[("a", "theirs")]),
            (21, false, &[("a", "1")]),
        ];
        let is_others = |states: &[State<'_>]| {
            let chronicle = chronicle(states);
            chronicle.undoing(Seq(2), &chronicle.latest())["a"].is_others
        };
        assert!(!is_others(&states));
        assert!(is_others(&states[..5]), "it is still there");
        states[5].2 = &[("a", "theirs, and more")];
        assert!(is_others(&states), "the Pod has changed what somebody else wrote");
    }

    #[test]
    fn what_the_pod_left_of_a_file_is_known_and_what_others_did_is_not_its_own() {
        let story = story();
        let left = |path: &str| story.left_by_pod(path).map(|left| left.and_then(|entry| entry.hash.clone()));
        let hash = |content: &str| Some(sha256(content.as_bytes()));
        assert_eq!((left("a"), left("b"), left("c")), (Some(hash("2")), None, Some(hash("1"))));
        let gone = chronicle(&[(5, true, &[("a", "0")]), (6, false, &[])]);
        assert_eq!(gone.left_by_pod("a"), Some(None));
    }

    #[test]
    fn a_snapshot_survives_being_written() {
        for snapshot in story().snapshots {
            let line = serde_json::to_string(&snapshot).unwrap();
            assert_eq!(serde_json::from_str::<Snapshot>(&line).unwrap(), snapshot, "{line}");
        }
    }
}
