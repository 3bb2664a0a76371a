//! The configuration of a server.

use std::{collections::BTreeMap, fmt};

use protocol::PermissionRule;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::names;

/// Why `[mcp.NAME]` is not valid. The message says how to fix it and never quotes a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadServer {
    #[error(
        "the name has 1 to 32 of the characters A-Z a-z 0-9 _ -, begins and ends with a letter or a digit, and has no __"
    )]
    Name,
    #[error("needs either command or url")]
    Address,
    #[error("command names a program first, without a NUL character")]
    Program,
    #[error("url is an http:// or https:// address without a name, a password or a #part")]
    Url,
    #[error("headers belong to a url, and env and confine to a command")]
    Elsewhere,
    #[error("env has the variable \"{0}\"; a name has no = and no NUL character, and its value no NUL character")]
    Variable(String),
    #[error("headers has \"{0}\", which is not a header, or is one that the protocol sets itself")]
    Header(String),
    #[error("oauth belongs to a url that has no `Authorization` among its headers")]
    OAuthElsewhere,
    #[error("oauth.{0}")]
    OAuth(&'static str),
    #[error("permissions[{0}].tool is none of this server's: name it as the server does, or with {1}__ before it")]
    Rule(usize, String),
}

/// The name of a server here, with which the names of its tools begin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// # Errors
    /// [`BadServer::Name`].
    pub fn parse(text: &str) -> Result<Self, BadServer> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric();
        let bytes = text.as_bytes();
        let is_good = (1..=names::SERVER_CHARS_MAX).contains(&bytes.len())
            && bytes.iter().all(|byte| is_plain(*byte) || matches!(byte, b'_' | b'-'))
            && bytes.first().is_some_and(|byte| is_plain(*byte))
            && bytes.last().is_some_and(|byte| is_plain(*byte))
            && !text.contains(names::BETWEEN);
        if is_good { Ok(Self(text.to_owned())) } else { Err(BadServer::Name) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Address {
    /// A program on this machine, and what it is started with.
    Program {
        command: Vec<String>,
        variables: BTreeMap<String, SecretString>,
        is_confined: bool,
    },
    Url {
        url: Url,
        headers: BTreeMap<String, SecretString>,
    },
    /// A server inside this process.
    #[cfg(test)]
    Here(crate::story::Scripted),
}

/// What an authorization server calls yoi, if somebody has registered it there by hand.
#[derive(Debug, Clone)]
pub struct OAuthClient {
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<SecretString>,
    /// The scopes to ask for; none: those that the server names.
    pub(crate) scopes: Vec<String>,
}

impl OAuthClient {
    /// # Errors
    /// [`BadServer::OAuth`]: a part cannot be sent.
    pub fn new(client_id: String, client_secret: Option<SecretString>, scopes: Vec<String>) -> Result<Self, BadServer> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !is_word(&client_id) {
            return Err(BadServer::OAuth("client_id is what the authorization server calls yoi, in ASCII characters"));
        }
        if client_secret.as_ref().is_some_and(|secret| !is_word(secret.expose_secret())) {
            return Err(BadServer::OAuth("client_secret has ASCII characters only, and at least one"));
        }
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
        };
        match scopes.iter().all(is_scope) {
            true => Ok(Self { client_id, client_secret, scopes }),
            false => Err(BadServer::OAuth("scopes is a list of words without spaces, quotes and backslashes")),
        }
    }
}

/// One server.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub name: ServerName,
    pub address: Address,
    /// The tools that are offered, by the server's own names; `None` means all.
    pub tools: Option<Vec<String>>,
    /// Rules about its tools, by the names that models use.
    pub permissions: Vec<PermissionRule>,
    /// How to log in, if yoi cannot register by itself.
    pub oauth: Option<OAuthClient>,
}

/// Headers that belong to the protocol or to HTTP itself.
const KEPT_HEADERS: [&str; 10] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

