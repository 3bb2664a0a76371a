//! How discovery and token requests go out.
//!
//! A server's metadata names other addresses, and the server counts as hostile: only its own origin, which a person has
//! configured, is reached whatever it is. Everything else has to be `https` at a public address. Only a server on this
//! machine may name other ports of the same host.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use pod::is_public;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use url::{Host, Url};

/// How long one request may take.
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// The size of one document.
const BODY_BYTES_MAX: usize = 256 << 10;

/// The client for everything that is asked in the course of a login. It follows no redirects.
pub(super) struct Wire {
    /// For the server's own addresses, whatever they are.
    own: reqwest::Client,
    /// For all others: names lead to public addresses only, also the server's own name at another port.
    others: reqwest::Client,
    base: Url,
}

/// Why nothing was asked.
#[derive(Debug, thiserror::Error)]
enum Unasked {
    #[error("the server names an address that is neither https at a public address nor its own: {0}")]
    Forbidden(String),
    #[error("the answer is too long")]
    TooLong,
}

impl Wire {
    /// # Errors
    /// A sentence, if no connection can be made at all.
    pub(super) fn new(base: &Url) -> Result<Self, String> {
        // The first caller installs it; further calls change nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let own = client(base.host_str().unwrap_or_default())?;
        Ok(Self { own, others: client("")?, base: base.clone() })
    }

    /// Sends a request, if its address is allowed.
    pub(super) async fn send(
        &self,
        request: reqwest::Request,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let url = request.url().clone();
        if !allows(&self.base, &url) {
            return Err(Unasked::Forbidden(url.origin().ascii_serialization()).into());
        }
        let client = if is_own(&self.base, &url) { &self.own } else { &self.others };
        let mut response = client.execute(request).await?;
        let mut answer = http::Response::new(Vec::new());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = response.headers().clone();
        while let Some(part) = response.chunk().await? {
            if answer.body().len() + part.len() > BODY_BYTES_MAX {
                return Err(OAuthHttpClientError::from(Unasked::TooLong));
            }
            answer.body_mut().extend_from_slice(&part);
        }
        Ok(answer)
    }
}

/// A client that resolves the trusted name to whatever it is.
fn client(trusted: &str) -> Result<reqwest::Client, String> {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(REQUEST_MAX)
        .no_proxy()
        .dns_resolver(Arc::new(Names { trusted: trusted.to_owned() }))
        .build()
        .map_err(|error| format!("no connection can be made: {error}"))
}

/// Returns whether this address may be asked, or shown to a browser, on behalf of the server at `base`.
pub(super) fn allows(base: &Url, url: &Url) -> bool {
    let is_plain = url.username().is_empty() && url.password().is_none();
    if !is_plain || !matches!(url.scheme(), "http" | "https") {
        return false;
    }
    is_own(base, url) || (url.scheme() == "https" && is_elsewhere(url))
}

/// Whether the address is the server's own: at its origin, or at any port of this machine if it is there. Only these may
/// be at an address that is not public.
fn is_own(base: &Url, url: &Url) -> bool {
    let is_same_host = url.host().is_some() && url.host() == base.host();
    let is_same_origin =
        is_same_host && url.scheme() == base.scheme() && url.port_or_known_default() == base.port_or_known_default();
    is_same_origin || (is_same_host && is_of_this_machine(base))
}

fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => is_local(name),
        None => false,
    }
}

/// Whether the host may be public. For a name, its addresses are checked when they are known.
fn is_elsewhere(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => is_public(ip.into()),
        Some(Host::Ipv6(ip)) => is_public(ip.into()),
        Some(Host::Domain(name)) => !is_local(name),
        None => false,
    }
}

fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"))
}

impl OAuthHttpClient for Wire {
    fn execute(&self, asked: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { self.send(reqwest::Request::try_from(asked.request)?).await })
    }
}

/// Resolves the server's own name to whatever it is, and other names to public addresses only.
struct Names {
    trusted: String,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let is_trusted = name.as_str().eq_ignore_ascii_case(&self.trusted);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<SocketAddr> = found.filter(|found| is_trusted || is_public(found.ip())).collect();
            match found.is_empty() {
                true => Err(Unasked::Forbidden(name.as_str().to_owned()).into()),
                false => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_leads_to_its_own_origin_or_to_the_public_internet() {
        let allowed = |base: &str, url: &str| allows(&Url::parse(base).unwrap(), &Url::parse(url).unwrap());
        for (base, url, expected) in [
            ("https://mcp.example.com/mcp", "https://login.example.net/token", true),
            ("https://mcp.example.com/mcp", "https://mcp.example.com:8443/token", true),
            ("https://mcp.example.com/mcp", "http://login.example.net/token", false),
            ("https://mcp.example.com/mcp", "http://mcp.example.com/token", false),
            ("https://mcp.example.com/mcp", "https://localhost/token", false),
            ("https://mcp.example.com/mcp", "https://x.localhost./token", false),
            ("https://mcp.example.com/mcp", "https://127.0.0.1/token", false),
            ("https://mcp.example.com/mcp", "https://10.0.0.1/token", false),
            ("https://mcp.example.com/mcp", "https://[::1]/token", false),
            ("https://mcp.example.com/mcp", "https://[::ffff:169.254.169.254]/token", false),
            ("https://mcp.example.com/mcp", "https://name:word@login.example.net/", false),
            ("https://mcp.example.com/mcp", "javascript:alert(1)", false),
            ("https://mcp.example.com/mcp", "file:///etc/passwd", false),
            ("http://10.0.0.5:8000/mcp", "http://10.0.0.5:8000/token", true),
            ("http://10.0.0.5:8000/mcp", "http://10.0.0.5:9000/token", false),
            ("http://10.0.0.5:8000/mcp", "https://10.0.0.5:8443/token", false),
            ("http://10.0.0.5:8000/mcp", "http://10.0.0.6:8000/token", false),
            ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:9000/token", true),
            ("http://127.0.0.1:8000/mcp", "http://localhost:9000/token", false),
            ("http://localhost:8000/mcp", "http://localhost:9000/token", true),
            ("http://127.0.0.1:8000/mcp", "https://login.example.net/token", true),
        ] {
            assert_eq!(allowed(base, url), expected, "{base} {url}");
        }
    }

    #[tokio::test]
    async fn a_name_that_is_not_the_servers_own_is_not_resolved_to_this_machine() {
        let names = Names { trusted: "mcp.example.com".into() };
        assert!(names.resolve("localhost".parse().unwrap()).await.is_err());
        let own = Names { trusted: "localhost".into() };
        assert!(own.resolve("localhost".parse().unwrap()).await.is_ok());
    }
}
