//! The address of a vendor's server in the form that the library expects: with the version, ending in a slash.

use reqwest::Url;
use secrecy::SecretString;

use crate::{ProviderError, ProviderErrorCode, ProviderKind};

/// The default port of Ollama.
const OLLAMA_PORT: u16 = 11434;

#[derive(Debug, Clone)]
pub(super) struct Address {
    url: Url,
}

impl Address {
    /// Parses `base_url` as the vendors' own tools do; `None` means the vendor's own address.
    pub(super) fn parse(kind: ProviderKind, base_url: Option<&str>) -> Result<Self, ProviderError> {
        let text = match (kind, base_url.map(str::trim)) {
            (ProviderKind::Ollama, Some(text)) if !text.contains("://") => format!("http://{text}"),
            (_, Some(text)) => text.to_owned(),
            (_, None) => official(kind).to_owned(),
        };
        let mut url = Url::parse(&text).map_err(|error| bad(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(bad("it has to begin with http:// or https://".to_owned()));
        }
        if kind == ProviderKind::Ollama {
            settle_ollama(&mut url, &text);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        let path = match kind {
            // Anthropic's tools leave the version out.
            ProviderKind::Anthropic if !path.ends_with("/v1") => format!("{path}/v1/"),
            _ => format!("{path}/"),
        };
        url.set_path(&path);
        Ok(Self { url })
    }

    /// The URL of `path` below the address, or at the server's root if it begins with a slash. The address's own
    /// query is kept.
    pub(super) fn to(&self, path: &str, query: Option<&str>) -> Url {
        let mut url = self.url.clone();
        match path.starts_with('/') {
            true => url.set_path(path),
            false => url.set_path(&format!("{}{path}", self.url.path())),
        }
        let queries: Vec<_> = self.url.query().into_iter().chain(query).filter(|query| !query.is_empty()).collect();
        url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
        url
    }

    /// Whether this is the vendor's own server.
    pub(super) fn is_official(&self, kind: ProviderKind) -> bool {
        Url::parse(official(kind)).is_ok_and(|official| official.host_str() == self.url.host_str())
    }

    pub(super) fn is_loopback(&self) -> bool {
        match self.url.host_str().map(|host| host.trim_matches(['[', ']'])) {
            Some("localhost") => true,
            Some(host) => host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()),
            None => false,
        }
    }

    /// Secrets that users put into addresses: passwords and query values.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let password = self.url.password().map(str::to_owned);
        let values = self.url.query_pairs().map(|(_, value)| value.into_owned()).filter(|value| value.len() >= 8);
        password.into_iter().chain(values).map(SecretString::from).collect()
    }
}

fn official(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenAi | ProviderKind::OpenAiCompatible => "https://api.openai.com/v1",
        ProviderKind::Anthropic => "https://api.anthropic.com/v1",
        ProviderKind::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        ProviderKind::Ollama | ProviderKind::Rehearsal => "http://127.0.0.1:11434",
    }
}

/// `OLLAMA_HOST` is also the address that a server listens on, so it may lack a port or be `0.0.0.0`.
fn settle_ollama(url: &mut Url, text: &str) {
    if url.host_str() == Some("0.0.0.0") {
        // Cannot fail: an IP address is a valid host of an http URL.
        let _ = url.set_host(Some("127.0.0.1"));
    }
    let names_port = text.rsplit(['/', ']', '@']).any(|part| part.contains(':') && !part.ends_with(':'));
    if url.port().is_none() && url.scheme() == "http" && !names_port {
        let _ = url.set_port(Some(OLLAMA_PORT));
    }
}

fn bad(reason: String) -> ProviderError {
    ProviderError::new(ProviderErrorCode::BadRequest, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(kind: ProviderKind, text: &str) -> String {
        Address::parse(kind, Some(text)).unwrap().to("", None).to_string()
    }

    #[test]
    fn an_address_is_read_as_the_vendors_tools_read_it() {
        assert_eq!(base(ProviderKind::OpenAi, "http://127.0.0.1:8000/v1"), "http://127.0.0.1:8000/v1/");
        assert_eq!(base(ProviderKind::OpenAi, "http://h/v1/?api-version=2"), "http://h/v1/?api-version=2");
        assert_eq!(base(ProviderKind::Anthropic, "https://proxy.example"), "https://proxy.example/v1/");
        assert_eq!(base(ProviderKind::Anthropic, "https://proxy.example/v1/"), "https://proxy.example/v1/");
        assert_eq!(base(ProviderKind::Ollama, "0.0.0.0"), "http://127.0.0.1:11434/");
        assert_eq!(base(ProviderKind::Ollama, "box:9999"), "http://box:9999/");
        assert_eq!(base(ProviderKind::Ollama, "https://box"), "https://box/");
        assert_eq!(
            Address::parse(ProviderKind::OpenAi, None).unwrap().to("", None).as_str(),
            "https://api.openai.com/v1/"
        );
    }

    #[test]
    fn a_path_goes_before_the_query() {
        let address = Address::parse(ProviderKind::OpenAi, Some("http://h/v1?a=b")).unwrap();
        assert_eq!(address.to("chat/completions", None).as_str(), "http://h/v1/chat/completions?a=b");
        assert_eq!(address.to("/props", None).as_str(), "http://h/props?a=b");
        assert_eq!(address.to("m:stream", Some("alt=sse")).as_str(), "http://h/v1/m:stream?a=b&alt=sse");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "127.0.0.1:8000", "ftp://h/", "http://"] {
            assert!(Address::parse(ProviderKind::OpenAi, Some(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_asked_without_a_proxy() {
        for (text, expected) in [("http://localhost:1/", true), ("http://[::1]:1/", true), ("http://h/", false)] {
            assert_eq!(Address::parse(ProviderKind::OpenAi, Some(text)).unwrap().is_loopback(), expected, "{text}");
        }
    }
}
