//! The providers, from the configuration file and from the environment.

use std::{fmt, str::FromStr};

use secrecy::SecretString;

/// One provider, as configured or detected.
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    pub name: String,
    pub kind: ProviderKind,
    /// `None`: the vendor's own address.
    pub base_url: Option<String>,
    pub api_key: Option<SecretString>,
    /// Suggestions for users; if empty, the server is asked.
    pub models: Vec<String>,
    pub source: ProviderSource,
}

/// Where a provider's settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderSource {
    BuiltIn,
    /// A server detected on this machine, at a usual port.
    Found,
    Environment,
    Configuration,
    /// Its key was given to the running server, which keeps it in its data folder.
    DataFolder,
}

impl ProviderSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::Found => "found",
            Self::Environment => "environment",
            Self::Configuration => "configuration",
            Self::DataFolder => "data folder",
        }
    }
}

/// The wire protocol of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// OpenAI itself.
    OpenAi,
    /// The chat completions API, which OpenAI defined and many others have adopted.
    OpenAiCompatible,
    Anthropic,
    Gemini,
    Ollama,
    Rehearsal,
}

impl ProviderKind {
    pub const ALL: [Self; 6] =
        [Self::OpenAi, Self::OpenAiCompatible, Self::Anthropic, Self::Gemini, Self::Ollama, Self::Rehearsal];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Rehearsal => "rehearsal",
        }
    }

    /// Whether both use the same environment variables, so that a key for one works for the other.
    pub(crate) fn is_like(self, other: Self) -> bool {
        let family = |kind| if kind == Self::OpenAiCompatible { Self::OpenAi } else { kind };
        family(self) == family(other)
    }

    /// The environment variable with its key, if it has one.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi | Self::OpenAiCompatible => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama | Self::Rehearsal => None,
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An unknown kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider kind {0:?}; it is one of openai, openai-compatible, anthropic, gemini, ollama, rehearsal")]
pub struct ProviderKindError(String);

impl FromStr for ProviderKind {
    type Err = ProviderKindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| ProviderKindError(text.to_owned()))
    }
}

impl ProviderConfig {
    /// What is missing before it can be used, and how to add it. A server at a custom address may need no key.
    pub(crate) fn missing(&self) -> Option<String> {
        let variable = self.kind.key_variable()?;
        if self.api_key.is_some() || self.base_url.is_some() {
            return None;
        }
        Some(match self.name == self.kind.as_str() {
            true => format!("no key: set {variable}, or api_key_env or api_key_file in [providers.{}]", self.name),
            false => format!("no key: set api_key_env or api_key_file in [providers.{}]", self.name),
        })
    }
}

/// The provider settings in the environment; empty strings count as absent.
#[derive(Debug, Clone, Default)]
pub struct ProviderEnvironment {
    pub openai_api_key: Option<SecretString>,
    pub openai_base_url: Option<String>,
    pub anthropic_api_key: Option<SecretString>,
    pub anthropic_base_url: Option<String>,
    pub gemini_api_key: Option<SecretString>,
    /// As Ollama itself reads it: scheme and port are optional.
    pub ollama_host: Option<String>,
}

impl ProviderEnvironment {
    /// Returns the configured providers, with key and address from the environment where the names match, followed by
    /// those that only the environment has.
    pub fn apply(self, mut configs: Vec<ProviderConfig>) -> Vec<ProviderConfig> {
        for found in self.found() {
            match configs.iter_mut().find(|config| config.name == found.name) {
                Some(config) if config.kind.is_like(found.kind) => {
                    config.api_key = found.api_key.or_else(|| config.api_key.take());
                    config.base_url = found.base_url.or_else(|| config.base_url.take());
                }
                // The name was deliberately given to something else.
                Some(_) => (),
                None => configs.push(found),
            }
        }
        configs
    }

    fn found(self) -> Vec<ProviderConfig> {
        [
            (ProviderKind::OpenAi, self.openai_api_key, self.openai_base_url),
            (ProviderKind::Anthropic, self.anthropic_api_key, self.anthropic_base_url),
            (ProviderKind::Gemini, self.gemini_api_key, None),
            (ProviderKind::Ollama, None, self.ollama_host),
        ]
        .into_iter()
        .map(|(kind, api_key, base_url)| {
            (kind, api_key.filter(is_given), base_url.filter(|url| !url.trim().is_empty()))
        })
        .filter(|(_, api_key, base_url)| api_key.is_some() || base_url.is_some())
        .map(|(kind, api_key, base_url)| ProviderConfig {
            name: kind.as_str().to_owned(),
            // A custom address means a custom server, which supports only what all compatible servers do.
            kind: match (kind, &base_url) {
                (ProviderKind::OpenAi, Some(_)) => ProviderKind::OpenAiCompatible,
                _ => kind,
            },
            base_url,
            api_key,
            models: Vec::new(),
            source: ProviderSource::Environment,
        })
        .collect()
    }
}

fn is_given(key: &SecretString) -> bool {
    use secrecy::ExposeSecret;
    !key.expose_secret().trim().is_empty()
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn configured(name: &str, kind: ProviderKind) -> ProviderConfig {
        ProviderConfig {
            name: name.to_owned(),
            kind,
            base_url: Some("http://file/v1".to_owned()),
            api_key: Some("file-key".into()),
            models: vec!["m".to_owned()],
            source: ProviderSource::Configuration,
        }
    }

    #[test]
    fn the_environment_wins_over_the_file_field_by_field() {
        let environment =
            ProviderEnvironment { openai_api_key: Some("env-key".into()), ..ProviderEnvironment::default() };
        let configs = environment.apply(vec![configured("openai", ProviderKind::OpenAi)]);
        assert_eq!(configs.len(), 1);
        assert_eq!(configs[0].api_key.as_ref().unwrap().expose_secret(), "env-key");
        assert_eq!(configs[0].base_url.as_deref(), Some("http://file/v1"));
        assert_eq!(configs[0].models, ["m"]);
        assert_eq!(configs[0].source, ProviderSource::Configuration);
    }

    #[test]
    fn configured_ones_come_first_and_found_ones_after() {
        let environment = ProviderEnvironment {
            anthropic_api_key: Some("k".into()),
            ollama_host: Some("127.0.0.1".to_owned()),
            openai_api_key: Some("  ".into()),
            ..ProviderEnvironment::default()
        };
        let configs = environment.apply(vec![configured("mine", ProviderKind::OpenAi)]);
        let names: Vec<_> = configs.iter().map(|config| config.name.as_str()).collect();
        assert_eq!(names, ["mine", "anthropic", "ollama"]);
    }

    #[test]
    fn a_name_that_the_file_gave_to_another_kind_is_left_alone() {
        let environment = ProviderEnvironment { openai_api_key: Some("k".into()), ..ProviderEnvironment::default() };
        let configs = environment.apply(vec![configured("openai", ProviderKind::Ollama)]);
        assert_eq!(configs.len(), 1);
        assert_eq!(configs[0].api_key.as_ref().unwrap().expose_secret(), "file-key");
    }

    #[test]
    fn an_unknown_kind_is_an_error_that_names_the_known_ones() {
        let error = "openia".parse::<ProviderKind>().unwrap_err().to_string();
        assert!(error.contains("\"openia\"") && error.contains("openai, openai-compatible, anthropic"), "{error}");
    }

    #[test]
    fn a_config_never_shows_its_key() {
        assert!(!format!("{:?}", configured("openai", ProviderKind::OpenAi)).contains("file-key"));
    }
}
