//! The providers of this server, by name.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use protocol::{ModelView, ProviderView};
use tokio::sync::Semaphore;

use crate::{
    Provider, ProviderConfig, ProviderError, ProviderKind, ProviderSource, Rehearsal, RetryPolicy, Retrying,
    TimeLimits, Vendor, known,
};

/// How long a list of providers waits for each server's list of models.
const MODELS_WAIT_MAX: Duration = Duration::from_secs(2);

/// Tests that go on at once; one more is refused. Each holds a connection for as long as its server likes to wait.
pub(crate) const TESTS_MAX: usize = 8;

/// Name of the built-in provider.
const REHEARSAL: &str = "rehearsal";

/// The providers of this server. Cheap to clone; nothing is connected before it is used.
#[derive(Debug, Clone)]
pub struct Providers {
    /// In order of preference: configured, found, built in. The first is the default.
    entries: Arc<[Entry]>,
    /// Room for tests of providers.
    pub(crate) tests: Arc<Semaphore>,
}

#[derive(Debug)]
struct Entry {
    config: ProviderConfig,
    provider: Arc<dyn Provider>,
}

/// A set of providers that cannot be.
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
    /// A name twice or not valid, a base_url that is none.
    pub fn new(configs: Vec<ProviderConfig>) -> Result<Self, ProvidersError> {
        Self::with_policy(configs, &RetryPolicy::default(), TimeLimits::default())
    }

    /// As `new`, with other patience; tests need less of it.
    pub fn with_policy(
        configs: Vec<ProviderConfig>,
        policy: &RetryPolicy,
        limits: TimeLimits,
    ) -> Result<Self, ProvidersError> {
        let mut entries: Vec<Entry> = Vec::new();
        for config in configs {
            check_name(&config, &entries)?;
            let provider = connect_lazily(&config, policy, limits)?;
            entries.push(Entry { config, provider });
        }
        if !entries.iter().any(|entry| entry.config.name == REHEARSAL) {
            let config = built_in();
            let provider = connect_lazily(&config, policy, limits)?;
            entries.push(Entry { config, provider });
        }
        Ok(Self { entries: entries.into(), tests: Arc::new(Semaphore::new(TESTS_MAX)) })
    }

    /// A provider that retries by itself.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Provider>> {
        self.entry(name).map(|entry| Arc::clone(&entry.provider))
    }

    /// Used for a Pod that names none: the first configured or found one, else `rehearsal`.
    pub fn default_name(&self) -> &str {
        self.entries.first().map_or(REHEARSAL, |entry| &entry.config.name)
    }

    /// The model of a Pod that names none: the first configured one, else a sensible one of that kind.
    pub fn default_model(&self, name: &str) -> Option<String> {
        let config = &self.entry(name)?.config;
        Some(config.models.first().cloned().unwrap_or_else(|| known::default_model(config.kind).to_owned()))
    }

    /// All of them, with their models. Waits at most 2 s for servers that have to be asked, and never fails.
    pub async fn views(&self) -> Vec<ProviderView> {
        let default = self.default_name();
        join_all(self.entries.iter().map(|entry| async move {
            ProviderView {
                name: entry.config.name.clone(),
                kind: entry.config.kind.to_string(),
                default: entry.config.name == default,
                source: entry.config.source.as_str().to_owned(),
                models: entry.models().await,
                missing: entry.config.missing(),
            }
        }))
        .await
    }

    /// The kinds that are neither configured nor found, and what would make each appear.
    pub fn unconfigured(&self) -> Vec<protocol::UnconfiguredProvider> {
        let is_there = |kind: ProviderKind| self.entries.iter().any(|entry| entry.config.kind == kind);
        [
            (ProviderKind::OpenAi, "set OPENAI_API_KEY, or OPENAI_BASE_URL for any server that speaks its protocol"),
            (ProviderKind::Anthropic, "set ANTHROPIC_API_KEY"),
            (ProviderKind::Gemini, "set GEMINI_API_KEY"),
            (ProviderKind::DeepSeek, "set DEEPSEEK_API_KEY"),
            (ProviderKind::Ollama, "set OLLAMA_HOST to the address of an Ollama server"),
        ]
        .into_iter()
        .filter(|(kind, _)| !is_there(*kind))
        .map(|(kind, missing)| protocol::UnconfiguredProvider { kind: kind.to_string(), missing: missing.to_owned() })
        .collect()
    }

    pub(crate) fn config(&self, name: &str) -> Option<&ProviderConfig> {
        self.entry(name).map(|entry| &entry.config)
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.config.name == name)
    }
}

impl Entry {
    async fn models(&self) -> Vec<ModelView> {
        if !self.config.models.is_empty() {
            return self.config.models.iter().map(|name| self.view(name)).collect();
        }
        if self.config.missing().is_none()
            && let Ok(Ok(models)) = tokio::time::timeout(MODELS_WAIT_MAX, self.provider.models()).await
        {
            return models;
        }
        match self.config.base_url {
            None => vec![self.view(known::default_model(self.config.kind))],
            Some(_) => Vec::new(),
        }
    }

    fn view(&self, model: &str) -> ModelView {
        ModelView { name: model.to_owned(), context_limit: self.provider.context_limit(model) }
    }
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

fn check_name(config: &ProviderConfig, entries: &[Entry]) -> Result<(), ProvidersError> {
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

/// Makes the provider; its HTTP client is made when it is first asked.
fn connect_lazily(
    config: &ProviderConfig,
    policy: &RetryPolicy,
    limits: TimeLimits,
) -> Result<Arc<dyn Provider>, ProvidersError> {
    let provider: Arc<dyn Provider> = match config.kind {
        ProviderKind::Rehearsal => Arc::new(Rehearsal),
        _ => Arc::new(Vendor::new(config.clone(), limits).map_err(|error: ProviderError| ProvidersError::BaseUrl {
            name: config.name.clone(),
            reason: error.detail,
        })?),
    };
    Ok(Arc::new(Retrying::new(provider, policy.clone())))
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
