//! MCP servers: what is known about them, restarts, logs and logins.

use jiff::Timestamp;
use mcp::{LOGIN_LIFE, LoginAnswer, LoginFailed, LoginWish, content_bytes};
use protocol::{ApiError, BlobView, ErrorCode, McpContent, McpLog, McpLogin, McpServerItem};
use runtime::Origin;

use super::Backend;
use crate::Session;

/// Where browsers come back to after a login to a server; its name follows.
pub const MCP_CALLBACK: &str = "/mcp/oauth/callback/";
/// Where yoi describes itself as a client of an authorization server; a server's name follows.
pub const MCP_CLIENT: &str = "/mcp/oauth/client/";

/// The origin of this server to which a browser comes back after a login elsewhere: `http://localhost:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnAddress(pub String);

impl ReturnAddress {
    fn is_reached_by_others(&self) -> bool {
        self.0.starts_with("https://")
    }
}

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

    /// Begins a login to a server, for the browser with this login here, or for whoever gets the address. The browser
    /// comes back to `back`.
    ///
    /// # Errors
    /// `not_found`; `invalid_input` if the server has no login; `provider_error` or `timeout` if the server or its
    /// authorization server refuses or does not answer.
    pub async fn log_in(
        self,
        origin: &Origin,
        name: &str,
        back: &ReturnAddress,
        session: Option<&Session>,
    ) -> Result<McpLogin, ApiError> {
        let wish = LoginWish {
            redirect_uri: redirect_uri(back, name),
            client_metadata_url: back.is_reached_by_others().then(|| format!("{}{MCP_CLIENT}{name}", back.0)),
            caller: session.map(Session::id),
        };
        let begun = self.backend.settings().servers().begin_login(name, wish).await;
        let done = begun.map_err(|failed| refused(name, failed));
        self.backend.audit().ended(origin, "mcp_login", cut(name), None, &done).await;
        let expires_at = Timestamp::now() + LOGIN_LIFE;
        done.map(|begun| McpLogin { name: name.to_owned(), url: begun.url, host: begun.host, expires_at })
    }

    /// Ends a login with what the browser brought back.
    ///
    /// A browser that brings no login here is refused without a row in the audit if `may_come_again`: it is then led to
    /// the console's own address, where it has one, and what happens there is audited.
    ///
    /// # Errors
    /// `not_found`; `permission_denied` in another browser; `invalid_input` if it is unknown, used or over;
    /// `provider_error` or `timeout` if the authorization server refuses or does not answer.
    pub async fn come_back(
        self,
        origin: &Origin,
        name: &str,
        answer: LoginAnswer,
        session: Option<&Session>,
        may_come_again: bool,
    ) -> Result<(), ApiError> {
        let session = session.map(Session::id);
        let ended = self.backend.settings().servers().finish_login(name, answer, session.as_deref()).await;
        // Anybody can bring a wrong answer, any number of times.
        let is_about_a_login = match &ended {
            Err(LoginFailed::NoServer | LoginFailed::Unknown(_)) => false,
            Err(LoginFailed::OtherBrowser) => session.is_some() || !may_come_again,
            _ => true,
        };
        let done = ended.map_err(|failed| refused(name, failed));
        if !is_about_a_login {
            return done;
        }
        self.backend.audit().ended(origin, "mcp_logged_in", cut(name), None, &done).await;
        done
    }

    /// Forgets the login to a server. Without one this changes nothing.
    ///
    /// # Errors
    /// `not_found`; `internal` if it cannot be written down.
    pub async fn log_out(self, origin: &Origin, name: &str) -> Result<McpServerItem, ApiError> {
        let done = self.backend.settings().servers().forget_login(name).await;
        let done = done.map_err(|failed| refused(name, failed));
        self.backend.audit().ended(origin, "mcp_logout", cut(name), None, &done).await;
        done
    }

    /// Keeps the content of a resource, so that a message can carry it.
    ///
    /// # Errors
    /// `invalid_input`: it is empty. `payload_too_large`.
    pub async fn keep(self, origin: &Origin, content: McpContent) -> Result<BlobView, ApiError> {
        let body = content_bytes(&content);
        self.backend.blobs().keep(origin, content.media_type, body.into()).await
    }

    /// # Errors
    /// `not_found`.
    pub fn log(self, name: &str) -> Result<McpLog, ApiError> {
        let text = self.backend.settings().servers().log(name).ok_or_else(|| missing(name))?;
        Ok(McpLog { name: name.to_owned(), text })
    }
}

/// Returns the address that a browser comes back to.
pub fn redirect_uri(back: &ReturnAddress, name: &str) -> String {
    format!("{}{MCP_CALLBACK}{name}", back.0)
}

fn refused(name: &str, failed: LoginFailed) -> ApiError {
    let code = match failed {
        LoginFailed::NoServer => return missing(name),
        LoginFailed::NotOverHttp(_) | LoginFailed::HasHeader(_) | LoginFailed::Unknown(_) => ErrorCode::InvalidInput,
        LoginFailed::OtherBrowser => ErrorCode::PermissionDenied,
        LoginFailed::Refused(..) => ErrorCode::ProviderError,
        LoginFailed::Late(_) => ErrorCode::Timeout,
        LoginFailed::Unwritten(_) => ErrorCode::Internal,
    };
    ApiError::new(code, failed.to_string())
}

fn missing(name: &str) -> ApiError {
    let sentence =
        format!("no MCP server is called \"{}\"; a section [mcp.NAME] of the configuration adds one", cut(name));
    ApiError::new(ErrorCode::NotFound, sentence)
}

fn cut(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}