impl Address {
    /// # Errors
    /// The command has no program, or it or a variable contains a NUL.
    pub fn program(
        command: Vec<String>,
        variables: BTreeMap<String, SecretString>,
        is_confined: bool,
    ) -> Result<Self, BadServer> {
        let is_program = command.first().is_some_and(|program| !program.trim().is_empty());
        if !is_program || command.iter().any(|part| part.contains('\0')) {
            return Err(BadServer::Program);
        }
        let is_bad = |(name, value): &(&String, &SecretString)| {
            name.is_empty() || name.contains(['=', '\0']) || value.expose_secret().contains('\0')
        };
        if let Some((name, _)) = variables.iter().find(is_bad) {
            return Err(BadServer::Variable(name.replace('\0', "")));
        }
        Ok(Self::Program { command, variables, is_confined })
    }

    /// # Errors
    /// It is not an HTTP address, it contains more than the server's location, or a header cannot be sent.
    pub fn url(url: &str, headers: BTreeMap<String, SecretString>) -> Result<Self, BadServer> {
        let url = Url::parse(url).map_err(|_| BadServer::Url)?;
        let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() || !is_plain {
            return Err(BadServer::Url);
        }
        let is_good = |name: &str, value: &SecretString| {
            reqwest::header::HeaderName::from_bytes(name.as_bytes())
                .is_ok_and(|name| !KEPT_HEADERS.contains(&name.as_str()))
                && reqwest::header::HeaderValue::from_str(value.expose_secret()).is_ok()
        };
        match headers.iter().find(|(name, value)| !is_good(name, value)) {
            Some((name, _)) => Err(BadServer::Header(name.clone())),
            None => Ok(Self::Url { url, headers }),
        }
    }

    /// Returns the values that nobody may see.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let values = match self {
            Self::Program { variables: values, .. } | Self::Url { headers: values, .. } => values.values(),
            #[cfg(test)]
            Self::Here(_) => return Vec::new(),
        };
        let words = values.flat_map(|value| {
            let value = value.expose_secret();
            // In `Bearer TOKEN`, the token alone is a secret, too.
            [Some(value), value.split_once(' ').map(|(_, rest)| rest)].into_iter().flatten().map(str::to_owned)
        });
        words.collect()
    }
}

impl ServerConfig {
    /// Creates the configuration. Rules may name a tool as the server does or as models do.
    ///
    /// # Errors
    /// [`BadServer::Rule`]: the tool belongs to another server.
    pub fn new(
        name: ServerName,
        address: Address,
        tools: Option<Vec<String>>,
        permissions: Vec<PermissionRule>,
    ) -> Result<Self, BadServer> {
        let named = |(at, rule): (usize, PermissionRule)| {
            let tool = match names::server_of(&rule.tool) {
                Some(server) if server == name.as_str() => rule.tool.clone(),
                Some(_) => return Err(BadServer::Rule(at, name.to_string())),
                None => names::fit(name.as_str(), &rule.tool),
            };
            Ok(PermissionRule { tool, ..rule })
        };
        let permissions = permissions.into_iter().enumerate().map(named).collect::<Result<_, _>>()?;
        Ok(Self { name, address, tools, permissions, oauth: None })
    }

    /// Sets what yoi is called at the server's authorization server.
    ///
    /// # Errors
    /// [`BadServer::OAuthElsewhere`]: there is nothing to log in to.
    pub fn with_oauth(self, client: OAuthClient) -> Result<Self, BadServer> {
        let has_login = matches!(&self.address, Address::Url { headers, .. }
            if !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")));
        match has_login {
            true => Ok(Self { oauth: Some(client), ..self }),
            false => Err(BadServer::OAuthElsewhere),
        }
    }

    /// Returns whether the tool, by the server's own name, is to be offered.
    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|names| names.iter().any(|name| name == tool))
    }
}

#[cfg(test)]
mod tests {
    use protocol::PermissionDecision;

    use super::*;

    fn secrets(pairs: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect()
    }

