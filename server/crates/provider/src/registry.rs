//! The providers of this server, by name.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use futures_util::future::join_all;
use prometheus_client::registry::Registry;
use protocol::{ModelFacts, ModelItem, ModelName, ModelView, ProviderView, Thinking, Usage};
use tokio::sync::Semaphore;

use crate::{
    Catalogue, ModelSettings, Provider, ProviderConfig, ProviderError, ProviderKind, ProviderSource, Rehearsal,
    RetryPolicy, Retrying, Takes, TimeLimits, Unfinished, Vendor,
    accounted::Accounted,
    metered::{Metered, Meters},
    nearby::Nearby,
};

/// How long listing the providers waits for a server's list of models.
const MODELS_WAIT_MAX: Duration = Duration::from_secs(2);

/// How many tests may run at once; a further one is refused. Each holds a connection for as long as its server takes.
pub(crate) const TESTS_MAX: usize = 8;

/// The name of the built-in provider.
pub(crate) const REHEARSAL: &str = "rehearsal";

/// The providers of this server. Cheap to clone; connections are made on first use.
#[derive(Debug, Clone)]
pub struct Providers {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    /// The configured providers in order of preference. The first is the default.
    pub(crate) given: Vec<Arc<Entry>>,
    /// Providers whose keys were given to the running server, now or earlier; one whose name is also among the given
    /// is not used.
    pub(crate) kept: RwLock<Vec<Arc<Entry>>>,
    /// Servers detected on this machine.
    found: RwLock<Vec<Arc<Entry>>>,
    /// The detection of such servers; `None` if disabled.
    nearby: Option<Nearby>,
    /// The built-in fallback.
    rehearsal: Arc<Entry>,
    pub(crate) maker: Maker,
    /// Permits for provider tests.
    tests: Semaphore,
}

/// What is needed to make providers.
#[derive(Debug)]
pub(crate) struct Maker {
    catalogue: Arc<Catalogue>,
    policy: RetryPolicy,
    limits: TimeLimits,
    meters: Meters,
}

/// One provider.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) config: ProviderConfig,
    pub(crate) provider: Arc<dyn Provider>,
    catalogue: Arc<Catalogue>,
}

/// The options for a set of providers.
#[derive(Debug, Default)]
pub struct ProviderOptions {
    /// In order of preference.
    pub configs: Vec<ProviderConfig>,
    /// Providers whose keys were given to a running server earlier.
    pub kept: Vec<ProviderConfig>,
    /// The configured facts about models, by name.
    pub models: BTreeMap<String, ModelSettings>,
    pub policy: RetryPolicy,
    pub limits: TimeLimits,
    /// Whether to detect model servers on this machine.
    pub finds_nearby: bool,
}

/// An invalid set of providers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProvidersError {
    #[error("the provider {name:?} is there twice; give one of them another name")]
    NameTaken { name: String },
    #[error("the provider name {name:?} is not valid; use 1 to 64 of A-Z a-z 0-9 . _ -")]
    Name { name: String },
    #[error("the provider {name:?} has to be of kind rehearsal, which is built in; give this one another name")]
    Reserved { name: String },
    #[error("the provider {name:?} has no valid base_url: {reason}")]
    BaseUrl { name: String, reason: String },
}

impl Providers {
    /// The given providers, in order of preference, and `rehearsal`.
    ///
    /// # Errors
    /// If a name is invalid or occurs twice, or a base_url is invalid.
    pub fn new(configs: Vec<ProviderConfig>) -> Result<Self, ProvidersError> {
        Self::of(ProviderOptions { configs, ..ProviderOptions::default() })
    }

