//! Keys given to the running server: tested before they are kept, and used from then on.
//!
//! Nothing here is written to disk, and no refusal contains a key.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::time::timeout;

use crate::{
    ProviderConfig, ProviderError, ProviderErrorCode, ProviderKind, ProviderSource, Providers, ProvidersError,
    registry::{Entry, TESTS_MAX, check_name},
};

/// If the vendor has not listed its models within this time, the key counts as not accepted.
const TRY_WAIT_MAX: Duration = Duration::from_secs(10);

/// A provider with a key that its vendor has accepted. It is not used before it is kept.
#[derive(Debug)]
pub struct TriedKey {
    entry: Arc<Entry>,
}

impl TriedKey {
    pub fn config(&self) -> &ProviderConfig {
        &self.entry.config
    }
}

/// Why a key is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    #[error("{0}")]
    Provider(#[from] ProvidersError),
    #[error("a provider of kind {0} takes no key")]
    Keyless(ProviderKind),
    #[error("the provider {name:?} of kind openai-compatible needs base_url, the address of its server")]
    Nowhere { name: String },
    #[error(
        "the provider {name:?} is in the {place}, which counts more than a key given here; change it there, or use another name"
    )]
    Given { name: String, place: &'static str },
    #[error("{TESTS_MAX} providers are being tested already; try again in a moment")]
    Busy,
    /// Contains the vendor's words, without the key.
    #[error("{}; nothing was kept", .0.detail.trim_end_matches('.'))]
    Vendor(ProviderError),
}

/// The default kind of a provider with this name, and its address unless that is the kind's own.
pub fn usual_provider(name: &str) -> Option<(ProviderKind, Option<&'static str>)> {
    match name {
        "openrouter" => Some((ProviderKind::OpenAiCompatible, Some("https://openrouter.ai/api/v1"))),
        name => name.parse().ok().map(|kind| (kind, None)),
    }
}

impl Providers {
    /// Tests a key that is not in use yet by asking the vendor for its models; takes at most 10 s.
    ///
    /// # Errors
    /// If the name is invalid or taken by a provider with precedence, if the address is invalid, or if the vendor
    /// refuses.
    pub async fn try_key(&self, config: ProviderConfig) -> Result<TriedKey, KeyRefusal> {
        let config = ProviderConfig { source: ProviderSource::DataFolder, ..config };
        check_name(&config, &[])?;
        self.check_free(&config.name)?;
        if matches!(config.kind, ProviderKind::Rehearsal | ProviderKind::Ollama) {
            return Err(KeyRefusal::Keyless(config.kind));
        }
        if config.kind == ProviderKind::OpenAiCompatible && config.base_url.is_none() {
            return Err(KeyRefusal::Nowhere { name: config.name });
        }
        let _permit = self.begin_test().ok_or(KeyRefusal::Busy)?;
        let name = config.name.clone();
        let entry = self.shared.maker.entry(config)?;
        match timeout(TRY_WAIT_MAX, entry.provider.models()).await {
            Ok(Ok(_)) => Ok(TriedKey { entry }),
            Ok(Err(error)) => Err(KeyRefusal::Vendor(error)),
            Err(_) => {
                let sentence = format!("{name}: no answer within {} s", TRY_WAIT_MAX.as_secs());
                Err(KeyRefusal::Vendor(ProviderError::new(ProviderErrorCode::Timeout, sentence)))
            }
        }
    }

    /// Uses the key from the next request on, replacing one kept under the same name.
    pub fn keep_key(&self, tried: TriedKey) {
        let mut kept = self.shared.kept.write().unwrap_or_else(PoisonError::into_inner);
        match kept.iter_mut().find(|entry| entry.config.name == tried.entry.config.name) {
            Some(entry) => *entry = tried.entry,
            None => kept.push(tried.entry),
        }
    }

    /// Stops using the kept key from the next request on. Answers in progress continue.
    pub fn forget_key(&self, name: &str) {
        let mut kept = self.shared.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|entry| entry.config.name != name);
    }

    /// Checks that no provider from the configuration or the environment has this name, since those have precedence
    /// over a kept key.
    ///
    /// # Errors
    /// [`KeyRefusal::Given`].
    pub fn check_free(&self, name: &str) -> Result<(), KeyRefusal> {
        match self.shared.given.iter().find(|entry| entry.config.name == name) {
            None => Ok(()),
            Some(entry) => Err(KeyRefusal::Given { name: name.to_owned(), place: entry.config.source.as_str() }),
        }
    }

    pub(crate) fn kept(&self) -> Vec<Arc<Entry>> {
        self.shared.kept.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a kept key of the same name is overridden by this provider.
    pub(crate) fn hides_key(&self, shown: &Entry) -> bool {
        let is_kept = |entry: &Arc<Entry>| entry.config.name == shown.config.name;
        shown.config.source != ProviderSource::DataFolder && self.kept().iter().any(is_kept)
    }
}

