//! Which files you have seen, by their version: a file that changes again is no longer seen.

use leptos::prelude::*;
use protocol::{FileChange, SEEN_MAX};

use super::kept::Kept;

/// The marks of one Pod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen(pub(crate) Kept);

fn mark(file: &FileChange) -> String {
    format!("{} {}", file.version, file.path)
}

impl Seen {
    pub(super) fn has(self, file: &FileChange) -> bool {
        self.0.seen.with(|marks| marks.contains(&mark(file)))
    }

    pub(super) fn flip(self, file: &FileChange) {
        let mark = mark(file);
        self.0.seen.update(|marks| match marks.iter().position(|known| *known == mark) {
            Some(at) => drop(marks.remove(at)),
            None => {
                // Marks of this file's other versions say nothing any more.
                let is_of_file = |known: &str| known.split_once(' ').is_some_and(|(_, path)| path == file.path);
                marks.retain(|known| !is_of_file(known));
                marks.push(mark);
                let surplus = marks.len().saturating_sub(SEEN_MAX);
                marks.drain(..surplus);
            }
        });
        self.0.save();
    }
}