    /// Like `new`, with all options.
    ///
    /// # Errors
    /// As for `new`.
    pub fn of(options: ProviderOptions) -> Result<Self, ProvidersError> {
        let ProviderOptions { configs, kept: kept_configs, models, policy, limits, finds_nearby } = options;
        let catalogue = Arc::new(Catalogue::new(models));
        let maker = Maker { catalogue, policy, limits, meters: Meters::default() };
        let mut given: Vec<Arc<Entry>> = Vec::new();
        for config in configs {
            check_name(&config, &given)?;
            given.push(maker.entry(config)?);
        }
        let mut kept: Vec<Arc<Entry>> = Vec::new();
        for config in kept_configs {
            check_name(&config, &kept)?;
            kept.push(maker.entry(config)?);
        }
        maker.catalogue.tell(REHEARSAL, Rehearsal::models());
        Ok(Self {
            shared: Arc::new(Shared {
                given,
                kept: RwLock::new(kept),
                found: RwLock::default(),
                nearby: finds_nearby.then(Nearby::default),
                rehearsal: maker.entry(built_in())?,
                maker,
                tests: Semaphore::new(TESTS_MAX),
            }),
        })
    }

    /// A provider that retries by itself and adds context limits and costs to its usage.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Provider>> {
        self.entry(name).map(|entry| Arc::clone(&entry.provider))
    }

    /// The provider for a Pod that names none: the first configured, kept or detected one, else `rehearsal`. If none
    /// is configured or kept, detects servers on this machine first, which takes at most 300 ms.
    pub async fn default_name(&self) -> String {
        if self.shared.given.is_empty() && self.kept().is_empty() {
            self.look_nearby().await;
        }
        self.first_name()
    }

    fn first_name(&self) -> String {
        self.entries().first().map_or_else(|| REHEARSAL.to_owned(), |entry| entry.config.name.clone())
    }

    /// The model for a Pod that names none: the first configured one, else one that the server really offers, which
    /// may require asking it; takes at most 2 s. `None` if no model is known.
    pub async fn default_model(&self, name: &str) -> Option<String> {
        let entry = self.entry(name)?;
        if let Some(configured) = entry.config.models.first() {
            return Some(configured.clone());
        }
        let usual = usual_model(entry.config.kind);
        // At a vendor's own address the usual model is offered, so there is no need to wait for the list.
        if entry.config.base_url.is_some() && entry.config.kind != ProviderKind::Rehearsal {
            entry.ask_for_models().await;
        }
        let offered = entry.catalogue.told(name).unwrap_or_default();
        let is_offered = |model: &str| offered.iter().any(|view| view.name == model);
        match usual {
            Some(usual) if is_offered(usual) => Some(usual.to_owned()),
            _ if !offered.is_empty() => Some(first_talker(&offered).to_owned()),
            // The server did not answer.
            Some(usual) if entry.config.base_url.is_none() => Some(usual.to_owned()),
            _ => None,
        }
    }

    /// What is known about this provider's model.
    pub fn facts(&self, provider: &str, model: &str) -> ModelFacts {
        self.entry(provider).map(|entry| entry.facts(model)).unwrap_or_default()
    }

    /// Returns the usage and the cost of an answer that does not reach its end. For the rehearsal model that is
    /// nothing: nobody produced what it has not said.
    pub fn used(&self, ModelName { provider, model }: &ModelName, answer: &Unfinished) -> Option<Usage> {
        match self.entry(provider) {
            Some(entry) if entry.config.kind == ProviderKind::Rehearsal => None,
            Some(entry) => Some(entry.catalogue.account(provider, entry.config.kind, model, answer.used())),
            None => Some(answer.used()),
        }
    }

    /// What this provider's model accepts besides text.
    pub fn takes(&self, provider: &str, model: &str) -> Takes {
        let kind = self.entry(provider).map_or(ProviderKind::Rehearsal, |entry| entry.config.kind);
        Takes { kind, pictures: self.facts(provider, model).images }
    }

    /// Why the model cannot think at this level; `None` if it can, or if its levels are unknown and it may be tried.
    pub fn thinking_refusal(&self, provider: &str, model: &str, level: Thinking) -> Option<String> {
        let levels = self.facts(provider, model).thinking.filter(|levels| !levels.contains(&level))?;
        let levels = levels.iter().map(|level| level.as_str()).collect::<Vec<_>>().join(", ");
        Some(format!("the model \"{model}\" cannot think {level}; it has {levels}"))
    }

    /// All providers with their models. Waits at most 2 s for servers that have to be asked, and never fails.
    pub async fn views(&self) -> Vec<ProviderView> {
        self.look_nearby().await;
        let (default, entries) = (self.first_name(), self.entries());
        join_all(entries.iter().map(|entry| async {
            ProviderView {
                name: entry.config.name.clone(),
                kind: entry.config.kind.to_string(),
                default: entry.config.name == default,
                source: entry.config.source.as_str().to_owned(),
                models: entry.models().await,
                missing: entry.config.missing(),
                has_key: entry.config.api_key.is_some(),
                hides_key: self.hides_key(entry),
            }
        }))
        .await
    }

    /// The models of all providers. Waits like [`Self::views`].
    pub async fn models(&self) -> Vec<ModelItem> {
        let item = |provider: &str, view: ModelView| ModelItem {
            provider: provider.to_owned(),
            model: view.name,
            facts: view.facts,
        };
        let views = self.views().await;
        views
            .into_iter()
            .flat_map(|ProviderView { name, models, .. }| models.into_iter().map(move |view| item(&name, view)))
            .collect()
    }

    /// The kinds that are neither configured nor detected, and how to add each.
    pub fn unconfigured(&self) -> Vec<protocol::UnconfiguredProvider> {
        let entries = self.entries();
        let is_there = |kind: ProviderKind| entries.iter().any(|entry| entry.config.kind.is_like(kind));
        [
            (
                ProviderKind::OpenAi,
                "add a key, or set OPENAI_API_KEY, or OPENAI_BASE_URL for any server that speaks its protocol",
            ),
            (ProviderKind::Anthropic, "add a key, or set ANTHROPIC_API_KEY"),
            (ProviderKind::Gemini, "add a key, or set GEMINI_API_KEY"),
            (ProviderKind::Ollama, "set OLLAMA_HOST to the address of an Ollama server"),
        ]
        .into_iter()
        .filter(|(kind, _)| !is_there(*kind))
        .map(|(kind, missing)| protocol::UnconfiguredProvider { kind: kind.to_string(), missing: missing.to_owned() })
        .collect()
    }

    /// Adds how the providers answer to the registry of one scrape.
    pub fn register(&self, registry: &mut Registry) {
        self.shared.maker.meters.register(registry);
    }

    /// A permit for one more test, if one is free.
    pub(crate) fn begin_test(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        self.shared.tests.try_acquire().ok()
    }

    pub(crate) fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        self.entries().into_iter().find(|entry| entry.config.name == name)
    }

    /// In order of preference: configured, kept, detected, built in. Of several with one name, the first counts.
    fn entries(&self) -> Vec<Arc<Entry>> {
        let Shared { given, found, rehearsal, .. } = &*self.shared;
        let (kept, found) = (self.kept(), found.read().unwrap_or_else(PoisonError::into_inner).clone());
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for entry in given.iter().chain(&kept).chain(&found).chain([rehearsal]) {
            if !entries.iter().any(|known| known.config.name == entry.config.name) {
                entries.push(Arc::clone(entry));
            }
        }
        entries
    }

    /// Detects model servers on this machine; takes at most 300 ms, and does nothing right after the last time.
    async fn look_nearby(&self) {
        let Shared { given, found, nearby, maker, .. } = &*self.shared;
        let Some(nearby) = nearby else { return };
        let kept = self.kept();
        let is_taken = |config: &ProviderConfig| {
            let is_it =
                |entry: &Arc<Entry>| entry.config.name == config.name || entry.config.base_url == config.base_url;
            given.iter().chain(&kept).any(is_it)
        };
        let Some(there) = nearby.look(is_taken, &maker.catalogue).await else { return };
        let entries = there.into_iter().filter_map(|config| maker.entry(config).ok()).collect();
        *found.write().unwrap_or_else(PoisonError::into_inner) = entries;
    }
}