    #[test]
    fn a_name_is_one_that_can_begin_the_name_of_a_tool() {
        for good in ["a", "files", "my-server", "a_b", "A1"] {
            assert!(ServerName::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a__b", "_a", "a_", "-a", "ä", "a b", "a.b", &"a".repeat(33)] {
            assert_eq!(ServerName::parse(bad), Err(BadServer::Name), "{bad}");
        }
    }

    #[test]
    fn an_address_says_where_the_server_is_and_nothing_else() {
        for good in ["http://127.0.0.1:3000/mcp", "https://example.com/mcp?team=1"] {
            assert!(Address::url(good, BTreeMap::new()).is_ok(), "{good}");
        }
        for bad in ["ftp://x", "http://", "x", "http://name:word@x/", "http://x/#part", "file:///etc/passwd"] {
            assert_eq!(Address::url(bad, BTreeMap::new()).err(), Some(BadServer::Url), "{bad}");
        }
    }

    #[test]
    fn what_cannot_be_sent_or_set_is_named_without_its_value() {
        let refused = |pairs: &[(&str, &str)]| Address::url("http://x/", secrets(pairs)).unwrap_err();
        for (name, value) in [("Host", "x"), ("Mcp-Session-Id", "x"), ("a b", "x"), ("X-Key", "sec\nret")] {
            let sentence = refused(&[(name, value)]).to_string();
            assert!(sentence.contains(name) && !sentence.contains("sec"), "{sentence}");
        }
        let program = |pairs: &[(&str, &str)]| Address::program(vec!["x".into()], secrets(pairs), true);
        assert_eq!(program(&[("A=B", "x")]).unwrap_err(), BadServer::Variable("A=B".into()));
        assert_eq!(program(&[("A", "sec\0ret")]).unwrap_err(), BadServer::Variable("A".into()));
        assert_eq!(Address::program(Vec::new(), BTreeMap::new(), true).unwrap_err(), BadServer::Program);
        let shown = format!("{:?}", Address::url("http://x/", secrets(&[("X-Key", "hidden")])).unwrap());
        assert!(!shown.contains("hidden"), "{shown}");
    }

    #[test]
    fn a_client_is_named_in_what_can_be_sent_and_never_shown() {
        let client = |id: &str, secret: &str, scope: &str| {
            OAuthClient::new(id.into(), Some(SecretString::from(secret)), vec![scope.into()])
        };
        assert!(client("yoi", "hush", "repo:read").is_ok());
        for (id, secret, scope, named) in
            [("", "hush", "a", "client_id"), ("yoi", "hu\nsh", "a", "client_secret"), ("yoi", "hush", "a b", "scopes")]
        {
            let sentence = client(id, secret, scope).unwrap_err().to_string();
            assert!(sentence.contains(named) && !sentence.contains("hu"), "{sentence}");
        }
        assert!(!format!("{:?}", client("yoi", "hush", "a")).contains("hush"));
        let of = |address: Address| {
            let config = ServerConfig::new(ServerName::parse("a").unwrap(), address, None, Vec::new()).unwrap();
            config.with_oauth(client("yoi", "hush", "a").unwrap())
        };
        assert!(of(Address::url("https://x/", secrets(&[("X-Team", "1")])).unwrap()).is_ok());
        let with_header = Address::url("https://x/", secrets(&[("authorization", "Bearer 1")])).unwrap();
        assert_eq!(of(with_header).unwrap_err(), BadServer::OAuthElsewhere);
        let program = Address::program(vec!["x".into()], BTreeMap::new(), true).unwrap();
        assert_eq!(of(program).unwrap_err(), BadServer::OAuthElsewhere);
    }

    #[test]
    fn a_rule_of_a_server_is_over_its_own_tools() {
        let rule = |tool: &str| PermissionRule {
            tool: tool.into(),
            pattern: None,
            folder: None,
            pod: None,
            decision: PermissionDecision::Allow,
        };
        let config = |tool: &str| {
            let address = Address::program(vec!["x".into()], BTreeMap::new(), true).unwrap();
            ServerConfig::new(ServerName::parse("files").unwrap(), address, None, vec![rule(tool)])
        };
        for tool in ["read", "files__read"] {
            assert_eq!(config(tool).unwrap().permissions[0].tool, "files__read");
        }
        assert_eq!(config("other__read").unwrap_err(), BadServer::Rule(0, "files".into()));
    }
}
