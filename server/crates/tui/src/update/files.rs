//! Naming a file after an `@`: suggestions are requested while typing, chosen with the arrow keys, taken with Tab or
//! Enter. Commands of the Pod's agent are named after a `/` in the same way.

use client::ClientError;
use commands::{FileWord, agent_commands, agent_word};
use protocol::{Listing, McpResource, PodRef};

use crate::{
    composer::Composer,
    model::{Effect, Model, Naming, OpenPod},
};

/// The text or the cursor has changed: requests suggestions, unless an older request is in flight, whose answer
/// triggers another.
pub(super) fn typed(open: &mut OpenPod) -> Option<Effect> {
    let before = open.naming.take();
    if let Some(commands) = commands_of_agent(open) {
        open.naming = Some(commands);
        return None;
    }
    let word = open.composer.file_word()?;
    let naming = match before {
        // Another `@`: earlier suggestions do not apply.
        Some(before) if before.word.at == word.at => Naming { word, chosen: 0, ..before },
        _ => Naming::new(word),
    };
    ask(&open.pod, open.naming.insert(naming))
}

/// The commands of the agent that begin like the message, if it is nothing else.
fn commands_of_agent(open: &OpenPod) -> Option<Naming> {
    let begun = agent_word(open.composer.text())?;
    let commands = agent_commands(&open.agent.as_ref()?.offers.commands, begun);
    let word = FileWord { at: 0, begun: begun.to_owned() };
    (!commands.is_empty()).then(|| Naming { commands, ..Naming::new(word) })
}

/// Whether the chosen command of the agent is there already, so that Enter sends the message.
pub(super) fn is_typed(open: &OpenPod) -> bool {
    let chosen = open.naming.as_ref().and_then(|naming| naming.commands.get(naming.chosen));
    chosen.is_some_and(|command| agent_word(open.composer.text()) == Some(command.id.as_str()))
}

fn ask(pod: &PodRef, naming: &mut Naming) -> Option<Effect> {
    if naming.asked.is_some() {
        return None;
    }
    let begun = naming.word.begun.clone();
    naming.asked = Some(begun.clone());
    Some(Effect::FindFiles { pod: pod.clone(), begun })
}

pub(super) fn found(
    model: &mut Model,
    pod: &PodRef,
    begun: &str,
    done: Result<Listing<String>, ClientError>,
    resources: Vec<McpResource>,
) {
    let Some(naming) = model.open_as(pod).and_then(|open| open.naming.as_mut()) else { return };
    if naming.asked.as_deref() != Some(begun) {
        return;
    }
    naming.asked = None;
    // On failure there is nothing to choose from, and the name is sent as typed.
    naming.found = done.map(|listing| listing.items).unwrap_or_default();
    naming.resources = resources;
    naming.chosen = naming.chosen.min(naming.count().saturating_sub(1));
    if naming.word.begun != begun {
        let again = ask(pod, naming);
        model.effects.extend(again);
    }
}

/// Whether there are suggestions.
pub(super) fn is_offered(open: &OpenPod) -> bool {
    open.naming.as_ref().is_some_and(|naming| naming.count() > 0)
}

pub(super) fn choose(open: &mut OpenPod, step: isize) {
    if let Some(naming) = &mut open.naming {
        naming.chosen = (naming.chosen + naming.count()).saturating_add_signed(step) % naming.count().max(1);
    }
}

/// Inserts the chosen file into the message, or has the chosen resource attached to it. What is only the beginning of an
/// address is typed, and suggestions for the rest are requested.
pub(super) fn take(open: &mut OpenPod) -> Option<Effect> {
    let Naming { word, mut found, mut resources, commands, chosen, .. } = open.naming.take()?;
    if let Some(command) = commands.get(chosen) {
        open.composer = Composer::with(format!("/{} ", command.id));
        return None;
    }
    if chosen < found.len() {
        open.composer.take_file(&word, found.swap_remove(chosen));
        return None;
    }
    let at = chosen - found.len();
    let resource = (at < resources.len()).then(|| resources.swap_remove(at))?;
    if resource.template.is_some() {
        open.composer.begin_word(&word, &resource.uri);
        return typed(open);
    }
    open.composer.drop_word(&word);
    Some(Effect::AttachResource { pod: open.pod.clone(), resource })
}