impl Maker {
    /// Makes the provider; its HTTP client is created on first use.
    pub(crate) fn entry(&self, config: ProviderConfig) -> Result<Arc<Entry>, ProvidersError> {
        let provider: Arc<dyn Provider> = match config.kind {
            ProviderKind::Rehearsal => Arc::new(Rehearsal),
            _ => Arc::new(Vendor::new(config.clone(), self.limits).map_err(|error: ProviderError| {
                ProvidersError::BaseUrl { name: config.name.clone(), reason: error.detail }
            })?),
        };
        let retrying = Arc::new(Retrying::new(provider, self.policy.clone()));
        let catalogue = Arc::clone(&self.catalogue);
        let source = (config.name.clone(), config.kind);
        let accounted = Arc::new(Accounted { provider: retrying, source, catalogue: Arc::clone(&catalogue) });
        let provider = Arc::new(Metered::new(accounted, &config.name, config.kind, &self.meters));
        Ok(Arc::new(Entry { config, provider, catalogue }))
    }
}

impl Entry {
    fn facts(&self, model: &str) -> ModelFacts {
        self.catalogue.facts(&self.config.name, self.config.kind, model)
    }

    /// Asks the server for its models, unless the list is fresh or the server cannot be asked.
    async fn ask_for_models(&self) {
        if self.config.missing().is_none() && !self.catalogue.is_fresh(&self.config.name) {
            // A server that does not answer in time is asked again the next time.
            let _ = tokio::time::timeout(MODELS_WAIT_MAX, self.provider.models()).await;
        }
    }

