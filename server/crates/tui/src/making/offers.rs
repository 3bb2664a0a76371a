//! Completions for the last word of the line that makes a Pod, and the defaults that apply without it.

use commands::{
    Named, Offer,
    making::{Defaults, facts_of, recent_folders},
};
use protocol::{
    AgentItem, AgentState, ModelView, ProviderView, RuntimeId, RuntimeKind, RuntimeView, ScopeRule, Thinking,
};
use transcript::words::model_words;

use super::{SETTINGS, being_said, escaped, words};
use crate::model::{Choices, Model};

/// The maximum number of completions offered.
pub(crate) const OFFERED_MAX: usize = 50;

/// The settings that the line already has.
#[derive(Default)]
pub(super) struct Said {
    profile: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    pub(super) runtime: Option<RuntimeId>,
    settings: Vec<String>,
}

impl Said {
    pub(super) fn of(before: &str) -> Self {
        let mut said = Self::default();
        for word in words(before) {
            let Some((setting, value)) = word.split_once('=') else { continue };
            match setting {
                "profile" => said.profile = Some(value.to_owned()),
                "provider" => said.provider = Some(value.to_owned()),
                "model" => said.model = Some(value.to_owned()),
                "runtime" => said.runtime = RuntimeId::parse(value).ok(),
                _ => (),
            }
            said.settings.push(setting.to_owned());
        }
        said
    }

    fn is_here(&self) -> bool {
        self.runtime.as_ref().is_none_or(|runtime| *runtime == RuntimeId::local())
    }
}

/// Completions for the last word of the line. `None` if the line makes no Pod, or its name is still being typed.
pub(crate) fn offers(model: &Model, line: &str) -> Option<Vec<Offer>> {
    let (before, word) = being_said(line)?;
    let (said, unknown) = (Said::of(before), Choices::default());
    let choices = model.choices.as_ref().unwrap_or(&unknown);
    let offer = |line: String, what: String, refusal| Offer { line, argument: "", what, refusal };
    Some(match word.split_once('=') {
        None => SETTINGS
            .into_iter()
            .filter(|setting| setting.starts_with(word) && is_open(setting, &said, choices))
            .map(|setting| {
                let refusal = (setting == "profile" && choices.profiles.is_empty()).then_some("none is configured");
                offer(format!("{before} {setting}="), meaning(setting, &said, choices), refusal)
            })
            .collect(),
        Some((setting, begun)) => values(model, choices, &said, setting, &words(begun).concat())
            .into_iter()
            .take(OFFERED_MAX)
            .map(|Named { name, what, refusal }| offer(format!("{before} {name}"), what, refusal))
            .collect(),
    })
}

/// Whether the setting is still missing or can be repeated, and there is something to choose from.
fn is_open(setting: &str, said: &Said, choices: &Choices) -> bool {
    match setting {
        "read" | "write" | "deny" => true,
        "runtime" => places(choices).count() > 1 && !said.settings.iter().any(|known| known == setting),
        setting => !said.settings.iter().any(|known| known == setting),
    }
}

/// The runtimes where Pods can be made.
fn places(choices: &Choices) -> impl Iterator<Item = &RuntimeView> {
    choices.runtimes.iter().filter(|runtime| runtime.kind != RuntimeKind::Compat)
}

fn defaults(said: &Said, choices: &Choices) -> Defaults {
    let profile = said.profile.as_deref().and_then(|name| choices.profile(name));
    Defaults::of(&choices.providers, profile, said.provider.as_deref())
}

/// The description of a setting and its default.
fn meaning(setting: &str, said: &Said, choices: &Choices) -> String {
    let usual = |words: Option<String>| match words.filter(|_| said.is_here()).filter(|words| !words.is_empty()) {
        Some(words) => format!("default: {words}"),
        None => "default: the server's".to_owned(),
    };
    let defaults = defaults(said, choices);
    match setting {
        "profile" => "a template; default: none".to_owned(),
        "folder" => usual(choices.folder.clone()),
        "agent" => "a program of its own that answers; default: none, a model answers".to_owned(),
        "model" => usual(Some(defaults.words())),
        "provider" => usual(defaults.provider),
        "thinking" => match defaults.thinking {
            Some(level) => format!("default: {level}"),
            None => "default: the model's own default".to_owned(),
        },
        "read" => "a folder it reads".to_owned(),
        "write" => match said.profile.as_deref().and_then(|name| choices.profile(name)?.scope.as_ref()) {
            Some(rules) => {
                let rule = |rule: &ScopeRule| format!("{} {}", rule.access.as_str(), rule.path);
                format!("a folder it writes; default: {}", rules.iter().map(rule).collect::<Vec<_>>().join(", "))
            }
            None => "a folder it writes; default: its own, when none is named".to_owned(),
        },
        "deny" => "a subfolder that it may not access".to_owned(),
        _ => "default: this server".to_owned(),
    }
}

