//! The models available, and what is missing; never a key or an address.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Price;

/// A provider that was configured or found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderView {
    pub name: String,
    /// `openai`, `openai-compatible`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub kind: String,
    /// The default for Pods that name no provider.
    pub default: bool,
    /// Where it was found: `built in`, `found`, `data folder`, `environment` or `configuration`.
    pub source: String,
    /// Suggestions only: any model name may be used.
    pub models: Vec<ModelView>,
    /// What is missing before it can be used, and how to add it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Calls to it use a key.
    #[serde(default)]
    pub has_key: bool,
    /// A key for this name is stored but not used, because the configuration takes precedence.
    #[serde(default)]
    pub hides_key: bool,
}

/// One model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelView {
    pub name: String,
    #[serde(flatten)]
    pub facts: ModelFacts,
}

/// One model that a Pod can use, with its provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelItem {
    pub provider: String,
    pub model: String,
    #[serde(flatten)]
    pub facts: ModelFacts,
}

/// What is known about a model. What is not known is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelFacts {
    /// The size of the context, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
    /// The maximum size of one answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// The currency of `prices` as an ISO 4217 code, such as `USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// It accepts pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// It can call tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// The levels of thinking it can be asked for, lowest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Vec<Thinking>>,
    #[serde(default)]
    pub origin: FactOrigins,
}

/// Prices of one million tokens each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Prices {
    pub input: Price,
    pub output: Price,
    /// Input that was read from the provider's cache; priced as other input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Price>,
    /// Input that was written to the provider's cache; priced as other input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<Price>,
}

/// Where each known fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FactOrigins {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<FactOrigin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<FactOrigin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<FactOrigin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<FactOrigin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<FactOrigin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<FactOrigin>,
}

/// Where a fact about a model comes from. If there are several, the last in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactOrigin {
    /// The table that is built in.
    Table,
    /// The model's own server.
    Server,
    /// `[models."NAME"]` in the configuration.
    Config,
}

impl FactOrigin {
    /// Its JSON value, which is also shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Server => "server",
            Self::Config => "config",
        }
    }
}

/// A provider and one of its models, written `PROVIDER/MODEL`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelName {
    pub provider: String,
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.provider, self.model)
    }
}

impl TryFrom<String> for ModelName {
    type Error = String;

    /// The provider ends at the first `/`, because a model's own name may contain more.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.trim().is_empty() && !model.trim().is_empty() => {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            _ => Err(format!("\"{text}\" names no model; write PROVIDER/MODEL, such as anthropic/claude-sonnet-4-5")),
        }
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> Self {
        name.to_string()
    }
}

/// How hard a model is asked to think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    Off,
    Low,
    Medium,
    High,
    Max,
}

impl Thinking {
    pub const ALL: [Self; 5] = [Self::Off, Self::Low, Self::Medium, Self::High, Self::Max];

    /// Its JSON value, which is also shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for Thinking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A word that is not a thinking level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a thinking level; use off, low, medium, high or max")]
pub struct ThinkingError(String);

impl FromStr for Thinking {
    type Err = ThinkingError;

    fn from_str(text: &str) -> Result<Self, ThinkingError> {
        Self::ALL.into_iter().find(|level| level.as_str() == text).ok_or_else(|| ThinkingError(text.to_owned()))
    }
}

/// A provider that is not configured, and what would make it appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnconfiguredProvider {
    pub kind: String,
    pub missing: String,
}

/// The providers that were found, and what would make more appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Providers {
    pub items: Vec<ProviderView>,
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub unconfigured: Vec<UnconfiguredProvider>,
    pub next: Option<String>,
}
