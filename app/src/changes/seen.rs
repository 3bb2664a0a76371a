//! Which files you have seen, by their version: a file that changes again is no longer seen.

use std::collections::BTreeSet;

use leptos::prelude::*;
use protocol::FileChange;

use crate::{codec, live, live::Memory};

/// The most marks that are kept.
const MARKS_MAX: usize = 2_000;

/// The marks of one Pod.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    name: Memo<String>,
    marks: RwSignal<BTreeSet<String>>,
}

fn mark(file: &FileChange) -> String {
    format!("{} {}", file.version, file.path)
}

impl Seen {
    pub(crate) fn of(address: Memo<String>) -> Self {
        let name = Memo::new(move |_| address.with(|address| format!("seen:{address}")));
        let seen = Self { name, marks: RwSignal::default() };
        Effect::new(move |_| {
            let kept = seen.name.with(|name| live::kept(Memory::Local, name));
            let kept: Vec<String> = kept.and_then(|kept| codec::read(&kept).ok()).unwrap_or_default();
            seen.marks.set(kept.into_iter().collect());
        });
        seen
    }

    pub(super) fn has(self, file: &FileChange) -> bool {
        self.marks.with(|marks| marks.contains(&mark(file)))
    }

    pub(super) fn flip(self, file: &FileChange) {
        let mark = mark(file);
        self.marks.update(|marks| {
            if !marks.remove(&mark) {
                if marks.len() >= MARKS_MAX {
                    marks.clear();
                }
                marks.insert(mark);
            }
        });
        let marks: Vec<String> = self.marks.with_untracked(|marks| marks.iter().cloned().collect());
        let json = serde_json::to_string(&marks).ok();
        self.name.with_untracked(|name| live::remember(Memory::Local, name, json.as_deref()));
    }
}
