//! Naming a file after an `@`: suggestions are requested while typing, chosen with the arrow keys, taken with Tab or
//! Enter.

use client::ClientError;
use protocol::{Listing, PodRef};

use crate::model::{Effect, Model, Naming, OpenPod};

/// The text or the cursor has changed: requests suggestions, unless an older request is in flight, whose answer
/// triggers another.
pub(super) fn typed(open: &mut OpenPod) -> Option<Effect> {
    let before = open.naming.take();
    let word = open.composer.file_word()?;
    let naming = match before {
        // Another `@`: earlier suggestions do not apply.
        Some(before) if before.word.at == word.at => Naming { word, chosen: 0, ..before },
        _ => Naming { word, found: Vec::new(), chosen: 0, asked: None },
    };
    ask(&open.pod, open.naming.insert(naming))
}

fn ask(pod: &PodRef, naming: &mut Naming) -> Option<Effect> {
    if naming.asked.is_some() {
        return None;
    }
    let begun = naming.word.begun.clone();
    naming.asked = Some(begun.clone());
    Some(Effect::FindFiles { pod: pod.clone(), begun })
}

pub(super) fn found(model: &mut Model, pod: &PodRef, begun: &str, done: Result<Listing<String>, ClientError>) {
    let Some(naming) = model.open_as(pod).and_then(|open| open.naming.as_mut()) else { return };
    if naming.asked.as_deref() != Some(begun) {
        return;
    }
    naming.asked = None;
    // On failure there is nothing to choose from, and the name is sent as typed.
    naming.found = done.map(|listing| listing.items).unwrap_or_default();
    naming.chosen = naming.chosen.min(naming.found.len().saturating_sub(1));
    if naming.word.begun != begun {
        let again = ask(pod, naming);
        model.effects.extend(again);
    }
}

/// Whether there are suggestions.
pub(super) fn is_offered(open: &OpenPod) -> bool {
    open.naming.as_ref().is_some_and(|naming| !naming.found.is_empty())
}

pub(super) fn choose(open: &mut OpenPod, step: isize) {
    if let Some(naming) = &mut open.naming {
        naming.chosen = (naming.chosen + naming.found.len()).saturating_add_signed(step) % naming.found.len().max(1);
    }
}

/// Inserts the chosen file into the message.
pub(super) fn take(open: &mut OpenPod) {
    let Some(Naming { word, mut found, chosen, .. }) = open.naming.take() else { return };
    if chosen < found.len() {
        open.composer.take_file(&word, found.swap_remove(chosen));
    }
}
