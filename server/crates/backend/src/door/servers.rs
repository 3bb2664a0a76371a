//! MCP servers: what is known of them, a new beginning, their log.

use protocol::{ApiError, ErrorCode, McpLog, McpServerItem};
use runtime::Origin;

use super::Backend;

/// Of a name that no server has, what is told of it.
const NAME_CHARS_MAX: usize = 64;

/// This part knows the MCP servers that models use.
#[derive(Debug, Clone, Copy)]
pub struct Servers<'a> {
    pub(super) backend: &'a Backend,
}

impl Servers<'_> {
    pub fn items(self) -> Vec<McpServerItem> {
        self.backend.settings().servers().items()
    }

    /// The Pods that use it get new connections, and its processes end.
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
