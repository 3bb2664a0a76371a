//! Which models there are, and what is missing; never a key or an address.

use serde::{Deserialize, Serialize};

/// A provider that was configured or found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderView {
    pub name: String,
    /// `openai`, `anthropic`, `gemini`, `ollama` or `rehearsal`.
    pub kind: String,
    /// Used for a Pod that names none.
    pub default: bool,
    /// Where it was found: `built in`, `environment` or `configuration`.
    pub source: String,
    /// A help, not a gate: any model name may be used.
    pub models: Vec<ModelView>,
    /// What is missing before it can be used, and how to add it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// One model of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelView {
    pub name: String,
    /// Tokens of context; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<u64>,
}

/// A provider that could be there and is not, and what would make it appear.
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