#[cfg(test)]
mod tests {
    use testkit::scripted_model::{Answer, ScriptedModel};

    use super::*;
    use crate::{ProviderOptions, ProviderSource};

    const KEY: &str = "sk-secret-4f9aQ7xT1mZ8";

    fn config(name: &str, base_url: &str) -> ProviderConfig {
        ProviderConfig {
            name: name.to_owned(),
            kind: ProviderKind::OpenAiCompatible,
            base_url: Some(base_url.to_owned()),
            api_key: Some(KEY.into()),
            models: Vec::new(),
            source: ProviderSource::Configuration,
        }
    }

    #[tokio::test]
    async fn a_key_that_was_taken_is_used_at_once_and_not_before_it_is_kept() {
        let model = ScriptedModel::start().await;
        model.set_models(&["a", "b"]);
        let providers = Providers::new(Vec::new()).unwrap();
        let tried = providers.try_key(config("lab", &model.base_url())).await.unwrap();
        assert!(providers.get("lab").is_none() && !format!("{tried:?}").contains("sk-secret"));
        providers.keep_key(tried);
        assert_eq!(
            (providers.default_name().await.as_str(), providers.default_model("lab").await),
            ("lab", Some("a".to_owned()))
        );
        let view = providers.views().await.remove(0);
        assert_eq!(
            (view.source.as_str(), view.has_key, view.hides_key, view.models.len()),
            ("data folder", true, false, 2)
        );
        providers.forget_key("lab");
        assert_eq!(providers.default_name().await, "rehearsal");
    }

    #[tokio::test]
    async fn a_key_that_is_refused_comes_back_with_the_vendors_words_and_never_the_key() {
        let model = ScriptedModel::start().await;
        model.otherwise(Answer::refuse(
            401,
            format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\"}}}}"),
        ));
        let url = model.base_url().replace("/v1", "/other");
        let providers = Providers::new(Vec::new()).unwrap();
        let refusal = providers.try_key(config("lab", &url)).await.unwrap_err();
        let KeyRefusal::Vendor(error) = &refusal else { panic!("{refusal:?}") };
        assert_eq!(error.code, ProviderErrorCode::Unauthorized);
        let sentence = refusal.to_string();
        assert!(
            sentence.contains("Incorrect API key provided") && sentence.ends_with("; nothing was kept"),
            "{sentence}"
        );
        assert!(!sentence.contains("4f9aQ7xT") && !format!("{refusal:?}").contains("4f9aQ7xT"), "{refusal:?}");
        assert!(providers.get("lab").is_none());
    }

    #[tokio::test]
    async fn what_is_configured_counts_more_and_says_that_a_key_waits_behind_it() {
        let own = ProviderConfig { api_key: Some("own".into()), ..config("lab", "http://127.0.0.1:1/v1") };
        let kept = ProviderConfig { source: ProviderSource::DataFolder, ..config("lab", "http://127.0.0.1:1/v1") };
        let options = ProviderOptions { configs: vec![own], kept: vec![kept], ..ProviderOptions::default() };
        let providers = Providers::of(options).unwrap();
        let view = providers.views().await.remove(0);
        assert_eq!((view.source.as_str(), view.has_key, view.hides_key), ("configuration", true, true));
        let refusal = providers.try_key(config("lab", "http://127.0.0.1:1/v1")).await.unwrap_err();
        assert_eq!(refusal, KeyRefusal::Given { name: "lab".to_owned(), place: "configuration" });
        providers.forget_key("lab");
        assert!(!providers.views().await[0].hides_key);
    }

    #[tokio::test]
    async fn nobody_is_asked_where_the_name_the_kind_or_the_address_cannot_be() {
        let providers = Providers::new(Vec::new()).unwrap();
        let refused = async |config| providers.try_key(config).await.unwrap_err().to_string();
        let url = "http://127.0.0.1:1/v1";
        assert!(refused(config("a b", url)).await.contains("name \"a b\" is not valid"));
        assert!(refused(config("rehearsal", url)).await.contains("built in"));
        assert!(refused(config("lab", "nowhere")).await.contains("base_url"));
        assert!(refused(ProviderConfig { base_url: None, ..config("lab", url) }).await.contains("needs base_url"));
        assert!(
            refused(ProviderConfig { kind: ProviderKind::Ollama, ..config("o", url) }).await.contains("takes no key")
        );
    }

    #[test]
    fn a_name_says_what_it_usually_is() {
        assert_eq!(usual_provider("anthropic"), Some((ProviderKind::Anthropic, None)));
        assert!(usual_provider("openrouter").unwrap().1.unwrap().starts_with("https://"));
        assert_eq!(usual_provider("lab"), None);
    }
}
