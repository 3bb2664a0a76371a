//! Completion of the names of Pods, and of what Pods are made from. If anything fails, there are no candidates.

use std::{path::PathBuf, time::Duration};

use clap_complete::CompletionCandidate;
use protocol::{
    operation::Page,
    operations::{ModelProviders, Models, Pods, Profiles},
};
use transcript::words::model_words;

use crate::{
    caller::{Caller, name_of},
    config::Environment,
    options::CommonOptions,
};

/// How long a person who presses Tab has to wait at most.
const WAIT_MAX: Duration = Duration::from_millis(800);

/// Pods, with what each is doing.
pub(super) fn pod_names() -> Vec<CompletionCandidate> {
    let pods = asked(async |caller| Some(caller.pods_page(Pods::default()).await.ok()?.items));
    let candidate = |pod: protocol::PodSummary| {
        CompletionCandidate::new(name_of(&pod.name, &pod.pod)).help(Some(commands::Sign::of(&pod).word().into()))
    };
    pods.unwrap_or_default().into_iter().map(candidate).collect()
}

pub(super) fn profile_names() -> Vec<CompletionCandidate> {
    let profiles =
        asked(async |caller| Some(caller.client.read(&Profiles { page: Page::default() }).await.ok()?.items));
    profiles.unwrap_or_default().into_iter().map(|profile| CompletionCandidate::new(profile.name)).collect()
}

pub(super) fn provider_names() -> Vec<CompletionCandidate> {
    let providers =
        asked(async |caller| Some(caller.client.read(&ModelProviders { page: Page::default() }).await.ok()?.items));
    let candidate = |one: protocol::ProviderView| CompletionCandidate::new(one.name).help(Some(one.source.into()));
    providers.unwrap_or_default().into_iter().map(candidate).collect()
}

/// Models, with what is known about each.
pub(super) fn model_names() -> Vec<CompletionCandidate> {
    let models = asked(async |caller| Some(caller.client.read(&Models { page: Page::default() }).await.ok()?.items));
    let candidate = |one: protocol::ModelItem| {
        let words = format!("of {} · {}", one.provider, model_words(&one.facts));
        CompletionCandidate::new(one.model).help(Some(words.into()))
    };
    models.unwrap_or_default().into_iter().map(candidate).collect()
}

/// Asks the server that the options on the line refer to.
fn asked<T>(ask: impl AsyncFnOnce(&Caller) -> Option<T>) -> Option<T> {
    let common = common_options(std::env::args());
    let caller = Caller::new(&common, &Environment::of_process()).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(WAIT_MAX, ask(&caller)).await.ok()? })
}

/// The line is unfinished and cannot be parsed, so these options are searched for by hand.
fn common_options(words: impl Iterator<Item = String>) -> CommonOptions {
    let mut common = CommonOptions::default();
    let mut words = words.skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        if !matches!(option.as_str(), "--server" | "--data" | "--config") {
            continue;
        }
        let Some(value) = value.or_else(|| words.next()) else { return common };
        match option.as_str() {
            "--server" => common.server = Some(value),
            "--data" => common.data = Some(PathBuf::from(value)),
            _ => common.config = Some(PathBuf::from(value)),
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_the_one_that_the_line_names() {
        let words = "yoi -- yoi --data /d log --server=unix:/s a".split(' ').map(str::to_owned);
        let expected =
            CommonOptions { server: Some("unix:/s".into()), data: Some("/d".into()), ..CommonOptions::default() };
        assert_eq!(common_options(words), expected);
        assert_eq!(common_options("yoi -- yoi log --data".split(' ').map(str::to_owned)), CommonOptions::default());
    }
}