    async fn models(&self) -> Vec<ModelView> {
        self.ask_for_models().await;
        let mut names = self.config.models.clone();
        if names.is_empty() {
            names = self.catalogue.told(&self.config.name).into_iter().flatten().map(|view| view.name).collect();
        }
        if names.is_empty() && self.config.base_url.is_none() {
            names = usual_model(self.config.kind).map(str::to_owned).into_iter().collect();
        }
        names.into_iter().map(|name| ModelView { facts: self.facts(&name), name }).collect()
    }
}

/// A vendor's general-purpose model, for Pods that name none.
fn usual_model(kind: ProviderKind) -> Option<&'static str> {
    match kind {
        ProviderKind::OpenAi => Some("gpt-5.1"),
        ProviderKind::Anthropic => Some("claude-sonnet-4-5"),
        ProviderKind::Gemini => Some("gemini-2.5-pro"),
        ProviderKind::Rehearsal => Some(REHEARSAL),
        ProviderKind::OpenAiCompatible | ProviderKind::Ollama => None,
    }
}

/// The first chat model of a list, judging by the names.
fn first_talker(offered: &[ModelView]) -> &str {
    const OTHERS: [&str; 7] = ["embed", "whisper", "tts", "dall-e", "moderation", "rerank", "image"];
    let talks = |view: &&ModelView| !OTHERS.iter().any(|other| view.name.to_ascii_lowercase().contains(other));
    offered.iter().find(talks).unwrap_or(&offered[0]).name.as_str()
}

fn built_in() -> ProviderConfig {
    ProviderConfig {
        name: REHEARSAL.to_owned(),
        kind: ProviderKind::Rehearsal,
        base_url: None,
        api_key: None,
        models: Vec::new(),
        source: ProviderSource::BuiltIn,
    }
}

pub(crate) fn check_name(config: &ProviderConfig, entries: &[Arc<Entry>]) -> Result<(), ProvidersError> {
    let name = config.name.clone();
    let is_valid = (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if !is_valid {
        return Err(ProvidersError::Name { name });
    }
    if name == REHEARSAL && config.kind != ProviderKind::Rehearsal {
        return Err(ProvidersError::Reserved { name });
    }
    match entries.iter().any(|entry| entry.config.name == name) {
        true => Err(ProvidersError::NameTaken { name }),
        false => Ok(()),
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
