//! The comments that are being written, and which files were seen. Kept in this browser, so that a reload or a closed
//! page loses nothing.

use leptos::prelude::*;
use protocol::ReviewComment;

use crate::{codec, live, live::Memory};

/// The comments on one Pod's changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drafts {
    name: Memo<String>,
    /// Finished ones, not sent yet.
    pub(crate) comments: RwSignal<Vec<ReviewComment>>,
    /// Where one is being written: the path and the line.
    pub(crate) place: RwSignal<Option<(String, u64)>>,
    pub(crate) text: RwSignal<String>,
}

impl Drafts {
    /// Those that this browser has kept for the Pod at this address.
    pub(crate) fn of(address: Memo<String>) -> Self {
        let drafts = Self {
            name: Memo::new(move |_| address.with(|address| format!("review:{address}"))),
            comments: RwSignal::default(),
            place: RwSignal::default(),
            text: RwSignal::default(),
        };
        // After the page is taken over: the server does not know them.
        Effect::new(move |_| {
            let kept = drafts.name.with(|name| live::kept(Memory::Local, name));
            drafts.comments.set(kept.and_then(|kept| codec::read(&kept).ok()).unwrap_or_default());
            drafts.place.set(None);
        });
        drafts
    }

    fn keep(self) {
        let json = self.comments.with_untracked(|comments| serde_json::to_string(comments).ok());
        let json = json.filter(|_| self.comments.with_untracked(|comments| !comments.is_empty()));
        self.name.with_untracked(|name| live::remember(Memory::Local, name, json.as_deref()));
    }

    /// Begins a comment, or goes on with the one that is there.
    pub(super) fn begin(self, path: &str, line: u64) {
        let is_there = |comment: &ReviewComment| comment.path == path && comment.line == line;
        let mut text = String::new();
        self.comments.update(|comments| {
            if let Some(at) = comments.iter().position(is_there) {
                text = comments.remove(at).text;
            }
        });
        self.keep();
        self.text.set(text);
        self.place.set(Some((path.to_owned(), line)));
        live::focus_soon("comment");
    }

    /// Finishes the comment that is being written.
    pub(super) fn add(self) {
        let text = self.text.get_untracked();
        let Some((path, line)) = self.place.get_untracked() else { return };
        self.place.set(None);
        if !text.trim().is_empty() {
            self.comments.update(|comments| {
                comments.push(ReviewComment { path, line, text });
                comments.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
            });
        }
        self.keep();
    }

    pub(super) fn cancel(self) {
        self.place.set(None);
    }

    /// After they were sent.
    pub(super) fn clear(self) {
        self.comments.set(Vec::new());
        self.keep();
    }

    /// How many comments a file has.
    pub(super) fn count(self, path: &str) -> usize {
        self.comments.with(|comments| comments.iter().filter(|comment| comment.path == path).count())
    }
}
