//! What the server keeps of a review: the comments that are not sent yet, and which files were seen. Until the server has
//! a change, it is also in this browser, so that a lost connection loses nothing.

use leptos::{prelude::*, task::spawn_local};
use protocol::{ErrorCode, PodRef, ReviewComment, ReviewDrafts};

use super::merged::merged;
use crate::{
    UiError, codec,
    console::fresh_command,
    live::{self, Memory},
    server_fns::{keep_drafts, review_drafts},
};

/// How long changes are collected before they are sent, in milliseconds, so that not every letter is sent.
const COLLECTING_MS: u32 = 800;

/// The notes on one Pod's changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    /// The name in this browser's storage: what the server had, and what is noted here, as long as they differ.
    name: Memo<String>,
    pub(super) comments: RwSignal<Vec<ReviewComment>>,
    pub(super) seen: RwSignal<Vec<String>>,
    /// Why the newest notes are only in this browser.
    pub(super) error: RwSignal<Option<UiError>>,
    /// The server's state, as last read or written here.
    base: StoredValue<ReviewDrafts>,
    /// `None` until the page of this Pod has been read.
    pod: StoredValue<Option<PodRef>>,
    is_sending: StoredValue<bool>,
    /// The server has changed what it has: it is read before anything is sent.
    is_behind: StoredValue<bool>,
}

impl Kept {
    /// Nothing yet; the notes come with the page of the Pod at this address.
    pub(crate) fn of(address: Memo<String>) -> Self {
        let kept = Self {
            name: Memo::new(move |_| address.with(|address| name_of(address))),
            comments: RwSignal::default(),
            seen: RwSignal::default(),
            error: RwSignal::default(),
            base: StoredValue::default(),
            pod: StoredValue::default(),
            is_sending: StoredValue::default(),
            is_behind: StoredValue::default(),
        };
        // Another Pod's page.
        Effect::new(move |_| {
            let name = kept.name.get();
            if kept.pod.with_value(|pod| pod.as_ref().is_some_and(|pod| name != name_of(&pod.to_string()))) {
                kept.pod.set_value(None);
                kept.is_sending.set_value(false);
                kept.error.set(None);
                kept.show(ReviewDrafts::default());
            }
        });
        kept
    }

    /// Shows what the server has, as it came with the page.
    pub(super) fn take(self, pod: &PodRef, drafts: ReviewDrafts) {
        let is_new = self.pod.with_value(|known| known.as_ref() != Some(pod));
        let is_newer = drafts.version > self.base.with_value(|base| base.version);
        if !is_new && (self.is_sending.get_value() || !is_newer) {
            return;
        }
        self.pod.set_value(Some(pod.clone()));
        self.base.set_value(drafts.clone());
        self.show(drafts);
    }

    /// Adds and sends what only this browser has. Called after hydration, because the server has not drawn it.
    pub(super) fn add_own(self) {
        let own = self.name.with_untracked(|name| live::kept(Memory::Local, name));
        if let Some((base, own)) = own.and_then(|own| codec::read::<(ReviewDrafts, ReviewDrafts)>(&own).ok()) {
            self.show(merged(&base, own, self.base.get_value()));
            self.save();
        }
    }

    fn show(self, drafts: ReviewDrafts) {
        let ReviewDrafts { comments, seen, .. } = drafts;
        let _ = self.comments.try_set(comments);
        let _ = self.seen.try_set(seen);
    }

    fn now(self) -> ReviewDrafts {
        ReviewDrafts {
            version: self.base.with_value(|base| base.version),
            comments: self.comments.get_untracked(),
            seen: self.seen.get_untracked(),
        }
    }

    /// Stores the notes: in this browser at once, on the server soon.
    pub(super) fn save(self) {
        let Some(pod) = self.pod.get_value() else { return };
        let json = serde_json::to_string(&(self.base.get_value(), self.now())).ok();
        self.name.with_untracked(|name| live::remember(Memory::Local, name, json.as_deref()));
        if !self.is_sending.get_value() {
            self.is_sending.set_value(true);
            spawn_local(async move {
                let done = self.send(&pod).await;
                if self.is_of(&pod) {
                    self.is_sending.set_value(false);
                    // What the server did not accept is sent with the next note, or when the page is opened again.
                    self.error.set(done.err());
                }
            });
        }
    }

    /// After a message with comments, which the server takes out of what it has.
    pub(super) fn save_after_sending(self) {
        self.is_behind.set_value(true);
        self.save();
    }

    /// Whether the page of this Pod is still open.
    fn is_of(self, pod: &PodRef) -> bool {
        self.pod.try_get_value().flatten().as_ref() == Some(pod)
    }

    /// Sends the notes until the server has all of them. If somebody else has changed them, both changes are kept.
    async fn send(self, pod: &PodRef) -> Result<(), UiError> {
        loop {
            live::rest(COLLECTING_MS).await;
            if !self.is_of(pod) {
                return Ok(());
            }
            let own = self.now();
            if self.base.with_value(|base| *base == own) {
                self.name.with_untracked(|name| live::remember(Memory::Local, name, None));
                return Ok(());
            }
            let mut is_theirs = self.is_behind.get_value();
            let mut known = own.clone();
            if !is_theirs {
                match keep_drafts(pod.clone(), fresh_command(), own).await {
                    Ok(kept) => known.version = kept.version,
                    Err(error) if error.code() == ErrorCode::Changed => is_theirs = true,
                    Err(error) => return Err(error),
                }
            }
            if is_theirs {
                known = review_drafts(pod.clone()).await?;
            }
            if !self.is_of(pod) {
                return Ok(());
            }
            if is_theirs {
                self.is_behind.set_value(false);
                self.show(merged(&self.base.get_value(), self.now(), known.clone()));
            }
            self.base.set_value(known);
        }
    }
}

/// The name of a Pod's notes in this browser's storage.
fn name_of(address: &str) -> String {
    format!("review:{address}")
}
