//! Loads the choices for a new Pod and the completions of a line while it is typed. Also providers and their keys.

use client::ClientError;
use commands::{Client, Prompt, may_be_prompt};
use protocol::{FolderList, GiveKey, PodRef, ProviderTest, ProviderView};

use super::begin_line;
use crate::{
    making,
    model::{Choices, Effect, FolderWord, KeyOf, LineOf, Model, ProviderSheet, Sheet, Whose},
    sentences,
};

/// The line has changed: requests its completions, unless an older request is in flight, whose answer triggers
/// another.
pub(super) fn typed(model: &mut Model) {
    let Some(line) = model.line.as_ref().filter(|line| line.what == LineOf::Command) else { return };
    let text = line.text.text();
    let word = text.split_once(' ').map(|(word, _)| word);
    let folder = making::folder_word(text);
    if may_be_prompt(&format!(":{text}"), Client::Terminal)
        && let Some(open) = model.open.as_mut().filter(|open| !open.prompts.has_asked)
    {
        open.prompts.has_asked = true;
        for whose in [Whose::Yours, Whose::Servers] {
            model.effects.push(Effect::FindPrompts { pod: open.pod.clone(), whose });
        }
    }
    if matches!(word, Some("new" | "model" | "think" | "key")) && !model.has_chosen_from {
        model.has_chosen_from = true;
        load(model);
    }
    if let Some(word) = folder
        && model.folders.asked.is_none()
        && model.folders.found.as_ref().is_none_or(|(known, _)| *known != word)
    {
        model.folders.asked = Some(word.clone());
        model.start(Effect::FindFolders(word));
    }
}

/// What a line can name beside the commands of the console. What could not be read is asked for again with the next
/// letter.
pub(super) fn prompts(model: &mut Model, pod: &PodRef, whose: Whose, done: Result<Vec<Prompt>, ClientError>) {
    let Some(open) = model.open_as(pod) else { return };
    match (done, whose) {
        (Ok(own), Whose::Yours) => open.prompts.own = own,
        (Ok(prompts), Whose::Servers) => open.prompts.of_servers = prompts,
        (Err(_), _) => open.prompts.has_asked = false,
    }
}

/// Requests the choices now.
pub(super) fn load(model: &mut Model) {
    if !model.is_choosing {
        model.is_choosing = true;
        model.start(Effect::LoadChoices);
    }
}

pub(super) fn loaded(model: &mut Model, done: Result<Box<Choices>, ClientError>) {
    model.is_choosing = false;
    match done {
        Ok(choices) => model.choices = Some(*choices),
        Err(error) if matches!(model.sheet, Some(Sheet::Providers(_))) => {
            model.sheet = None;
            model.complain(sentences::of_error(&error));
        }
        // There is nothing to choose from, but everything can be typed.
        Err(_) => {}
    }
}

pub(super) fn folders(model: &mut Model, word: FolderWord, done: Result<FolderList, ClientError>) {
    if model.folders.asked.as_ref() != Some(&word) {
        return;
    }
    model.folders.asked = None;
    // On failure there is nothing to choose from, and the path is taken as typed.
    let list = done.unwrap_or(FolderList { items: Vec::new(), is_cut: false, default: String::new() });
    model.folders.found = Some((word, list));
    typed(model);
}

pub(super) fn open_providers(model: &mut Model) {
    model.sheet = Some(Sheet::Providers(ProviderSheet::default()));
    load(model);
}

/// Starts typing a key.
pub(super) fn ask_key(model: &mut Model, provider: String, base_url: Option<String>) {
    begin_line(model, LineOf::Key, "");
    model.key_of = Some(KeyOf { provider, base_url });
}

/// Starts typing the key of the provider selected in the list.
pub(super) fn ask_key_of_chosen(model: &mut Model) {
    let Some(name) = chosen(model) else { return };
    match name.as_str() {
        "rehearsal" => model.complain("the rehearsal model has no key"),
        _ => ask_key(model, name, None),
    }
}

/// Submits the typed key for the provider that it was asked for.
pub(super) fn give_key(model: &mut Model, key: &str) {
    let Some(KeyOf { provider, base_url }) = model.key_of.take() else { return };
    let key = key.trim().to_owned();
    if key.is_empty() {
        return model.complain("no key was typed");
    }
    model.tell(format!("testing the key of {provider}, up to 10 s …"));
    let kind = base_url.is_some().then(|| "openai-compatible".to_owned());
    model.start(Effect::GiveKey { provider, given: GiveKey { kind, base_url, key } });
}

pub(super) fn key_given(model: &mut Model, provider: &str, done: Result<ProviderView, ClientError>) {
    match done {
        Ok(works) => {
            let used = if works.default { "; new Pods use it" } else { "" };
            model.tell(format!("{provider} works: {} models; its key is kept{used}", works.models.len()));
            load(model);
        }
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

/// Tests the selected provider.
pub(super) fn test_chosen(model: &mut Model) {
    let Some(name) = chosen(model) else { return };
    let is_there =
        model.choices.as_ref().is_some_and(|choices| choices.providers.iter().any(|known| known.name == name));
    match &mut model.sheet {
        Some(Sheet::Providers(sheet)) if is_there => {
            sheet.tests.retain(|(known, _)| *known != name);
            sheet.tests.push((name.clone(), None));
            model.start(Effect::TestProvider(name));
        }
        Some(Sheet::Providers(_)) => model.complain(format!("{name} is not configured; Enter takes its key")),
        _ => (),
    }
}

pub(super) fn tested(model: &mut Model, provider: &str, done: Result<ProviderTest, ClientError>) {
    let Some(Sheet::Providers(sheet)) = &mut model.sheet else { return };
    sheet.tests.retain(|(known, _)| known != provider);
    match done {
        Ok(test) => sheet.tests.push((provider.to_owned(), Some(test))),
        Err(error) => model.complain(sentences::of_error(&error)),
    }
}

fn chosen(model: &Model) -> Option<String> {
    let Some(Sheet::Providers(sheet)) = &model.sheet else { return None };
    let choices = model.choices.as_ref()?;
    let there = choices.providers.iter().map(|provider| &provider.name);
    there.chain(choices.unconfigured.iter().map(|provider| &provider.kind)).nth(sheet.selected).cloned()
}