/// The possible values of a setting, each prefixed with `setting=`.
fn values(model: &Model, choices: &Choices, said: &Said, setting: &str, begun: &str) -> Vec<Named> {
    let named =
        |value: &str, what: String| Named { name: format!("{setting}={}", escaped(value)), what, refusal: None };
    let fits = |name: &str| name.to_lowercase().contains(&begun.to_lowercase());
    match setting {
        "folder" | "read" | "write" | "deny" => {
            folders(model, choices, said, begun).into_iter().map(|(path, what)| named(&path, what)).collect()
        }
        "runtime" => places(choices)
            .filter(|runtime| fits(runtime.runtime_id.as_str()))
            .map(|runtime| named(runtime.runtime_id.as_str(), runtime.state.as_str().to_owned()))
            .collect(),
        // The remaining lists are this server's own.
        _ if !said.is_here() => Vec::new(),
        "profile" => {
            let profiles = choices.profiles.iter().filter(|profile| fits(&profile.name));
            let what = |name: &str| Defaults::of(&choices.providers, choices.profile(name), None).words();
            profiles.map(|profile| named(&profile.name, what(&profile.name))).collect()
        }
        "provider" => {
            let providers = choices.providers.iter().filter(|provider| fits(&provider.name));
            providers.map(|provider| named(&provider.name, standing(provider))).collect()
        }
        "agent" => {
            let is_there = |agent: &&AgentItem| agent.state != AgentState::Missing && fits(&agent.name);
            let what = |agent: &AgentItem| agent.detail.clone().unwrap_or_else(|| agent.state.as_str().to_owned());
            choices.agents.iter().filter(is_there).map(|agent| named(&agent.name, what(agent))).collect()
        }
        "model" => models(choices, said, begun),
        "thinking" => {
            let levels = levels(choices, said).into_iter().filter(|level| fits(level.as_str()));
            levels.map(|level| named(level.as_str(), String::new())).collect()
        }
        _ => Vec::new(),
    }
}

/// Matching folders that exist, and those that Pods already work in.
fn folders(model: &Model, choices: &Choices, said: &Said, begun: &str) -> Vec<(String, String)> {
    let mut offered = Vec::new();
    if begun.starts_with('/') {
        let found = model.folders.found.as_ref().filter(|(word, _)| {
            // Results for the previous letters stay until those for the current ones arrive.
            word.runtime == said.runtime && begun.starts_with(&word.begun)
        });
        let items = found.map(|(_, list)| list.items.as_slice()).unwrap_or_default();
        let begins = |path: &&String| path.to_lowercase().starts_with(&begun.to_lowercase());
        offered.extend(items.iter().filter(begins).map(|path| (format!("{path}/"), String::new())));
        return offered;
    }
    let own = choices.folder.iter().filter(|_| said.is_here()).map(|path| (path.clone(), "the default".to_owned()));
    let recent = recent_folders(&model.pods, said.runtime.as_ref().unwrap_or(&RuntimeId::local()));
    let recent = recent.into_iter().map(|path| (path, "a Pod works there".to_owned()));
    for (path, what) in own.chain(recent) {
        if path.to_lowercase().contains(&begun.to_lowercase()) && !offered.iter().any(|(known, _)| *known == path) {
            offered.push((path, what));
        }
    }
    offered
}

/// The models of the named provider, or of all; each with its provider unless that is the default anyway.
fn models(choices: &Choices, said: &Said, begun: &str) -> Vec<Named> {
    let usual = defaults(said, choices).provider;
    let is_meant = |provider: &&ProviderView| said.provider.as_ref().is_none_or(|name| *name == provider.name);
    let mut providers: Vec<_> = choices.providers.iter().filter(is_meant).collect();
    providers.sort_by_key(|provider| Some(&provider.name) != usual.as_ref());
    let of = |provider: &ProviderView| {
        let elsewhere = Some(&provider.name) != usual.as_ref();
        let before = if elsewhere { format!("provider={} ", escaped(&provider.name)) } else { String::new() };
        let named = |model: &ModelView| Named {
            name: format!("{before}model={}", escaped(&model.name)),
            what: [format!("of {}", provider.name), model_words(&model.facts)].join(" · "),
            refusal: None,
        };
        let fits = |model: &&ModelView| model.name.to_lowercase().contains(&begun.to_lowercase());
        provider.models.iter().filter(fits).map(named).collect::<Vec<_>>()
    };
    providers.into_iter().flat_map(of).collect()
}

/// The model's thinking levels; for an unknown model, all of them.
fn levels(choices: &Choices, said: &Said) -> Vec<Thinking> {
    let defaults = defaults(said, choices);
    let model = said.model.clone().or(defaults.model).unwrap_or_default();
    let facts = facts_of(&choices.providers, &defaults.provider.unwrap_or_default(), &model);
    facts.and_then(|facts| facts.thinking.clone()).unwrap_or_else(|| Thinking::ALL.to_vec())
}

/// Whether a provider can be used, and where its key comes from.
pub(crate) fn standing(provider: &ProviderView) -> String {
    let key = match (provider.has_key, provider.source.as_str()) {
        (true, "data folder") => "key given here".to_owned(),
        (true, source) => format!("key from the {source}"),
        (false, "built in") => "built in, no key".to_owned(),
        (false, "found") => "found on this machine, no key".to_owned(),
        (false, source) => format!("from the {source}, no key"),
    };
    match &provider.missing {
        Some(missing) => format!("not ready: {missing}"),
        None => key,
    }
}
