//! `[mcp.NAME]`: an MCP server that is started by a command or reached at an address.

use std::{collections::BTreeMap, fmt};

use ::mcp::{Address, BadServer, OAuthClient, ServerConfig, ServerName};
use protocol::PermissionRule;
use runtime::rules_refusal;
use secrecy::SecretString;
use serde::Deserialize;

/// The section as it is written in the file.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct McpTable {
    command: Option<Vec<String>>,
    url: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, SecretString>,
    #[serde(default)]
    headers: BTreeMap<String, SecretString>,
    oauth: Option<OAuthTable>,
    confine: Option<bool>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    permissions: Vec<PermissionRule>,
}

/// What an authorization server calls yoi.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct OAuthTable {
    client_id: String,
    client_secret: Option<SecretString>,
    #[serde(default)]
    scopes: Vec<String>,
}

// Written by hand: a program's arguments and an address may contain keys.
impl fmt::Debug for McpTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("McpTable").field("tools", &self.tools).finish_non_exhaustive()
    }
}

impl McpTable {
    /// # Errors
    /// A sentence that says what is wrong with the section and quotes no value.
    pub(super) fn config(&self, name: &str) -> Result<ServerConfig, String> {
        let told = |error: BadServer| error.to_string();
        let name = ServerName::parse(name).map_err(told)?;
        if let Some(sentence) = rules_refusal(&self.permissions, &[]) {
            return Err(sentence);
        }
        let address = match (&self.command, &self.url) {
            (Some(command), None) if self.headers.is_empty() => {
                Address::program(command.clone(), self.env.clone(), self.confine.unwrap_or(true))
            }
            (None, Some(url)) if self.env.is_empty() && self.confine.is_none() => {
                Address::url(url, self.headers.clone())
            }
            (Some(_), None) | (None, Some(_)) => Err(BadServer::Elsewhere),
            (None, None) | (Some(_), Some(_)) => Err(BadServer::Address),
        };
        let (tools, permissions) = (self.tools.clone(), self.permissions.clone());
        let config = ServerConfig::new(name, address.map_err(told)?, tools, permissions).map_err(told)?;
        let Some(OAuthTable { client_id, client_secret, scopes }) = self.oauth.clone() else { return Ok(config) };
        OAuthClient::new(client_id, client_secret, scopes).and_then(|client| config.with_oauth(client)).map_err(told)
    }
}
