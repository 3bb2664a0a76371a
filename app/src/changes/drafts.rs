//! The comments that are being written.

use leptos::prelude::*;
use protocol::ReviewComment;

use super::{kept::Kept, merged::put};
use crate::{UiError, live};

/// The comments on one Pod's changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drafts {
    kept: Kept,
    /// All comments that are not sent yet, including the unfinished one.
    comments: RwSignal<Vec<ReviewComment>>,
    /// The path and the line of the unfinished comment.
    pub(crate) place: RwSignal<Option<(String, u64)>>,
    pub(crate) text: RwSignal<String>,
    /// The comment's former text.
    before: StoredValue<String>,
}

impl Drafts {
    /// The comments on the Pod at this address.
    pub(crate) fn of(address: Memo<String>, kept: Kept) -> Self {
        let drafts = Self {
            kept,
            comments: kept.comments,
            place: RwSignal::default(),
            text: RwSignal::default(),
            before: StoredValue::default(),
        };
        Effect::new(move |_| {
            address.track();
            drafts.place.set(None);
        });
        drafts
    }

    /// The finished comments. Reactive.
    pub(super) fn finished(self) -> Vec<ReviewComment> {
        let place = self.place.get();
        let is_finished = |comment: &&ReviewComment| !is_at(comment, place.as_ref());
        self.comments.with(|comments| comments.iter().filter(is_finished).cloned().collect())
    }

    /// Why the newest notes are only in this browser.
    pub(super) fn error(self) -> RwSignal<Option<UiError>> {
        self.kept.error
    }

    /// Begins a comment, or continues the one that is there.
    pub(super) fn begin(self, path: &str, line: u64) {
        let place = Some((path.to_owned(), line));
        let text = self.comments.with_untracked(|comments| {
            comments.iter().find(|comment| is_at(comment, place.as_ref())).map(|comment| comment.text.clone())
        });
        let text = text.unwrap_or_default();
        self.before.set_value(text.clone());
        self.text.set(text);
        self.place.set(place);
        live::focus_soon("comment");
    }

    /// Stores the unfinished text. It is kept like a finished comment, so that a closed page loses nothing.
    pub(super) fn write(self, text: String) {
        self.text.set(text.clone());
        self.keep(text);
    }

    fn keep(self, text: String) {
        let Some((path, line)) = self.place.get_untracked() else { return };
        self.comments.update(|comments| match text.trim().is_empty() {
            true => comments.retain(|comment| !is_at(comment, Some(&(path.clone(), line)))),
            false => put(comments, ReviewComment { path, line, text }),
        });
        self.kept.save();
    }

    /// Finishes the comment that is being written.
    pub(super) fn add(self) {
        self.keep(self.text.get_untracked());
        self.place.set(None);
    }

    /// Restores the comment's former text.
    pub(super) fn cancel(self) {
        self.keep(self.before.get_value());
        self.place.set(None);
    }

    /// Removes the comments that were sent. The server has already removed them.
    pub(super) fn sent(self, sent: &[ReviewComment]) {
        self.comments.try_update(|comments| comments.retain(|comment| !sent.contains(comment)));
        self.kept.save_after_sending();
    }

    /// How many comments a file has.
    pub(super) fn count(self, path: &str) -> usize {
        self.finished().iter().filter(|comment| comment.path == path).count()
    }
}

fn is_at(comment: &ReviewComment, place: Option<&(String, u64)>) -> bool {
    place.is_some_and(|(path, line)| comment.path == *path && comment.line == *line)
}
