//! The caller of a request, and its name in the audit.

use backend::{Origin, TokenHolder};
use http::{HeaderMap, request::Parts};
use protocol::{CommandId, PodRef, RuntimeId, WorkerId};
use rmcp::{
    ErrorData, RoleServer,
    model::{Extensions, Implementation, RequestId},
    service::RequestContext,
};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// How many characters of a client's name and version the audit keeps.
const NAME_CHARS_MAX: usize = 40;
const VERSION_CHARS_MAX: usize = 20;
/// The header in which a client of the newer protocol, which has no sessions, names a request that it may repeat.
const KEY_HEADER: &str = "idempotency-key";
pub(crate) const SESSION_HEADER: &str = "mcp-session-id";

/// Whose token a request carries.
#[derive(Debug, Clone)]
pub enum Caller {
    /// The server's own token: a user's program.
    Person,
    /// The token of a Pod's agent.
    Pod(TokenHolder),
}

impl Caller {
    /// The caller of the request with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> Result<Self, ErrorData> {
        let caller = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Self>());
        caller.cloned().ok_or_else(|| ErrorData::internal_error("the request has lost its caller", None))
    }

    /// Whether a request by one may continue what the other began.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Person, Self::Person) => true,
            // A new token of the same Pod is another session.
            (Self::Pod(one), Self::Pod(other)) => {
                one.worker_id == other.worker_id && !one.ended.is_cancelled() && !other.ended.is_cancelled()
            }
            _ => false,
        }
    }

    /// Cancelled when the caller's token expires; `None` for one that is valid as long as the server runs.
    pub fn ended(&self) -> Option<&CancellationToken> {
        match self {
            Self::Person => None,
            Self::Pod(holder) => Some(&holder.ended),
        }
    }
}

pub(crate) fn own(worker_id: &WorkerId) -> PodRef {
    PodRef::new(RuntimeId::local(), worker_id.clone())
}

/// The audit's name for a user's client: what it calls itself, sanitized.
pub(crate) fn origin_of_person(client: Option<&Implementation>) -> Origin {
    let said = |text: &str, most: usize| -> String {
        let seen = text.chars().filter(|letter| letter.is_ascii_graphic() || *letter == ' ');
        seen.take(most).collect::<String>().trim().to_owned()
    };
    let name = client.map(|client| said(&client.name, NAME_CHARS_MAX)).unwrap_or_default();
    let version = client.map(|client| said(&client.version, VERSION_CHARS_MAX)).unwrap_or_default();
    let client = match (name.is_empty(), version.is_empty()) {
        (true, _) => "mcp".to_owned(),
        (false, true) => format!("mcp:{name}"),
        (false, false) => format!("mcp:{name} {version}"),
    };
    Origin { by: "operator".to_owned(), client }
}

/// The command id of a call: the same when a request is repeated. Without a session or a named key each request is
/// new, because two clients may well number their requests in the same way.
pub(crate) fn key_of(context: &RequestContext<RoleServer>, tool: &str) -> CommandId {
    let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
    headers.and_then(|headers| named(headers, &context.id, tool)).unwrap_or_else(CommandId::random)
}

fn named(headers: &HeaderMap, id: &RequestId, tool: &str) -> Option<CommandId> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty());
    let place = match (text(KEY_HEADER), text(SESSION_HEADER)) {
        (Some(key), _) => format!("key\0{key}"),
        (None, Some(session)) => format!("session\0{session}\0{}", id.clone().into_json_value()),
        (None, None) => return None,
    };
    let hash = Sha256::digest(format!("{place}\0{tool}"));
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    CommandId::parse(&format!("mcp-{hex}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_called_what_it_says_without_what_would_mislead() {
        let of = |name: &str, version: &str| origin_of_person(Some(&Implementation::new(name, version))).client;
        assert_eq!(of("claude-code", "2.1.0"), "mcp:claude-code 2.1.0");
        assert_eq!(of("  a\u{202e}b\n\u{0}c ", ""), "mcp:abc");
        assert_eq!(of("", "1"), "mcp");
        assert_eq!(of(&"x".repeat(9_999), &"1".repeat(9_999)).len(), 4 + NAME_CHARS_MAX + 1 + VERSION_CHARS_MAX);
        assert_eq!(origin_of_person(None).client, "mcp");
    }

    #[test]
    fn a_request_that_comes_twice_has_one_key_and_others_have_others() {
        let headers = |pairs: &[(&'static str, &str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
        };
        let session = headers(&[(SESSION_HEADER, "s")]);
        let key = |headers: &HeaderMap, id: i64, tool: &str| named(headers, &RequestId::Number(id), tool);
        assert_eq!(key(&session, 1, "send"), key(&session, 1, "send"));
        assert_ne!(key(&session, 1, "send"), key(&session, 2, "send"));
        assert_ne!(key(&session, 1, "send"), key(&session, 1, "approve"));
        assert_ne!(key(&session, 1, "send"), key(&headers(&[(SESSION_HEADER, "t")]), 1, "send"));
        assert_ne!(
            named(&session, &RequestId::Number(1), "send"),
            named(&session, &RequestId::String("1".into()), "send")
        );
        let keyed = headers(&[(SESSION_HEADER, "s"), (KEY_HEADER, "k")]);
        assert_eq!(key(&keyed, 1, "send"), key(&keyed, 2, "send"));
        assert_eq!(key(&HeaderMap::new(), 1, "send"), None);
    }
}
