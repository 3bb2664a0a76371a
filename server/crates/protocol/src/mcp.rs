//! MCP servers as people see them: never an address, a secret or an environment.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Whether a server is there for the Pods that use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpServerState {
    /// No Pod uses it now.
    Idle,
    Connecting,
    Ready,
    /// It does not answer, or its program ended. It is tried again by itself.
    Away,
    /// It wants somebody to log in.
    Login,
}

impl McpServerState {
    /// Returns the name used in JSON and on screens.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Away => "away",
            Self::Login => "login",
        }
    }
}

/// A configured server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpServerItem {
    pub name: String,
    pub state: McpServerState,
    /// What went wrong last, or what of it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// By the names that models call them by; absent while nobody has asked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Whether somebody has logged in to it; absent means no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub logged_in: bool,
}

/// A login to a server that has begun: where a person continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpLogin {
    pub name: String,
    /// The page of the authorization server. It is for one person and one login.
    pub url: String,
    /// The host of that page.
    pub host: String,
    pub expires_at: Timestamp,
}

/// What a server has written on its standard error: the newest of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpLog {
    pub name: String,
    pub text: String,
}

/// A prompt of a server, which makes a message for a person to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpPrompt {
    /// `SERVER__prompt`.
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// In the server's order.
    pub arguments: Vec<McpArgument>,
}

/// An argument of a prompt; its value is a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpArgument {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub required: bool,
}

/// What a prompt made: a text from a stranger, which nobody has sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpPromptText {
    pub name: String,
    pub text: String,
}

/// Something that a server can be asked for by its address, or a template of such addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpResource {
    pub server: String,
    /// The address. With a `template`, its beginning, up to a variable that has to be typed.
    pub uri: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The template that the address belongs to (RFC 6570), if the address is not whole yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
}

/// The content of a resource: either a text, of which at most 30,000 characters, or the bytes of a file as base64.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct McpContent {
    pub uri: String,
    pub media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}
