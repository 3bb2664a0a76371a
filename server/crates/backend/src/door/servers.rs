//! MCP servers: what is known about them, restarts and logs.

use protocol::{ApiError, ErrorCode, McpLog, McpServerItem};
use runtime::Origin;

use super::Backend;

/// How much of an unknown server's name is quoted.
const NAME_CHARS_MAX: usize = 64;

/// Access to the MCP servers that models use.
#[derive(Debug, Clone, Copy)]
pub struct Servers<'a> {
    pub(super) backend: &'a Backend,
}

impl Servers<'_> {
    pub fn items(self) -> Vec<McpServerItem> {
        self.backend.settings().servers().items()
    }

    /// Ends the server's processes and gives the Pods that use it new connections.
    ///
    /// # Errors
    /// `not_found`.
    pub async fn restart(self, origin: &Origin, name: &str) -> Result<McpServerItem, ApiError> {
        let done = self.backend.settings().servers().restart(name).ok_or_else(|| missing(name));
        self.backend.audit().ended(origin, "mcp_restart", cut(name), None, &done).await;
        done
    }

    /// # Errors
    /// `not_found`.
    pub fn log(self, name: &str) -> Result<McpLog, ApiError> {
        let text = self.backend.settings().servers().log(name).ok_or_else(|| missing(name))?;
        Ok(McpLog { name: name.to_owned(), text })
    }
}

fn missing(name: &str) -> ApiError {
    let sentence =
        format!("no MCP server is called \"{}\"; a section [mcp.NAME] of the configuration adds one", cut(name));
    ApiError::new(ErrorCode::NotFound, sentence)
}

fn cut(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}
