//! The draft outlives the page: each Pod has its own, in this browser.

use leptos::prelude::*;

use super::sending::Outgoing;
use crate::{
    acting::stopping::{go_on, take_kept},
    codec,
    composer::draft::Draft,
    live::{self, Memory},
};

/// Restores the draft, then saves it as it is typed.
pub(super) fn keep_draft(outgoing: Outgoing) {
    let name = outgoing.pod.pod.with_value(|pod| format!("yoi:draft:{pod}"));
    Effect::new(move |was_loaded: Option<()>| {
        if was_loaded.is_none() {
            let kept = live::kept(Memory::Local, &name).and_then(|text| codec::read::<Draft>(&text).ok());
            let typed_already = live::text_in("message");
            if kept.is_some() || !typed_already.is_empty() {
                let mut draft = kept.unwrap_or_default();
                // What was typed before hydration is newer than any saved draft.
                if !typed_already.is_empty() {
                    draft.text = typed_already;
                }
                outgoing.draft.set(draft);
            }
            let returned = outgoing.pod.pod.with_value(take_kept);
            if !returned.is_empty() {
                outgoing.draft.update(|draft| draft.put_back(&returned));
            }
            outgoing.pod.pod.with_value(|pod| go_on(outgoing.console, pod));
        }
        outgoing.draft.with(|draft| {
            let text = (*draft != Draft::default()).then(|| serde_json::to_string(draft).ok()).flatten();
            if was_loaded.is_some() || text.is_some() {
                live::remember(Memory::Local, &name, text.as_deref());
            }
        });
    });
}
