//! The names of Pods, for whoever presses Tab. Whatever goes wrong, there are just none.

use std::{path::PathBuf, time::Duration};

use clap_complete::CompletionCandidate;
use protocol::operations::Pods;

use crate::{
    caller::{Caller, name_of},
    config::Environment,
    options::CommonOptions,
};

/// A person who presses Tab does not wait longer.
const WAIT_MAX: Duration = Duration::from_millis(800);

/// Asks the server that the words on the line mean.
pub(super) fn pod_names() -> Vec<CompletionCandidate> {
    let common = common_options(std::env::args());
    let Ok(caller) = Caller::new(&common, &Environment::of_process()) else { return Vec::new() };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    let listing = runtime.block_on(async {
        let asked = caller.pods_page(Pods::default());
        tokio::time::timeout(WAIT_MAX, asked).await.ok()?.ok()
    });
    let pods = listing.map(|listing| listing.items).unwrap_or_default();
    let candidate = |pod: &protocol::PodSummary| {
        CompletionCandidate::new(name_of(&pod.name, &pod.pod)).help(Some(commands::Sign::of(pod).word().into()))
    };
    pods.iter().map(candidate).collect()
}

/// The line is not finished, so it cannot be parsed: these options are looked for by hand.
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
